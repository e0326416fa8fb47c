// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

#include <functional>

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, std::negate<>{}); }
