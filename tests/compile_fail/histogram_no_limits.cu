// EXPECT: gpuopt::histogram: these arguments fit no form of it: it takes (in, n, counts, bins, lower, upper), or containers for in and counts without n and bins, then a stream
// DO: the limits come after the bins
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, unsigned* counts) { gpuopt::histogram(in, 3, counts, 10); }
