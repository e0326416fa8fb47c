// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduce(x, n, gpuopt::Plus{}, 0.0f)`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::reduce(x, 1000, 0.0f); }
