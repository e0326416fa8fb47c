// EXPECT: gpuopt::transform: the call operator of the function must be const
// WRITTEN: `transform(in, n, out, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`; count through a pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Count {
  int calls = 0;
  __device__ float operator()(float x) { return x + static_cast<float>(++calls); }
};

void fail(const float* in, float* out) { gpuopt::transform(in, 3, out, Count{}); }
