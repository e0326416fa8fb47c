// EXPECT: gpuopt: the indices of structures must be integers
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float4* in, const bool* indices, float4* out) { gpuopt::scatterStructs(in, indices, 3, out); }
