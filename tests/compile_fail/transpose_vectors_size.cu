// EXPECT: gpuopt::transposeVectors: SIZE must be 1, 2, 4, 8 or 16 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/thread/transpose.cuh>

__device__ void fail(uint4 (&vectors)[5]) { gpuopt::transposeVectors<3>(vectors); }
