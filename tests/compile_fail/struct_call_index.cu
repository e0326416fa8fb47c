// EXPECT: gpuopt: the indices of structures must be integers
// WRITTEN: `gatherStructs(in, indices, n, out)`, where indices are `float`
// DO: make them `int`, `unsigned`, `long long`, `std::size_t`
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float4* in, const float* indices, float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }
