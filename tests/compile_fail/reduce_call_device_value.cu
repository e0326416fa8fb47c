// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// WRITTEN: `reduceInto(chunk, n, sum, deviceValue(sum))`
// DO: `reduceInto(chunk, n, sum, gpuopt::Plus{}, gpuopt::deviceValue(sum))`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* chunk, float* sum) { gpuopt::reduceInto(chunk, 1000, sum, gpuopt::deviceValue(sum)); }
