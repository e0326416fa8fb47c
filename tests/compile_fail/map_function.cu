// EXPECT: gpuopt::transform: the function must take an element of in, alone or with its index, and return one of out
// WRITTEN: `transform(in, n, out, f)`, where the result does not convert to the type of `out`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct ToPointer {
  __device__ const float* operator()(const float& x) const { return &x; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, 3, out, ToPointer{}); }
