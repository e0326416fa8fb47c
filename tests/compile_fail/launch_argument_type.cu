// EXPECT: gpuopt::launch: an argument does not convert to the type of the kernel's parameter
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1); }
