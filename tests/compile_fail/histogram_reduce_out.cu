// EXPECT: gpuopt::reduceBy: out must have numbers of 4 or 8 bytes
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `out` points to bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, const int* keys, signed char* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }
