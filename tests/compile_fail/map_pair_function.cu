// EXPECT: gpuopt::transform: the function must take an element of in1 and one of in2, alone or with their index, and return one of out
// WRITTEN: `transform(a, b, n, out, f)`, where `f` takes one element
// DO: two parameters
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Negate {
  __device__ float operator()(float x) const { return -x; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, in, 3, out, Negate{}); }
