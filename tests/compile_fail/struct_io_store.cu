// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, store an array of them
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }
