// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// DO: `[] __device__ (float a, float b) { return a + b; }`
// WRITTEN: `reduce(x, 1000, [](float a, float b) { return a + b; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) {
  return gpuopt::reduce(x, 1000, [](float a, float b) { return a + b; });
}
