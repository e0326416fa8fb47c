// EXPECT: gpuopt::reduceBy: op must be Plus, Minimum or Maximum
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out, gpuopt::Multiplies{}); }
