/// \file
/// Counting the blocks of a grid that have arrived.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

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

GPUOPT_DETAIL_END
