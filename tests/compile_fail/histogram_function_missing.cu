// EXPECT: gpuopt::histogramBy: these arguments fit no form of it: it takes (in, n, counts, bins, binOf), or containers for in and counts without n and bins, then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10); }
