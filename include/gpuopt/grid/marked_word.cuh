/// \file
/// Words by which one block of a grid sends its result to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

// Whether the blocks of a grid start in the order of their numbers, so that a block may wait for those before it.
// Devices do, and CUB's scan relies on it, too; CUDA does not promise it.
#if defined(__CUDA_ARCH__)
inline constexpr bool blocksStartInOrder = true;
#else
inline constexpr bool blocksStartInOrder = false;
#endif

// A word in the lower half, and in the upper half a mark that it is there. Both halves are written and read at once:
// who sees the mark has the word, without a fence (the LL protocol of NCCL).
using MarkedWord = unsigned long long;

__device__ inline MarkedWord markWord(unsigned word) { return MarkedWord{1} << 32 | word; }
__device__ inline bool isMarked(MarkedWord word) { return word >> 32 != 0; }

__device__ inline void storeMarkedWord(MarkedWord* address, MarkedWord word) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
#else
  *static_cast<volatile MarkedWord*>(address) = word;
#endif
}

__device__ inline MarkedWord loadMarkedWord(const MarkedWord* address) {
#if defined(__CUDA_ARCH__)
  MarkedWord word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
  return word;
#else
  return *static_cast<const volatile MarkedWord*>(address);
#endif
}

GPUOPT_DETAIL_END
