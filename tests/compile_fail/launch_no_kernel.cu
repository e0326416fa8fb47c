// EXPECT: gpuopt: a pointer to a kernel (__global__ function) is expected
// WRITTEN: occupancyConfig(data, 1000, 256)
// DO: name the kernel first: `occupancyConfig(kernel, items, block)`
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

void fail(int* data) { static_cast<void>(gpuopt::occupancyConfig(data, 1000, 256)); }
