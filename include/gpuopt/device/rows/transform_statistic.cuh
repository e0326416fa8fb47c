/// \file
/// How the threads of a row compute its statistic together.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_TYPES_BEGIN

/// Two statistics of a row, one after the other: what `second` does with an element may depend on the result of
/// `first`. Made by thenStatistic.
///
/// \tparam First,Second the types of the statistics
template <class First, class Second>
struct StatisticChain {
  First first;    ///< any statistic
  Second second;  ///< gets the result of `first` as the last argument of add() and finish()
};

GPUOPT_TYPES_END

GPUOPT_DETAIL_BEGIN

// The second statistic of a chain when the first is known.
template <class First, class Second>
struct StatisticAfter {
  using Partial = typename Second::Partial;
  const Second& second;
  First first;

  __device__ Partial start() const { return second.start(); }
  template <class Value>
  __device__ void add(Partial& partial, Value value) const {
    second.add(partial, value, first);
  }
  __device__ Partial merge(const Partial& a, const Partial& b) const { return second.merge(a, b); }
  __device__ auto finish(const Partial& partial, int cols) const { return second.finish(partial, cols, first); }
};

template <class S>
struct PartialBytes {
  static constexpr std::size_t value = sizeof(typename S::Partial);
};
template <class First, class Second>
struct PartialBytes<StatisticChain<First, Second>> {
  static constexpr std::size_t value = largerOf(PartialBytes<First>::value, PartialBytes<Second>::value);
};

template <class S>
inline constexpr bool isChain = false;
template <class First, class Second>
inline constexpr bool isChain<StatisticChain<First, Second>> = true;

// Merges the partials of the lanes of a group; every lane gets the result.
struct LaneCombination {
  unsigned lanes;

  template <class S, class Partial>
  __device__ Partial operator()(const S& statistic, Partial partial) const {
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
      if (distance < lanes) partial = statistic.merge(partial, shuffleXor(partial, static_cast<int>(distance)));
    return partial;
  }
};

// The address of a shared variable in another block of the cluster.
template <class T>
__device__ inline T* inClusterBlock(T* shared, [[maybe_unused]] unsigned block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  T* remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(shared), "r"(block));
  return remote;
#else
  return shared;
#endif
}

__device__ inline void arriveAtCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ inline void waitForCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Merges the partials of a block or of a cluster of blocks; every thread gets the result. Each warp writes its partial
// to every block of the cluster, so that one barrier is enough.
template <class Statistic>
class BlockCombination {
 public:
  static constexpr unsigned SLOTS = 128;  // warps of a cluster
  struct alignas(16) Storage {
    unsigned char bytes[2][SLOTS * PartialBytes<Statistic>::value];  // in turn: the next pass may begin at once
  };

  __device__ BlockCombination(Storage& storage, unsigned blocks, unsigned rank)
      : storage_(storage), blocks_(blocks), firstSlot_(rank * (blockDim.x / 32)) {
    if (blocks_ > 1) arriveAtCluster();  // all blocks must have begun before one writes to another
  }

  template <class S, class Partial>
  __device__ Partial operator()(const S& statistic, Partial partial) {
    static_assert(sizeof(Partial) <= PartialBytes<Statistic>::value);
    partial = LaneCombination{32}(statistic, partial);
    auto* const slots = reinterpret_cast<Partial*>(storage_.bytes[pass_++ % 2]);
    if (blocks_ > 1 && isFirst_) waitForCluster();
    isFirst_ = false;
    const unsigned lane = threadIdx.x % 32;
    if (lane < blocks_) *inClusterBlock(slots + firstSlot_ + threadIdx.x / 32, lane) = partial;
    if (blocks_ > 1) {
      arriveAtCluster();
      waitForCluster();
    } else {
      __syncthreads();
    }
    return mergeSlots(statistic, slots);
  }

 private:
  // Each group of lanes that can hold all slots merges them.
  template <class S, class Partial>
  __device__ Partial mergeSlots(const S& statistic, const Partial* slots) const {
    const unsigned count = blocks_ * (blockDim.x / 32);
    unsigned lanes = 1;
    while (lanes < count && lanes < 32) lanes *= 2;
    Partial partial = statistic.start();
    for (unsigned slot = threadIdx.x % lanes; slot < count; slot += lanes)
      partial = statistic.merge(partial, slots[slot]);
    return LaneCombination{lanes}(statistic, partial);
  }

  Storage& storage_;
  unsigned blocks_;
  unsigned firstSlot_;
  unsigned pass_ = 0;
  bool isFirst_ = true;
};

// eachValue(use) calls use(value) for all elements of this thread.
template <class S, class EachValue, class Combine>
__device__ inline auto rowResult(const S& statistic, int cols, const EachValue& eachValue, Combine& combine) {
  if constexpr (isChain<S>) {
    const auto first = rowResult(statistic.first, cols, eachValue, combine);
    using Second = StatisticAfter<std::decay_t<decltype(first)>, decltype(statistic.second)>;
    return rowResult(Second{statistic.second, first}, cols, eachValue, combine);
  } else {
    auto partial = statistic.start();
    eachValue([&](auto value) { statistic.add(partial, value); });
    return statistic.finish(combine(statistic, partial), cols);
  }
}

// Whether a map has storeResult(row, result).
template <class Map, class Result, class = void>
inline constexpr bool storesResult = false;
template <class Map, class Result>
inline constexpr bool storesResult<
    Map, Result,
    std::void_t<decltype(std::declval<const Map&>().storeResult(std::size_t{}, std::declval<const Result&>()))>> = true;

// eachVector(use) calls use(vector, number) for all vectors of this thread.
template <class Transform, class Row, class EachVector, class Combine>
__device__ inline void transformRow(const Transform& transform, const Row& row, const EachVector& eachVector,
                                    Combine& combine, bool isFirstThread) {
  const auto eachValue = [&](auto use) { eachVector([&](const uint4& vector, int v) { row.each(vector, v, use); }); };
  const auto result = rowResult(transform.statistic, row.cols, eachValue, combine);
  using Map = decltype(transform.map);
  if constexpr (storesResult<Map, decltype(result)>)
    if (isFirstThread && row.vectors > 0) transform.map.storeResult(row.index, result);
  eachVector([&](const uint4& vector, int v) { row.store(vector, v, transform.map, result); });
}

GPUOPT_DETAIL_END
