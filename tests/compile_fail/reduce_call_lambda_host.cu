// EXPECT nvcc: gpuopt: the operation is a lambda for the host
// DO: `[] __device__ (float a, float b) { return a + b; }`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::reduce(x, 1000, [](float a, float b) { return a + b; }); }
