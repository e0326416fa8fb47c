/// \file
/// How the threads of a cluster of blocks compute the statistic of a row together.
///
/// Each block sends its partial to all blocks of the cluster.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/grid/cluster_arrivals.cuh>

GPUOPT_DETAIL_BEGIN

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
    if (threadIdx.x == 0) arrivals.expect(blocks_ * static_cast<unsigned>(sizeof(Slot)));
    if (threadIdx.x < blocks_) arrivals.send(slots + rank_, own, threadIdx.x);
    arrivals.wait(pass_ / 2 % 2);
  }

  BlockCombination<Statistic> ofBlock_;
  Storage& storage_;
  unsigned blocks_;
  unsigned rank_;
  unsigned pass_ = 0;
};

GPUOPT_DETAIL_END
