// EXPECT: gpuopt::transform: the call operator of the function must be const
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Add {
  float sum = 0;
  __device__ float operator()(float x, float y) { return sum += x + y; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, in, 3, out, Add{}); }
