// EXPECT: gpuopt: a number is no stream: pass nullptr or leave it out for the default stream
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::reduce(x, 1000, gpuopt::Plus{}, 1.0f, 0); }
