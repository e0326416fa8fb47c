// EXPECT: gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below
// DO: launch the next multiple of 32, and pass how many threads have a value: `blockReduce<128>(value, op, 100)`
// SPDX-License-Identifier: MIT
#include <gpuopt/block/reduce.cuh>

__device__ int fail(int value) { return gpuopt::blockReduce<100>(value, gpuopt::Plus{}); }
