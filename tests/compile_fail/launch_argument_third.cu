// EXPECT: gpuopt::launch: argument 3 of the kernel does not convert to the type of its parameter
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value, double* other) { *data = value + (other == nullptr); }

void fail(int* data, float* other) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1, other); }
