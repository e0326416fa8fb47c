// EXPECT: gpuopt::reduceBy: values must convert to the type of out
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `values` are structures without a conversion
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

struct Pair {
  float first, second;
};

void fail(const Pair* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }
