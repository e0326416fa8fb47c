// EXPECT: gpuopt::transform: the function must take an element of each of the three inputs, alone or with their index, and return one of out, by a const call operator
// WRITTEN: `transform(a, b, c, n, out, f)`, where f takes two elements
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* a, float* out) { gpuopt::transform(a, a, a, 3, out, Add{}); }
