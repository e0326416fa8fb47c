// EXPECT: gpuopt::transformStructs: the call operator of the function must be const
// WRITTEN: `transformStructs(in, n, out, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`, and no `mutable` lambda; count through a pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Counting {
  int calls = 0;
  __device__ float operator()(const float4& a) { return a.x + static_cast<float>(++calls); }
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, Counting{}); }
