// EXPECT: gpuopt::histogramEdges: these arguments fit no form of it: it takes (in, n, edges, bins, counts), (in, n, edges, counts) with a std::vector or std::array of edges, or containers (in, edges, counts), then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, const float* edges, unsigned* counts) { gpuopt::histogramEdges(in, 3, counts, edges, 10); }
