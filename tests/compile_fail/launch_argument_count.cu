// EXPECT: gpuopt::launch: the number of arguments differs from the number of the kernel's parameters
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(int* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data); }
