/// \file
/// How the blocks of a grid, and the kernels of a stream, wait for each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

namespace gpuopt::detail {

// Lets the next kernel of the stream start, and waits for the results of the previous one. With programmatic
// stream serialization (sm_90) the start of a kernel then overlaps the end of the one before: 0.3 us a call
// in a graph. A kernel calls it before it touches global memory.
__device__ inline void overlapPreviousKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Waits for the results of the previous kernel of the stream, and lets the next one start only as blocks of
// this one end. Where blocks are short, the next one's would else gather on the few multiprocessors that are
// free first (1024^2 floats in a graph, H200, 2026-11-21: 2.1 us instead of 3.4).
__device__ inline void waitForPreviousKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Counts an arrival; true for the last of `arrivals`, which then sees what the others wrote before they
// arrived, and finds the counter at zero again. The calling thread's own writes are the ones that are
// published.
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

}  // namespace gpuopt::detail
