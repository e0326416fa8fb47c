// EXPECT: gpuopt::meanBy: out must have floating-point numbers
// WRITTEN: `meanBy(values, n, keys, bins, out)`, where `out` points to `int`
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const int* x, const int* keys, int* out) { gpuopt::meanBy(x, 3, keys, 10, out); }
