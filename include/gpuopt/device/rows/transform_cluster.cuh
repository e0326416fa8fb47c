/// \file
/// How the threads of a cluster of blocks compute the statistic of a row together.
///
/// Each block sends its partial to all blocks of the cluster, whose barriers in shared memory count the bytes that have
/// come. A barrier of the whole cluster would also wait for the global memory, and empty L1.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/device/rows/transform_tuning.cuh>
#include <gpuopt/grid/cluster.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// A barrier in shared memory of which each phase ends when one thread has expected some bytes, and they have come from
// any block of the cluster. All of it does nothing before sm_90.
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

  // Writes a word to where `shared` is in another block, whose barrier counts it.
  __device__ void send([[maybe_unused]] unsigned* shared, [[maybe_unused]] unsigned word,
                       [[maybe_unused]] unsigned block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(inBlock(sharedAddress(shared), block)), "r"(word), "r"(inBlock(sharedAddress(&state), block))
                 : "memory");
#endif
  }

 private:
#if defined(__CUDA_ARCH__)
  __device__ static unsigned sharedAddress(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
  }
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __device__ static unsigned inBlock(unsigned address, unsigned block) {
    unsigned remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(block));
    return remote;
  }
#endif
};

inline constexpr int largeClusterThreads = 512;

// A template only so that several files may have it.
template <int BLOCK = largeClusterThreads>
GPUOPT_KERNEL void __launch_bounds__(BLOCK) largeClusterKernel() {}

// Whether clusters of largeCluster blocks run on a device: that many multiprocessors have to be side by side.
GPUOPT_HIDDEN inline bool hasLargeClusters(int device) {
  static auto& known = *new Registry<int, int>;  // destructors of static objects may still launch
  const int blocks = known.get(device, [] {
    const RelaxedCapture relaxed;  // lazy loading of the kernel may allocate
    const auto kernel = reinterpret_cast<const void*>(&largeClusterKernel<>);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(largeCluster);
    config.blockDim = dim3(largeClusterThreads);
    int largest = 0;
    cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (code == cudaSuccess) code = cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &config);
    forgetError(code);
    return code == cudaSuccess ? largest : 0;
  });
  return blocks >= static_cast<int>(largeCluster);
}

// Lets the other blocks of the cluster know that this one has created its barriers.
__device__ inline void announceBarriers() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

// Merges the partials of a cluster of blocks; every thread gets the result. Before sm_90 a cluster is one block.
template <class Statistic>
class ClusterCombination {
 public:
  static constexpr unsigned SLOTS = 16;  // blocks of a cluster
  struct alignas(16) Storage {
    typename BlockCombination<Statistic>::Storage ofBlock;
    unsigned char bytes[2][SLOTS * PartialBytes<Statistic>::value];  // in turn: the next pass may begin at once
    ClusterArrivals arrivals[2];
  };

  __device__ ClusterCombination(Storage& storage, unsigned blocks, unsigned rank)
      : ofBlock_(storage.ofBlock), storage_(storage), blocks_(blocks), rank_(rank) {
    if (threadIdx.x == 0)
      for (ClusterArrivals& each : storage_.arrivals) each.create();
    announceBarriers();  // nothing may be sent to a block before
  }

  template <class S, class Partial>
  __device__ Partial operator()(const S& statistic, Partial partial) {
    partial = ofBlock_(statistic, partial);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (pass_ == 0) waitForCluster();
    auto* const slots = reinterpret_cast<PartialSlot<Partial>*>(storage_.bytes[pass_ % 2]);
    exchange(PartialSlot<Partial>{partial}, slots, storage_.arrivals[pass_ % 2]);
    ++pass_;
    partial = mergeSlots<SLOTS>(statistic, slots, blocks_);
#endif
    return partial;
  }

 private:
  // A block sends for the pass after next when it has got everything of the next one: all have read their slots by
  // then.
  template <class Slot>
  __device__ void exchange(const Slot& own, Slot* slots, ClusterArrivals& arrivals) {
    unsigned words[sizeof(Slot) / 4];
    __builtin_memcpy(words, &own, sizeof(own));
    if (threadIdx.x == 0) arrivals.expect(blocks_ * static_cast<unsigned>(sizeof(Slot)));
    if (threadIdx.x < blocks_)
#pragma unroll
      for (unsigned i = 0; i < sizeof(Slot) / 4; ++i)
        arrivals.send(reinterpret_cast<unsigned*>(slots + rank_) + i, words[i], threadIdx.x);
    arrivals.wait(pass_ / 2 % 2);
  }

  BlockCombination<Statistic> ofBlock_;
  Storage& storage_;
  unsigned blocks_;
  unsigned rank_;
  unsigned pass_ = 0;
};

GPUOPT_DETAIL_END
