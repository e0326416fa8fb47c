// EXPECT: gpuopt: init is an integer, but the accumulator is not: write it in the accumulator's type
// DO: `nullptr` is the default stream, `0.0f` an init
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const float* x) { return gpuopt::reduce(x, 1000, gpuopt::Maximum{}, 0); }
