// EXPECT nvcc: gpuopt: the number of a bin must be an integer
// WRITTEN: `histogramBy(in, n, counts, bins, f)`, where the device lambda `f` returns a float
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, unsigned* counts) {
  gpuopt::histogramBy(in, 3, counts, 10, [] __device__(float x) { return x / 2; });
}
