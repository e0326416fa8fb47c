// EXPECT: gpuopt: a result returned to the host may have at most 4032 bytes
// DO: call `reduceInto`, whose result stays in device memory
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Large {
  int words[1009];
};

struct First {
  __device__ Large operator()(const Large& a, const Large&) const { return a; }
};

Large fail(const Large* in) { return gpuopt::reduce(in, 1000, First{}); }
