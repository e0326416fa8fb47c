// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduceInto(x, n, out)` leaves the result in device memory
// WRITTEN: `reduce(x, n, out)`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x, float* out) { static_cast<void>(gpuopt::reduce(x, 1000, out)); }
