// EXPECT: gpuopt: out must take the result without loss
// DO: `reduceInto<double>(x, n, out)` adds in double
// WRITTEN: `reduceInto(x, n, out)` of floats to a `double*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, double* out) { gpuopt::reduceInto(x, 1000, out); }
