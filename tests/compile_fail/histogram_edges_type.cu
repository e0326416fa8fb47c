// EXPECT: gpuopt::histogramEdges: the edges must have the type of the elements; floats for half precision
// WRITTEN: `histogramEdges(x, n, edges, bins, counts)` of floats, with edges of type `double`
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, const double* edges, unsigned* counts) { gpuopt::histogramEdges(in, 3, edges, 10, counts); }
