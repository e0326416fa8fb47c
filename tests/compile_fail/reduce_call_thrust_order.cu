// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduce(first, last, op, init)`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::reduce(x, x + 1000, 0.0f, gpuopt::Maximum{}); }
