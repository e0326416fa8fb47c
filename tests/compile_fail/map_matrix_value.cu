// EXPECT: gpuopt::forEach: the function takes an element of the matrix by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// WRITTEN: `forEach(MatrixView{data, 4, 4}, f)`, where f takes a `float`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Increment {
  __device__ void operator()(float x) const { x += 1; }
};

void fail(float* data) { gpuopt::forEach(gpuopt::MatrixView{data, 4, 4}, Increment{}); }
