// EXPECT: gpuopt::transpose: the function must take an element of in and return one of out
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

struct Address {
  __device__ const float* operator()(const float& x) const { return &x; }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, Address{}); }
