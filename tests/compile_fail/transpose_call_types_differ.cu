// EXPECT: gpuopt::transpose: in and out have elements of different types: pass a function
// DO: `transpose(in, out, rows, cols, [] __device__(int x) { return float(x); })`
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* in, double* out) { gpuopt::transpose(in, out, 3, 4); }
