/// \file
/// How the threads of a cluster of blocks compute the statistic of a row in one exchange, even one that needs another
/// first: warps compute it of their own elements, blocks merge what their warps have, and clusters what blocks have.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_cluster.cuh>
#include <gpuopt/device/rows/transform_functors.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/reduce.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Merges the partials of groups of 4 or of 32 lanes; every lane gets the result. Two steps at a time, by shuffles that
// do not wait for each other.
template <int LANES, class S, class Partial>
__device__ inline Partial ofLanes(const S& statistic, Partial partial) {
#pragma unroll
  for (int distance = 1; 4 * distance <= LANES; distance *= 4) {
    const Partial second = shuffleXor(partial, distance), third = shuffleXor(partial, 2 * distance);
    const Partial fourth = shuffleXor(partial, 3 * distance);
    partial = statistic.merge(statistic.merge(partial, second), statistic.merge(third, fourth));
  }
  return LANES == 32 ? statistic.merge(partial, shuffleXor(partial, 16)) : partial;
}

// Bits of floats as integers of the same order, and back.
__device__ inline int orderedBits(int bits) { return bits < 0 ? bits ^ 0x7fffffff : bits; }

// The largest number of a warp: integers have an instruction for it.
__device__ inline float largestOfWarp(float x) {
  const int bits = orderedBits(__float_as_int(x));
  return __int_as_float(orderedBits(warpAllReduce(bits, Maximum{})));
}
__device__ inline double largestOfWarp(double x) { return ofLanes<32>(RowMaximum<double>{}, x); }

// What a warp knows of its elements: one partial, even of softmax. Other chains, and large partials, take an exchange
// for each statistic (ClusterCombination): a count, a mean and squares of layer norm, joined, take longer than two
// exchanges (H200, 2026-11-28, two runs: 16 x 16384 2.44 us instead of 2.31, 1 x 129280 3.41 instead of 3.10).
template <class S>
struct JoinedStatistic {
  static constexpr bool EXISTS = !isChain<S> && PartialBytes<S>::value <= 16;
  using Partial = typename S::Partial;
  const S& statistic;

  __device__ Partial start() const { return statistic.start(); }

  template <class EachValue>
  __device__ Partial ofWarp(const EachValue& eachValue) const {
    Partial partial = statistic.start();
    eachValue([&](auto value) { statistic.add(partial, value); });
    return ofLanes<32>(statistic, partial);
  }

  // Of groups of LANES lanes with COUNT partials each.
  template <int LANES, std::size_t COUNT>
  __device__ Partial merged(const Partial (&partials)[COUNT]) const {
    Partial partial = partials[0];
#pragma unroll
    for (std::size_t i = 1; i < COUNT; ++i) partial = statistic.merge(partial, partials[i]);
    return ofLanes<LANES>(statistic, partial);
  }

  __device__ auto finish(const Partial& partial, int cols) const { return statistic.finish(partial, cols); }
};

template <class First, class Second>
struct JoinedStatistic<StatisticChain<First, Second>> {
  static constexpr bool EXISTS = false;
};

template <class Value>
struct PartialPowers {
  Value maximum;
  Value sum;  // of e^(x - maximum)
};

template <class Value>
struct JoinedStatistic<StatisticChain<RowMaximum<Value>, SumOfPowers<Value>>> {
  static constexpr bool EXISTS = true;
  using Partial = PartialPowers<Value>;
  const StatisticChain<RowMaximum<Value>, SumOfPowers<Value>>& statistic;

  __device__ Partial start() const { return {statistic.first.start(), 0}; }

  template <class EachValue>
  __device__ Partial ofWarp(const EachValue& eachValue) const {
    Partial own = start();
    eachValue([&](Value x) { statistic.first.add(own.maximum, x); });
    own.maximum = largestOfWarp(own.maximum);
    eachValue([&](Value x) { statistic.second.add(own.sum, x, finite(own.maximum)); });
    own.sum = ofLanes<32>(statistic.second, own.sum);
    return own;
  }

  template <int LANES, std::size_t COUNT>
  __device__ Partial merged(const Partial (&partials)[COUNT]) const {
    Partial all = partials[0];
#pragma unroll
    for (std::size_t i = 1; i < COUNT; ++i) all.maximum = larger(all.maximum, partials[i].maximum);
    all.maximum = ofLanes<LANES>(statistic.first, all.maximum);
    all.sum = 0;
#pragma unroll
    for (std::size_t i = 0; i < COUNT; ++i)
      all.sum += partials[i].sum * expOf(partials[i].maximum - finite(all.maximum));
    all.sum = ofLanes<LANES>(statistic.second, all.sum);
    return all;
  }

  // NaN if there are negative infinities alone.
  __device__ SoftmaxResult<Value> finish(const Partial& all, int cols) const {
    return statistic.second.finish(all.maximum == least<Value> ? all.maximum - all.maximum : all.sum, cols,
                                   all.maximum);
  }

 private:
  // Of negative infinities alone, whose powers are 0: other warps may have larger elements.
  __device__ static Value finite(Value maximum) { return maximum == least<Value> ? 0 : maximum; }
};

// Computes the statistic of a row that a cluster holds; every thread gets the result. Before sm_90 a cluster is one
// block.
template <class Statistic>
class JoinedCombination {
  using Joined = JoinedStatistic<Statistic>;
  using Slot = PartialSlot<typename Joined::Partial>;

 public:
  static constexpr unsigned SLOTS = 16;  // warps of a block, and blocks of a cluster
  struct Storage {
    alignas(16) unsigned char ofWarps[SLOTS * sizeof(Slot)];
    alignas(16) unsigned char ofBlocks[SLOTS * sizeof(Slot)];
    ClusterArrivals arrivals;
  };

  __device__ JoinedCombination(Storage& storage, unsigned blocks, unsigned rank)
      : storage_(storage), blocks_(blocks), rank_(rank) {
    if (threadIdx.x == 0) storage.arrivals.create();
    announceBarriers();  // nothing may be sent to a block before
  }

  template <class EachValue>
  __device__ auto result(const Statistic& statistic, int cols, const EachValue& eachValue) const {
    const Joined joined{statistic};
    auto* const ofWarps = reinterpret_cast<Slot*>(storage_.ofWarps);
    Slot own{joined.ofWarp(eachValue)};
    if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = own;
    __syncthreads();
    own.partial = merged(joined, ofWarps, blockDim.x / 32);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    auto* const ofBlocks = reinterpret_cast<Slot*>(storage_.ofBlocks);
    if (threadIdx.x == 0) storage_.arrivals.expect(blocks_ * static_cast<unsigned>(sizeof(Slot)));
    waitForCluster();
    if (threadIdx.x < blocks_) storage_.arrivals.send(ofBlocks + rank_, own, threadIdx.x);
    storage_.arrivals.wait(0);
    own.partial = merged(joined, ofBlocks, blocks_);
#endif
    return joined.finish(own.partial, cols);
  }

 private:
  // Groups of four lanes merge four slots each.
  __device__ static auto merged(const Joined& joined, const Slot* slots, unsigned count) {
    const unsigned first = threadIdx.x % 4 * 4;
    const auto partial = [&](unsigned slot) { return slot < count ? slots[slot].partial : joined.start(); };
    const typename Joined::Partial partials[] = {partial(first), partial(first + 1), partial(first + 2),
                                                 partial(first + 3)};
    return joined.template merged<4>(partials);
  }

  Storage& storage_;
  unsigned blocks_;
  unsigned rank_;
};

// The form of a statistic that is joined.
template <class S, class EachValue>
__device__ inline auto rowResult(const S& statistic, int cols, const EachValue& eachValue,
                                 JoinedCombination<S>& combine) {
  return combine.result(statistic, cols, eachValue);
}

// FEW: rows are few, so that latencies count.
template <class S, bool FEW, bool JOINS = FEW&& JoinedStatistic<S>::EXISTS>
struct ClusterCombinationOf {
  using type = ClusterCombination<S>;
};
template <class S>
struct ClusterCombinationOf<S, true, true> {
  using type = JoinedCombination<S>;
};

GPUOPT_DETAIL_END
