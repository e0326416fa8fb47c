// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transformReduce(x, 1000, [](float v) { return v * v; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) {
  return gpuopt::transformReduce(x, 1000, [](float v) { return v * v; });
}
