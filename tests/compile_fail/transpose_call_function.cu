// EXPECT: gpuopt::transpose: the function must take an element of in and return one of out
// DO: one parameter, and a const call operator
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

struct OfTwo {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, OfTwo{}); }
