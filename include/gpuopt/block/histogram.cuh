/// \file
/// A histogram of a block in shared memory, for your own kernels: BlockHistogram.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/threads.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// The types of counters in global memory.
template <class Count>
inline constexpr bool isCount = std::is_integral_v<Count> && (sizeof(Count) == 4 || sizeof(Count) == 8);

template <class Count>
__device__ inline void addCount(Count* counter, unsigned count) {
  using Unsigned = std::conditional_t<sizeof(Count) == 4, unsigned, unsigned long long>;
  atomicAdd(reinterpret_cast<Unsigned*>(counter), static_cast<Unsigned>(count));
}

}  // namespace detail

/// The counters of a block for bins 0 to BINS - 1, in shared memory. In a kernel of BLOCK threads, in any number of
/// dimensions:
///
///     __shared__ gpuopt::BlockHistogram<256, 64>::Storage storage;
///     const gpuopt::BlockHistogram<256, 64> histogram(storage);     // zeros
///     for (...) histogram.add(binOf(x));
///     histogram.addTo(counts);                                      // atomically, to counters in global memory
///
/// All threads construct it, clear(), addTo() and store() together: these synchronise the block. Any thread may add()
/// at any other time. Counters have 32 bits.
///
/// Cost: 4 * BINS bytes of shared memory, and one atomic update of it for each element. Lanes that add to the same bin
/// are combined by the hardware. Source: Podlozhnyuk, Histogram calculation in CUDA, 2007.
template <unsigned BLOCK, unsigned BINS>
class BlockHistogram {
  static_assert(BLOCK >= 1 && BLOCK <= 1024, "gpuopt::BlockHistogram: BLOCK must be 1 to 1024");
  static_assert(BINS >= 1 && BINS <= 12288, "gpuopt::BlockHistogram: BINS must be 1 to 12288, 48 KiB of counters");

 public:
  /// Shared memory of the block.
  struct Storage {
    unsigned counts[BINS];  ///< the counters
  };

  /// Zeroes the counters. Called by every thread of the block, with the same `storage` in shared memory.
  ///
  /// \param thread the calling thread's rank; in blocks of one dimension, threadIdx.x is cheaper
  __device__ explicit BlockHistogram(Storage& storage, unsigned thread = static_cast<unsigned>(threadRank()))
      : counts_(storage.counts), thread_(thread) {
    detail::requireThreads("gpuopt::BlockHistogram", BLOCK);
    clear();
  }

  /// Zeroes the counters; after addTo() or store(), for the next histogram.
  __device__ void clear() const {
    for (unsigned bin = thread_; bin < BINS; bin += BLOCK) counts_[bin] = 0;
    __syncthreads();
  }

  /// Counts one element of a bin, an integer of any type. Others than 0 to BINS - 1 are ignored.
  template <class Bin>
  __device__ void add(Bin bin) const {
    static_assert(std::is_integral_v<Bin>, "gpuopt::BlockHistogram: the number of a bin must be an integer");
    using Unsigned = std::conditional_t<(sizeof(Bin) > 4), unsigned long long, unsigned>;
    if (static_cast<Unsigned>(bin) < BINS) atomicAdd(counts_ + static_cast<unsigned>(bin), 1u);
  }

  /// Adds the counters to counts[0], ..., counts[BINS - 1] in global memory, atomically. Waits for the block first.
  template <class Count>
  __device__ void addTo(Count* counts) const {
    static_assert(detail::isCount<Count>, "gpuopt::BlockHistogram: counts must be integers of 4 or 8 bytes");
    __syncthreads();
    for (unsigned bin = thread_; bin < BINS; bin += BLOCK)
      if (counts_[bin] != 0) detail::addCount(counts + bin, counts_[bin]);
  }

  /// Stores the counters to counts[0], ..., counts[BINS - 1]. Waits for the block first.
  template <class Count>
  __device__ void store(Count* counts) const {
    static_assert(detail::isCount<Count>, "gpuopt::BlockHistogram: counts must be integers of 4 or 8 bytes");
    __syncthreads();
    for (unsigned bin = thread_; bin < BINS; bin += BLOCK) counts[bin] = static_cast<Count>(counts_[bin]);
  }

 private:
  unsigned* counts_;
  unsigned thread_;
};

GPUOPT_NAMESPACE_END
