// EXPECT: gpuopt: the results are structures, so out must be a pointer to their type
// DO: `MinMax<float>*`
// WRITTEN: `minMaxInto(x, n, out)` to a `float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, float* out) { gpuopt::minMaxInto(x, 1000, out); }
