// EXPECT g++: expected primary-expression before '<' token
// DO: compile it by `gpuopt_emulate(target)` or through `emulation/rewrite_launches.py`, which make C++ of `<<<...>>>`; or launch with `gpuopt::launch(kernel, config, data)`
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

__global__ void kernel(int* data) { *data = 1; }

void fail(int* data) { kernel<<<1, 32>>>(data); }
