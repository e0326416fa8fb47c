// EXPECT: gpuopt::histogramEdges: CloseLastBin is for bins between limits: raise the last edge
// WRITTEN: histogramEdges<CloseLastBin>(x, n, edges, bins, counts)
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, unsigned* counts) { gpuopt::histogramEdges<gpuopt::CloseLastBin>(x, 3, x, 10, counts); }
