// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <functional>

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, std::negate<>{}); }
