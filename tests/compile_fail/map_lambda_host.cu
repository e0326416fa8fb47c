// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transform(x, 3, out, [](float v) { return 2 * v; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(const float* x, float* out) {
  gpuopt::transform(x, 3, out, [](float v) { return 2 * v; });
}
