// EXPECT: gpuopt::launch: an argument does not convert to the type of the kernel's parameter
// DO: compare with the declaration of the kernel: a `double*` is no `float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1); }
