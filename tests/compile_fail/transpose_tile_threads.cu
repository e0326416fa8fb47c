// EXPECT: gpuopt::TransposeTile: a block has TILE x SIDE threads, which must be 32 to 1024
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

template class gpuopt::TransposeTile<float, float, 64, 32>;
