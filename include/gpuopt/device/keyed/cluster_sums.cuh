/// \file
/// Sums in fixed point of few values: one launch of one cluster of blocks, which looks for the largest magnitude, adds
/// in shared memory, and converts. The bits are those of the kernels for many values.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
#include <gpuopt/grid/cluster.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The sums of a block, the flags of its bins, and the binade of its cluster's largest magnitude. A block of several
// owns a part of the bins: the others store their sums of these into its shared memory. Loads from there would take
// longer: 2^13 values 3.3 us instead of 2.8, 2^16 values 5.4 instead of 4.6 (H200, 2026-11-28, a trial program).
template <class A>
class ClusterSums {
 public:
  using Word = unsigned long long;
  using Update = FixedPointSum<A>;

  __device__ ClusterSums(unsigned& binade, unsigned bins)
      : binade_(binade),
        range_{0, bins},
        words_(WordTable<Word>{nullptr, bins}, range_, 1),
        part_((bins + gridDim.x - 1) / gridDim.x) {}

  // Other blocks may then raise this one's binade.
  __device__ Update clear() const {
    const Update update(nullptr, flags(), range_.bins, false);
    words_.clear(update);
    for (unsigned i = threadIdx.x; i < range_.bins; i += blockDim.x) flags()[i] = 0;
    if (threadIdx.x == 0) binade_ = 0;
    if (gridDim.x > 1)
      arriveAtCluster();
    else
      __syncthreads();
    return update;
  }

  // The largest binade of all threads of the cluster. Lane i gives its warp's to block i: an atomic of 32 bits, as
  // those of 64 bits are loops, which other blocks' shared memory does not have.
  __device__ unsigned largestOf(unsigned binade) const {
    binade = warpAllReduce(binade, Maximum{});
    const auto lane = static_cast<unsigned>(laneIndex());
    if (gridDim.x > 1) waitForCluster();
    if (lane < gridDim.x) atomicMax(clusterAddress(&binade_, lane), binade);
    sync();
    return binade_;
  }

  // A barrier of a cluster takes longer than that of a block.
  __device__ static void sync() {
    if (gridDim.x > 1)
      syncCluster();
    else
      __syncthreads();
  }

  // Gives the block's sums to the blocks that own the bins. All threads of the cluster call.
  __device__ void share(const Update& update) const {
    __syncthreads();
    if (gridDim.x == 1) return;
    for (unsigned bin = threadIdx.x; bin < range_.bins; bin += blockDim.x) {
      const unsigned owner = bin / part_;
      clusterAddress(inbox(), owner)[blockIdx.x * part_ + bin - owner * part_] = words_.word(update, bin);
      if (owner != blockIdx.x && flags()[bin] != 0) atomicOr(clusterAddress(flags() + bin, owner), flags()[bin]);
    }
    syncCluster();
  }

  __device__ unsigned firstBin() const { return blockIdx.x * part_; }
  __device__ unsigned endBin() const { return firstBin() + part_ < range_.bins ? firstBin() + part_ : range_.bins; }

  // The sum of a bin of its own over all blocks.
  __device__ A sum(const Update& update, unsigned bin) const {
    if (gridDim.x == 1) return update.value(words_.word(update, bin), bin);
    Word word = 0;
#pragma unroll
    for (unsigned i = 0; i < maxClusterBlocks; ++i)  // loads that do not wait for each other
      if (i < gridDim.x) word += inbox()[i * part_ + bin - firstBin()];
    return update.value(word, bin);
  }

  __device__ const BinRange& range() const { return range_; }
  __device__ const BlockLongSums<Update>& words() const { return words_; }

 private:
  // The sums of the own bins, of each block.
  __device__ Word* inbox() const { return dynamicShared<Word>() + range_.words(); }
  __device__ unsigned* flags() const {
    const unsigned words = range_.words() + (gridDim.x > 1 ? gridDim.x * part_ : 0);
    return reinterpret_cast<unsigned*>(dynamicShared<Word>() + words);
  }

  unsigned& binade_;
  BinRange range_;
  BlockLongSums<Update> words_;
  unsigned part_;  // bins that a block owns
};

// The steps of a thread: the first ones stay in registers, others are loaded again each time.
template <class Source>
class HeldSteps {
 public:
  __device__ HeldSteps(const Source& source, const StepArgs& steps)
      : source_(source), steps_(steps), first_(blockIdx.x * blockDim.x + threadIdx.x) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (step(i) < steps.end) source.template load<Caching::stream>(held_[i], step(i));
  }

  // Gives all values to take(values).
  template <class Take>
  __device__ void forEach(const Take& take) const {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (step(i) < steps_.end) takeStep(source_, held_[i], take);
    for (std::size_t s = step(ITEMS); s < steps_.end; s += stride()) {
      typename Source::Step again;
      source_.template load<Caching::stream>(again, s);
      takeStep(source_, again, take);
    }
    if (blockIdx.x == 0) takeEdge(source_, steps_, take);
  }

 private:
  static constexpr int ITEMS = keyedItems<Source>;
  __device__ static unsigned stride() { return gridDim.x * blockDim.x; }
  __device__ std::size_t step(int i) const { return first_ + static_cast<unsigned>(i) * stride(); }

  const Source& source_;
  const StepArgs& steps_;
  unsigned first_;
  typename Source::Step held_[ITEMS];
};

// The grid is one cluster. KEEPS adds the sums to what is in `out`.
template <bool KEEPS, class Source, class A>
GPUOPT_KERNEL void __launch_bounds__(clusterSumThreads, 1)
    clusterSumsKernel(const Source source, const StepArgs steps, const std::size_t n, const unsigned bins, A* out) {
  __shared__ unsigned largest;
  const ClusterSums<A> sums(largest, bins);
  FixedPointSum<A> update = sums.clear();
  overlapPreviousKernel();
  const HeldSteps<Source> held(source, steps);
  AtomicUnsigned<A> magnitude = 0;
  held.forEach([&](const auto& values) { lookForMagnitude(values, bins, magnitude); });
  update.startFor(n, sums.largestOf(update.binadeOf(magnitude)));
  held.forEach([&](const auto& values) { takeKeyed<false>(update, sums.words(), sums.range(), values); });
  sums.share(update);
  for (unsigned bin = sums.firstBin() + threadIdx.x; bin < sums.endBin(); bin += blockDim.x) {
    const A sum = sums.sum(update, bin);
    out[bin] = KEEPS ? out[bin] + sum : sum;
  }
}

GPUOPT_DETAIL_END
