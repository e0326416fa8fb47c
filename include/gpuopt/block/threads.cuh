/// \file
/// The check that a block has the threads which a collective was compiled for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/message.cuh>

#include <cuda_runtime.h>

#if defined(__CUDACC_DEBUG__)
#include <cassert>
#endif

GPUOPT_DETAIL_BEGIN

// Throws on the emulated device, and asserts in code for debugging (nvcc -G). In other device code it is empty.
__host__ __device__ inline void checkThreads([[maybe_unused]] const char* collective, [[maybe_unused]] unsigned wanted,
                                             [[maybe_unused]] unsigned threads) {
#if !defined(__CUDA_ARCH__)
  if (threads != wanted)
    throwInvalid({collective, ": made for blocks of ", wanted, " threads, but this one has ", threads});
#elif defined(__CUDACC_DEBUG__)
  assert(threads == wanted && "gpuopt: a collective of the block is made for another number of threads");
#endif
}

__device__ inline void requireThreads(const char* collective, unsigned wanted) {
  checkThreads(collective, wanted, blockDim.x * blockDim.y * blockDim.z);
}

GPUOPT_DETAIL_END
