// EXPECT: gpuopt::scatterStructs: these arguments fit no form of it: it takes (in, indices, n, out), or containers without n, then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float3* in, const int* indices, float3* out) { gpuopt::scatterStructs(in, indices, out, 3); }
