// EXPECT: gpuopt::reduceBy: keys must be integers, or a function object with a const call operator that takes a value and returns an integer
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `keys` are floats
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const float* x, const float* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }
