// EXPECT: gpuopt::gatherStructs: the structures of out are const
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float4* in, const int* indices, const float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }
