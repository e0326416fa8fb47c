// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transform(x, x, 3, out, [](float a, float b) { return a * b; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(const float* x, float* out) {
  gpuopt::transform(x, x, 3, out, [](float a, float b) { return a * b; });
}
