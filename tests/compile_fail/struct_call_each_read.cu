// EXPECT: gpuopt::forEachStruct: the function takes a structure by value or as const, so it changes nothing
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Look {
  __device__ float operator()(const float4& p) const noexcept { return p.x; }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Look{}); }
