/// \file
/// Barriers in shared memory that count what the other blocks of a cluster send, or what bulk copies bring. A barrier
/// of the whole cluster would also wait for the global memory, and empty L1.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>
#include <gpuopt/thread/shared_address.cuh>

#include <cuda_runtime.h>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

// A barrier in shared memory of which each phase ends when one thread has expected some bytes, and they have come, from
// any block of the cluster or by bulk copies. All of it does nothing before sm_90.
struct ClusterArrivals {
  std::uint64_t state;

  __device__ void create() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(sharedAddress(&state)) : "memory");
#endif
  }

  __device__ void expect([[maybe_unused]] unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(sharedAddress(&state)), "r"(bytes)
                 : "memory");
#endif
  }

  // Until the phase of this parity has ended.
  __device__ void wait([[maybe_unused]] unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned isOver = 0;
    while (isOver == 0)
      asm volatile(
          "{ .reg .pred over;"
          "  mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;"
          "  selp.u32 %0, 1, 0, over; }"
          : "=r"(isOver)
          : "r"(sharedAddress(&state)), "r"(parity)
          : "memory");
#endif
  }

  // Writes a value of whole words to where `shared` is in another block, whose barrier counts the bytes. The addresses
  // are multiples of the size of the value, or of 16.
  template <class T>
  __device__ void send([[maybe_unused]] T* shared, [[maybe_unused]] const T& value, [[maybe_unused]] unsigned block) {
    static_assert(sizeof(T) % 4 == 0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int WORDS = sizeof(T) / 4, STEP = WORDS % 4 == 0 ? 4 : WORDS % 2 == 0 ? 2 : 1;
    unsigned words[WORDS];
    __builtin_memcpy(words, &value, sizeof(value));
    const unsigned to = inBlock(sharedAddress(shared), block), barrier = inBlock(sharedAddress(&state), block);
#pragma unroll
    for (int i = 0; i < WORDS; i += STEP) {
      if constexpr (STEP == 4)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
                     :
                     : "r"(to + 4 * i), "r"(words[i]), "r"(words[i + 1]), "r"(words[i + 2]), "r"(words[i + 3]),
                       "r"(barrier)
                     : "memory");
      else if constexpr (STEP == 2)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
                     :
                     : "r"(to + 4 * i), "r"(words[i]), "r"(words[i + 1]), "r"(barrier)
                     : "memory");
      else
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                     :
                     : "r"(to + 4 * i), "r"(words[i]), "r"(barrier)
                     : "memory");
    }
#endif
  }

 private:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __device__ static unsigned inBlock(unsigned address, unsigned block) {
    unsigned remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(block));
    return remote;
  }
#endif
};

// Lets the other blocks of the cluster know that this one has created its barriers.
__device__ inline void announceBarriers() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

// Waits until all threads of the cluster have announced theirs.
__device__ inline void waitForCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

GPUOPT_DETAIL_END
