// EXPECT: gpuopt::forEachStruct: the call operator of the function must be const
// WRITTEN: `forEachStruct(data, n, f)`, where `f` counts its calls
// DO: the index is the second parameter; count through a pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Counting {
  int calls = 0;
  __device__ void operator()(float4& p) { p.x = static_cast<float>(++calls); }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Counting{}); }
