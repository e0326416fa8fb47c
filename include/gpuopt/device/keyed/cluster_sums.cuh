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

// The sums of a block, the flags of its bins, and the magnitudes of its cluster.
template <class A>
class ClusterSums {
 public:
  using Word = unsigned long long;
  using Bits = AtomicUnsigned<A>;
  using Update = FixedPointSum<A>;
  struct Storage {
    Magnitudes<A> magnitudes;
    Bits ofBlocks[maxClusterBlocks];
  };

  __device__ ClusterSums(Storage& storage, unsigned bins)
      : storage_(storage), range_{0, bins}, words_(WordTable<Word>{nullptr, bins}, range_, 1) {}

  __device__ Update clear() const {
    const Update update(&storage_.magnitudes, flags(), range_.bins, false);
    words_.clear(update);
    for (unsigned i = threadIdx.x; i < range_.bins; i += blockDim.x) flags()[i] = 0;
    if (threadIdx.x == 0) storage_.magnitudes.sampled = 0;
    return update;
  }

  // Every block learns the largest magnitude of all threads of the cluster.
  __device__ void shareMagnitude(Bits own) const {
    own = warpReduce(own, Maximum{});
    if (laneIndex() == 0) atomicMax(&storage_.magnitudes.sampled, own);
    syncCluster();
    if (gridDim.x == 1) return;
    if (threadIdx.x < gridDim.x)
      storage_.ofBlocks[threadIdx.x] = *clusterAddress(&storage_.magnitudes.sampled, threadIdx.x);
    syncCluster();
    if (threadIdx.x < gridDim.x) atomicMax(&storage_.magnitudes.sampled, storage_.ofBlocks[threadIdx.x]);
    __syncthreads();
  }

  // The sum of a bin over all blocks. Its flags are then in this block, too.
  __device__ A sum(const Update& update, unsigned bin) const {
    Word word = words_.word(update, bin);
    unsigned flag = flags()[bin];
    if (gridDim.x > 1) {
#pragma unroll
      for (unsigned i = 1; i < maxClusterBlocks; ++i) {  // loads that do not wait for each other
        if (i >= gridDim.x) continue;
        const unsigned* const low = clusterAddress(dynamicShared<unsigned>(), (blockIdx.x + i) % gridDim.x);
        word += Word{low[range_.words() + bin]} << 32 | low[bin];
        flag |= low[2 * range_.words() + bin];
      }
      flags()[bin] = flag;
    }
    return update.value(word, bin);
  }

  __device__ const BinRange& range() const { return range_; }
  __device__ const BlockLongSums<Update>& words() const { return words_; }

 private:
  __device__ unsigned* flags() const { return dynamicShared<unsigned>() + 2 * range_.words(); }

  Storage& storage_;
  BinRange range_;
  BlockLongSums<Update> words_;
};

// The grid is one cluster. KEEPS adds the sums to what is in `out`.
template <bool KEEPS, class Source, class A>
GPUOPT_KERNEL void __launch_bounds__(clusterSumThreads, 1)
    clusterSumsKernel(const Source source, const StepArgs steps, const std::size_t n, const unsigned bins, A* out) {
  __shared__ typename ClusterSums<A>::Storage storage;
  const ClusterSums<A> sums(storage, bins);
  FixedPointSum<A> update = sums.clear();
  overlapPreviousKernel();
  __syncthreads();
  AtomicUnsigned<A> magnitude = 0;
  const auto look = [&](const auto& values) { lookForMagnitude(values, bins, magnitude); };
  takeSteps<keyedItems<Source>>(source, steps, blockIdx.x, gridDim.x, look, NoTileEnd{});
  sums.shareMagnitude(magnitude);
  update.start(n);
  takeAll(update, sums.words(), sums.range(), source, steps, 1);
  syncCluster();
  for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < bins; bin += gridDim.x * blockDim.x) {
    const A sum = sums.sum(update, bin);
    out[bin] = KEEPS ? out[bin] + sum : sum;
  }
  syncCluster();  // no block ends while others read its sums
}

GPUOPT_DETAIL_END
