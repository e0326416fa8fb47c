// EXPECT: gpuopt::forEachStruct: the structures of data are const
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Look {
  __device__ void operator()(const float4&) const {}
};

void fail(const float4* data) { gpuopt::forEachStruct(data, 3, Look{}); }
