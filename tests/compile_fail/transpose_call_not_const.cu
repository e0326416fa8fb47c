// EXPECT: gpuopt::transpose: the call operator of the function must be const
// WRITTEN: `transpose(in, out, rows, cols, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`; count through a pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

struct Count {
  int calls = 0;
  __device__ float operator()(float x) { return x + static_cast<float>(++calls); }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, Count{}); }
