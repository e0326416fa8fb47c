// EXPECT: gpuopt: BLOCK, the threads of a block, must be 1 to 1024
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

gpuopt::StagedStructs<float3, 1025>::Storage fail;
