// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, load an array of them
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_pipeline.cuh>

using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile) { return tile.load(); }
