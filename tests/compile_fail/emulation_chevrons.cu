// EXPECT g++: expected primary-expression before '<' token
// DO: `gpuopt::launch(kernel, config, data)`: `<<<...>>>` is no C++, which the emulated device is compiled as
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data) { *data = 1; }

void fail(int* data) { kernel<<<1, 32>>>(data); }
