/// \file
/// Bulk copies from global to shared memory: one thread asks for many bytes, and a barrier in shared memory counts
/// those that have come. Before sm_90 and on the emulated device, that thread copies them itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <cstdint>

namespace experiments {

/// In shared memory. It has a phase for each copy, of parity 0, 1, 0, ...
struct BulkBarrier {
  std::uint64_t state;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline unsigned sharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#endif

/// By one thread; a barrier of the block comes before the first copy is awaited.
__device__ inline void initialise([[maybe_unused]] BulkBarrier& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(&barrier)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// By one thread: starts a copy of VECTORS vectors, and with it a phase of the barrier.
template <unsigned VECTORS>
__device__ void copyBulk(uint4* shared, const uint4* global, [[maybe_unused]] BulkBarrier& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr unsigned BYTES = VECTORS * sizeof(uint4);
  const unsigned of = sharedAddress(&barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(of), "r"(BYTES) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   sharedAddress(shared)),
               "l"(global), "r"(BYTES), "r"(of)
               : "memory");
#else
  for (unsigned i = 0; i < VECTORS; ++i) shared[i] = global[i];
#endif
}

/// By every thread: waits for the end of a phase of this parity. The block's barrier after it is needed before sm_90
/// only.
__device__ inline void awaitBulk([[maybe_unused]] BulkBarrier& barrier, [[maybe_unused]] unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned isDone = 0;
  while (isDone == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(isDone)
                 : "r"(sharedAddress(&barrier)), "r"(parity)
                 : "memory");
#endif
}

}  // namespace experiments
