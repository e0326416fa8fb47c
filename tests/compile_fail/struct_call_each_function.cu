// EXPECT: gpuopt::forEachStruct: the function must take a structure of data, alone or with its index
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct OfOther {
  __device__ void operator()(double2&) const {}
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, OfOther{}); }
