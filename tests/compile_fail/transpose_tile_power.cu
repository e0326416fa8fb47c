// EXPECT: gpuopt::TransposeTile: TILE must be a power of two from 8 to 256
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

template class gpuopt::TransposeTile<float, float, 48, 4>;
