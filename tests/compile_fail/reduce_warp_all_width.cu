// EXPECT: gpuopt::warpAllReduce: WIDTH must be 1, 2, 4, 8, 16 or 32
// SPDX-License-Identifier: MIT
#include <gpuopt/warp/reduce.cuh>

__device__ int fail(int value) { return gpuopt::warpAllReduce<0>(value, gpuopt::Plus{}); }
