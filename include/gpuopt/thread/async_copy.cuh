/// \file
/// Copies from global to shared memory that go past the registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Starts a copy of 16 bytes, both addresses aligned to 16. Whoever reads the bytes waits first: this thread
// by awaitAsyncCopies(), the others behind a barrier after that. The address in shared memory should be
// congruent to the one in global memory modulo 32 bytes: else sectors are fetched twice (H200: 1.5 times the
// reads from L2). Before sm_80 the copy is over when the function returns.
//
// WHOLE_LINES: of long runs, L2 fetches lines of 128 bytes and not sectors. A kernel that only reads then
// reaches 0.99 of the best read, without it 0.90, with 256 bytes 0.90 to 0.94 (H200, 2026-11-22).
template <bool WHOLE_LINES = false>
__device__ inline void copyAsync16(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto slot = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (WHOLE_LINES)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(slot), "l"(global) : "memory");
  else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot), "l"(global) : "memory");
#else
  *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
#endif
}

// Waits for all copies that the calling thread has started.
__device__ inline void awaitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Ends a group of copies: those that the calling thread has started since the last group, or none.
__device__ inline void commitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups of the calling thread but the last PENDING ones.
template <int PENDING>
__device__ inline void awaitAsyncCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

}  // namespace detail
GPUOPT_NAMESPACE_END
