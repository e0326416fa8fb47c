// EXPECT: gpuopt: the operation must take two accumulators, by value or by reference to const
// WRITTEN: `reduce(x, n, op)` whose call operator takes one argument
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Negate {
  __host__ __device__ float operator()(float a) const { return -a; }
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, Negate{}); }
