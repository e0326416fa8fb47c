// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// DO: `[] __device__ (float& v) { v = 0; }`; nvcc needs `--extended-lambda`
// WRITTEN: `forEach(x, 3, [](float& v) { v = 0; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* x) {
  gpuopt::forEach(x, 3, [](float& v) { v = 0; });
}
