// EXPECT: gpuopt::permute: in and out have elements of different types: pass a function
// DO: `permute(in, out, extents, axes, [] __device__(int x) { return float(x); })`
// SPDX-License-Identifier: MIT
#include <gpuopt/permute.cuh>

void fail(const float* in, double* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }
