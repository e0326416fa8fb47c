// EXPECT: gpuopt::transformStructs: the structures of out are const
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct First {
  __device__ float operator()(const float4& a) const { return a.x; }
};

void fail(const float4* in, const float* out) { gpuopt::transformStructs(in, 3, out, First{}); }
