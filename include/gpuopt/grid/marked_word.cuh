/// \file
/// Words that one block of a grid sends to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Whether the blocks of a grid start in the order of their numbers, so that one may wait for those before it.
// On devices they do, and CUB's scan relies on it as well; elsewhere nothing is said about it.
#if defined(__CUDA_ARCH__)
inline constexpr bool blocksStartInOrder = true;
#else
inline constexpr bool blocksStartInOrder = false;
#endif

// A word on its way to another block, and in the upper half whether it is there. Both are written and read at
// once: who sees the mark has the word, and no fence has to order anything (the LL protocol of NCCL).
using MarkedWord = unsigned long long;

__device__ inline MarkedWord markWord(unsigned word) { return MarkedWord{1} << 32 | word; }
__device__ inline bool isMarked(MarkedWord word) { return word >> 32 != 0; }

__device__ inline void sendWord(MarkedWord* place, MarkedWord word) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(word) : "memory");
#else
  *static_cast<volatile MarkedWord*>(place) = word;
#endif
}

__device__ inline MarkedWord lookForWord(const MarkedWord* place) {
#if defined(__CUDA_ARCH__)
  MarkedWord word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
  return word;
#else
  return *static_cast<const volatile MarkedWord*>(place);
#endif
}

}  // namespace detail
GPUOPT_NAMESPACE_END
