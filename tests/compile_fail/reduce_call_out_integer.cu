// EXPECT: gpuopt: out must take the result without loss
// WRITTEN: `reduceInto(x, n, out)` of floats to an `int*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, int* out) { gpuopt::reduceInto(x, 1000, out); }
