// EXPECT: gpuopt: only trivially copyable types can be shuffled
// WRITTEN: `warpReduce(value, op)` of a `std::string`
// DO: reduce what is trivially copyable: numbers, structs of numbers
// SPDX-License-Identifier: MIT
#include <gpuopt/warp/reduce.cuh>

struct Counted {
  __device__ Counted(const Counted& other) : count(other.count + 1) {}
  int count;
};

struct Add {
  __device__ Counted operator()(const Counted& a, const Counted&) const { return a; }
};

__device__ Counted fail(const Counted& value) { return gpuopt::warpReduce(value, Add{}); }
