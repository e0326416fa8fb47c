// EXPECT: gpuopt::transformStructs: the call operator of the function must be const
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Counting {
  int calls = 0;
  __device__ float operator()(const float4& a) { return a.x + static_cast<float>(++calls); }
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, Counting{}); }
