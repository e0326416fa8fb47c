// EXPECT: gpuopt::forEach: the function takes an element by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// WRITTEN: `forEach(data, 3, f)`, where f takes a `float`
// DO: `[] __device__(float& x) { x += 1; }`; to only read, pass a `const float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Increment {
  __device__ void operator()(float x) const { x += 1; }
};

void fail(float* data) { gpuopt::forEach(data, 3, Increment{}); }
