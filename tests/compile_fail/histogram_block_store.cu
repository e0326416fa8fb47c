// EXPECT: gpuopt::BlockHistogram: counts must be integers of 4 or 8 bytes
// WRITTEN: `histogram.store(counts)`, where `counts` points to bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

__global__ void fail(gpuopt::BlockHistogram<256, 64>* histogram, char* counts) { histogram->store(counts); }
