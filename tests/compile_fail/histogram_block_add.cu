// EXPECT: gpuopt::BlockHistogram: the number of a bin must be an integer
// WRITTEN: `histogram.add(x)` of a float
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

__global__ void fail(gpuopt::BlockHistogram<256, 64>* histogram) { histogram->add(1.5f); }
