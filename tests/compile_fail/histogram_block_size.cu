// EXPECT: gpuopt::BlockHistogram: BLOCK must be 1 to 1024
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

template class gpuopt::BlockHistogram<2048, 64>;
