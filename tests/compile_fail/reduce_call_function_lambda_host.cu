// EXPECT nvcc: gpuopt: the function is a lambda for the host
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, [](float v) { return v * v; }); }
