/// \file
/// How the blocks of a grid learn that others have arrived: counters, and words that carry a mark.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

// Counts an arrival. Returns true for the last of `arrivals`, which then sees all writes that the callers made before
// they arrived. The counter wraps to zero.
__device__ inline bool arriveLast(unsigned* counter, unsigned arrivals) {
  unsigned ticket;
#if defined(__CUDA_ARCH__)
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(ticket)
               : "l"(counter), "r"(arrivals - 1)
               : "memory");
#else
  __threadfence();
  ticket = atomicInc(counter, arrivals - 1);
  __threadfence();
#endif
  return ticket == arrivals - 1;
}

// A word in the lower half, and in the upper half a mark that it is there. Both halves are written and read at once:
// who sees the mark has the word, without a fence (the LL protocol of NCCL). A block may wait for the words of those
// with lower numbers: blocks start in the order of their numbers. Devices do that, and CUB's scan relies on it, too;
// CUDA does not promise it.
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
