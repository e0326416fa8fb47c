// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `histogramBy(in, 3, counts, 10, [](float x) { return int(x); })`
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* in, unsigned* counts) {
  gpuopt::histogramBy(in, 3, counts, 10, [](float x) { return int(x); });
}
