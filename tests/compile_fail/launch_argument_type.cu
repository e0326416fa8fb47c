// EXPECT: gpuopt::launch: argument 1 of the kernel does not convert to the type of its parameter
// DO: compare with the declaration of the kernel: a `double*` is no `float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1); }
