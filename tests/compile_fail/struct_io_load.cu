// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, load an array of them
// DO: `float3 structs[ITEMS]; tile.load(structs);`
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile, const float3* in) { return tile.load(in); }
