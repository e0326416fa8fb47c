// EXPECT: gpuopt::permute: the elements of out are const
// DO: the input comes first
// SPDX-License-Identifier: MIT
#include <gpuopt/permute.cuh>

void fail(const float* in, const float* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }
