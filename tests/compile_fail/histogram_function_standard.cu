// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

#include <functional>

void fail(const int* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10, std::negate<>{}); }
