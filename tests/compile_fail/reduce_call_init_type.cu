// EXPECT: gpuopt: init must convert to the accumulator
// DO: `gpuopt::deviceValue(init)` where the kernel reads it
// WRITTEN: `reduce(x, n, Plus{}, init)` where `init` is a pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x, const float* init) { return gpuopt::reduce(x, 1000, gpuopt::Plus{}, init); }
