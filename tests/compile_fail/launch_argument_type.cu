// EXPECT: gpuopt::launch: argument 1 of the kernel does not convert to the type of its parameter
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1); }
