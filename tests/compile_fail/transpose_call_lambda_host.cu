// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transpose(in, out, 3, 4, [](float v) { return 2 * v; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* in, float* out) {
  gpuopt::transpose(in, out, 3, 4, [](float v) { return 2 * v; });
}
