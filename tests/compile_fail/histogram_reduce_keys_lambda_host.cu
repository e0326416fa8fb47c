// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `reduceBy(x, 3, [](float v) { return int(v); }, 10, out)`
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, float* out) {
  const auto keyOf = [](float v) { return int(v); };
  gpuopt::reduceBy(x, 3, keyOf, 10, out);
}
