// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

#if CASE == 1
// EXPECT g++: expected primary-expression before '<' token
// DO: `gpuopt_emulate(target)` and `emulation/rewrite_launches.py` make C++ of it; or use `gpuopt::launch`
__global__ void kernel(int* data) { *data = 1; }

void fail(int* data) { kernel<<<1, 32>>>(data); }

#endif
