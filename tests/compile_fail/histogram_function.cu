// EXPECT: gpuopt::histogramBy: binOf must be a function object with a const call operator that takes an element and returns an integer
// WRITTEN: `histogramBy(in, n, counts, bins, binOf)`, where `binOf` returns a float
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

struct Half {
  __device__ float operator()(float x) const { return x / 2; }
};

void fail(const float* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10, Half{}); }
