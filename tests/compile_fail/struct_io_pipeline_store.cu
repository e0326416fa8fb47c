// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, store an array of them
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_pipeline.cuh>

using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }
