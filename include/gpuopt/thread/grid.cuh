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

}  // namespace gpuopt::detail
