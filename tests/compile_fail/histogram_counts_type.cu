// EXPECT: gpuopt: counts must be integers of 4 or 8 bytes
// WRITTEN: `bincount(in, n, counts, bins)`, where `counts` points to floats
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const int* in, float* counts) { gpuopt::bincount(in, 3, counts, 10); }
