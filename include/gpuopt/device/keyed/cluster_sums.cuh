/// \file
/// Sums in fixed point of few values: one launch of one cluster of blocks, which looks for the largest magnitude, adds
/// in shared memory, and converts. The bits are those of the kernels for many values.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
#include <gpuopt/grid/cluster_arrivals.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The sums of a block, the flags of its bins, and what the blocks of its cluster send each other. A block of several
// owns a part of the bins: all send their sums of these to it. Loads from the others' shared memory would take longer:
// 2^13 values 3.3 us instead of 2.8, 2^16 values 5.4 instead of 4.6 (H200, 2026-11-28, a trial program).
template <class A>
class ClusterSums {
 public:
  using Word = unsigned long long;
  using Update = FixedPointSum<A>;

  struct Storage {
    ClusterArrivals binadesCame, sumsCame;
    unsigned ofWarps[clusterSumThreads / 32], ofBlocks[maxClusterBlocks];  // binades
  };

  __device__ ClusterSums(Storage& storage, unsigned bins)
      : storage_(storage),
        range_{0, bins},
        words_(WordTable<Word>{nullptr, bins}, range_, 1),
        part_((bins + gridDim.x - 1) / gridDim.x) {}

  __device__ Update clear() const {
    if (gridDim.x > 1) createBarriers();
    const Update update(nullptr, flags(), range_.bins, false);
    words_.clear(update);
    for (unsigned i = threadIdx.x; i < range_.bins; i += blockDim.x) flags()[i] = 0;
    return update;
  }

  // The largest binade of all threads of the cluster. All words of the block are cleared then.
  __device__ unsigned largestOf(unsigned binade) const {
    const auto lane = static_cast<unsigned>(laneIndex());
    binade = warpAllReduce(binade, Maximum{});
    if (lane == 0) storage_.ofWarps[threadIdx.x / 32] = binade;
    __syncthreads();
    binade = warpAllReduce(lane < blockDim.x / 32 ? storage_.ofWarps[lane] : 0, Maximum{});
    if (gridDim.x == 1) return binade;
    waitForCluster();
    if (threadIdx.x < gridDim.x) storage_.binadesCame.send(storage_.ofBlocks + blockIdx.x, binade, threadIdx.x);
    storage_.binadesCame.wait(0);
    return warpAllReduce(lane < gridDim.x ? storage_.ofBlocks[lane] : 0, Maximum{});
  }

  // Gives the block's sums to the blocks that own the bins. All threads of the cluster call.
  __device__ void share(const Update& update) const {
    __syncthreads();
    if (gridDim.x == 1) return;
    for (unsigned bin = threadIdx.x; bin < range_.bins; bin += blockDim.x) {
      const unsigned owner = bin / part_;
      const Word word = flags()[bin] != 0 ? FLAGGED | flags()[bin] : words_.word(update, bin);
      storage_.sumsCame.send(inbox() + (blockIdx.x * part_ + bin - owner * part_), word, owner);
    }
    storage_.sumsCame.wait(0);
  }

  __device__ unsigned firstBin() const { return blockIdx.x * part_; }
  __device__ unsigned endBin() const { return firstBin() + part_ < range_.bins ? firstBin() + part_ : range_.bins; }

  // The sum of a bin of its own over all blocks.
  __device__ A sum(const Update& update, unsigned bin) const {
    if (gridDim.x == 1) return update.value(words_.word(update, bin), bin);
    Word sum = 0;
    unsigned flag = 0;
#pragma unroll
    for (unsigned i = 0; i < maxClusterBlocks; ++i) {  // loads that do not wait for each other
      if (i >= gridDim.x) continue;
      const Word word = inbox()[i * part_ + bin - firstBin()];
      const bool isFlagged = word >> 32 == FLAGGED >> 32;
      flag |= isFlagged ? static_cast<unsigned>(word) : 0;
      sum += isFlagged ? 0 : word;
    }
    flags()[bin] = flag;
    return update.value(sum, bin);
  }

  __device__ const BinRange& range() const { return range_; }
  __device__ const BlockLongSums<Update>& words() const { return words_; }

 private:
  // The upper half of a word that stands for the flags of its bin: sums are below 2^62.
  static constexpr Word FLAGGED = Word{0x7fffffff} << 32;

  __device__ void createBarriers() const {
    if (threadIdx.x == 0) {
      const unsigned own = endBin() > firstBin() ? endBin() - firstBin() : 0;
      storage_.binadesCame.create(), storage_.sumsCame.create();
      storage_.binadesCame.expect(gridDim.x * static_cast<unsigned>(sizeof(unsigned)));
      storage_.sumsCame.expect(gridDim.x * own * static_cast<unsigned>(sizeof(Word)));
    }
    announceBarriers();
  }

  // The sums of the own bins, of each block.
  __device__ Word* inbox() const { return dynamicShared<Word>() + range_.words(); }
  __device__ unsigned* flags() const {
    const unsigned words = range_.words() + (gridDim.x > 1 ? gridDim.x * part_ : 0);
    return reinterpret_cast<unsigned*>(dynamicShared<Word>() + words);
  }

  Storage& storage_;
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
  __shared__ typename ClusterSums<A>::Storage storage;
  const ClusterSums<A> sums(storage, bins);
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
