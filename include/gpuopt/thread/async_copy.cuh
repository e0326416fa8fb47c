/// \file
/// Asynchronous copies from global to shared memory, which bypass the registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/thread/shared_address.cuh>

#include <cuda_pipeline_primitives.h>

GPUOPT_DETAIL_BEGIN

// Starts a copy of 16 bytes, both addresses aligned to 16. Before the bytes are read, this thread calls
// awaitAsyncCopies(); the other threads wait at a barrier after that. The shared address should equal the global one
// modulo 32 bytes, because otherwise sectors are fetched twice (1.5 times the reads from L2). Before sm_80 the copy is
// complete when the function returns.
//
// WHOLE_LINES makes L2 fetch lines of 128 bytes instead of sectors. In long runs a kernel that only reads then reaches
// 0.99 of the best read instead of 0.90 (benchmarks/results/transpose_in_place_tuning.csv).
template <bool WHOLE_LINES = false>
__device__ inline void copyAsync16(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned target = sharedAddress(shared);
  if constexpr (WHOLE_LINES)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(target), "l"(global) : "memory");
  else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(global) : "memory");
#else
  __pipeline_memcpy_async(shared, global, 16);
#endif
}

// Waits for all copies of the calling thread.
__device__ inline void awaitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

// Makes a group of the copies that the calling thread has started since its last group; it may be empty.
__device__ inline void commitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  __pipeline_commit();
#endif
}

// Waits for all groups of the calling thread except the last PENDING ones.
template <int PENDING>
__device__ inline void awaitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#else
  __pipeline_wait_prior(PENDING);
#endif
}

GPUOPT_DETAIL_END
