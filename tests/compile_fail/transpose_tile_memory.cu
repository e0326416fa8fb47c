// EXPECT: gpuopt::TransposeTile: TILE x TILE elements exceed the 227 KB of shared memory of a block
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

template class gpuopt::TransposeTile<float, float, 256, 2>;
