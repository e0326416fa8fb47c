// EXPECT: gpuopt::TransposeTile: SIDE must be a power of two from 1 to TILE
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

template class gpuopt::TransposeTile<float, float, 64, 6>;
