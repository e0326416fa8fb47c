// EXPECT: gpuopt: function objects of the standard library are host code: use gpuopt::Plus
// DO: `gpuopt::Plus{}`; the others are in [reductions](reductions.md)
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <functional>

float fail(const float* x) { return gpuopt::reduce(x, 1000, std::plus<>{}); }
