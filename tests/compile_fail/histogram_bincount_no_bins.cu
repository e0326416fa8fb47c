// EXPECT: gpuopt::bincount: these arguments fit no form of it: it takes (in, n, counts, bins), or containers for in and counts without n and bins, then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const int* in, unsigned* counts) { gpuopt::bincount(in, 3, counts); }
