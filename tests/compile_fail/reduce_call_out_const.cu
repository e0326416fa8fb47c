// EXPECT: gpuopt: the elements of out are const
// WRITTEN: `reduceInto(x, n, out)` to a `const float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, const float* out) { gpuopt::reduceInto(x, 1000, out); }
