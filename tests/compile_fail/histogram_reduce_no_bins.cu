// EXPECT: gpuopt::reduceBy: these arguments fit no form of it: it takes (values, n, keys, bins, out), or containers (values, keys, out), then op and stream
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, out); }
