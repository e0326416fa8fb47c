// EXPECT: gpuopt::bincount: the elements must be integers: histogram() takes floating-point numbers
// WRITTEN: `bincount(x, n, counts, bins)` of floats
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, unsigned* counts) { gpuopt::bincount(in, 3, counts, 10); }
