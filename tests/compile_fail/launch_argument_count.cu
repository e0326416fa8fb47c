// EXPECT: gpuopt::launch: the number of arguments differs from the number of the kernel's parameters
// WRITTEN: `launch(kernel, config, data)`, where `kernel` has two parameters
// DO: one argument for each parameter: default arguments of a kernel are not used
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data, int value) { *data = value; }

void fail(int* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data); }
