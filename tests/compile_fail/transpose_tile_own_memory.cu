// EXPECT: gpuopt::transposeTile: TILE x TILE elements exceed 48 KB: pass dynamic shared memory
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

__global__ void fail(const float* in, float* out) { gpuopt::transposeTile<128, 8>(in, 128, out, 128); }
