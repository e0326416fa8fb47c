// EXPECT nvcc: gpuopt: host code cannot see what the __device__ lambda returns: write its return type
// DO: `[] __device__(float v) -> float { return v * v; }`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, [] __device__(float v) { return v * v; }); }
