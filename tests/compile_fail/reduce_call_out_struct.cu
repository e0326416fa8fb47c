// EXPECT: gpuopt: out must take the result without loss
// DO: `MinMax<float>*`
// WRITTEN: `minMaxInto(x, n, out)` to a `float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, float* out) { gpuopt::minMaxInto(x, 1000, out); }
