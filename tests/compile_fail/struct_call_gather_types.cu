// EXPECT: gpuopt: in and out have structures of different types
// DO: `transformStructs` converts: gather first
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float4* in, const int* indices, double2* out) { gpuopt::gatherStructs(in, indices, 3, out); }
