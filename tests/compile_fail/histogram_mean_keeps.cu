// EXPECT: gpuopt::meanBy: means cannot be combined with what is in out
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, const int* keys, float* out) { gpuopt::meanBy<gpuopt::CombineWithOut>(x, 3, keys, 10, out); }
