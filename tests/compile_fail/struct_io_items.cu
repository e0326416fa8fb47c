// EXPECT: gpuopt: ITEMS, the structures of a thread, must be at least 1
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

gpuopt::StagedStructs<float3, 64, 0>::Storage fail;
