// EXPECT: gpuopt::histogramChannels: CHANNELS must be 2 to 4: histogram() counts single ones
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const unsigned char* in, unsigned* counts) { gpuopt::histogramChannels<5>(in, 3, counts, 10, 0, 256); }
