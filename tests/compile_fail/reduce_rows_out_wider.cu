// EXPECT: gpuopt: out must take the result without loss
// DO: `reduceRows<double>(x, rows, cols, out)` adds in double
// WRITTEN: `reduceRows(x, rows, cols, out)` of floats to a `double*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_rows.cuh>

void fail(const float* in, double* out) { gpuopt::reduceRows(in, 3, 4, out); }
