// EXPECT: gpuopt::transformStructs: the function must take a structure of in, alone or with its index, and return one of out
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Nothing {
  __device__ void operator()(const float4&) const {}
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, Nothing{}); }
