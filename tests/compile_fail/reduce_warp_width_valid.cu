// EXPECT: gpuopt::warpReduce: WIDTH must be 1, 2, 4, 8, 16 or 32
// SPDX-License-Identifier: MIT
#include <gpuopt/warp/reduce.cuh>

__device__ int fail(int value) { return gpuopt::warpReduce<64>(value, gpuopt::Plus{}, 40); }
