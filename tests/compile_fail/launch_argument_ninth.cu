// EXPECT: gpuopt::launch: an argument of the kernel after the eighth does not convert to the type of its parameter
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int, int, int, int, int, int, int, int, int*) {}

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, 1, 2, 3, 4, 5, 6, 7, 8, data); }
