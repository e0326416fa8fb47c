// EXPECT: gpuopt::BlockHistogram: BINS must be 1 to 12288, 48 KiB of counters
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

template class gpuopt::BlockHistogram<256, 12289>;
