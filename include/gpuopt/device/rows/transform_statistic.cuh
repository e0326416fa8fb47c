/// \file
/// How the threads of a row compute its statistic together.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/rows_types.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <type_traits>

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

// Where a warp leaves its partial for the others: whole words.
template <class Partial>
struct alignas(largerOf(alignof(Partial), std::size_t{4})) PartialSlot {
  Partial partial;
};

template <class S>
struct PartialBytes {
  static constexpr std::size_t value = sizeof(PartialSlot<typename S::Partial>);
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

// Merges the first `count` slots of at most MAX_SLOTS; every lane gets the result. A few slots a lane, since reading
// one takes less time than a step of combining lanes.
template <unsigned MAX_SLOTS, class S, class Partial>
__device__ inline Partial mergeSlots(const S& statistic, const PartialSlot<Partial>* slots, unsigned count) {
  constexpr unsigned OF_LANE = 4, LANES = MAX_SLOTS / OF_LANE;
  const unsigned first = threadIdx.x % LANES * OF_LANE;
  Partial partial = statistic.start();
#pragma unroll
  for (unsigned i = 0; i < OF_LANE; ++i)
    if (first + i < count) partial = statistic.merge(partial, slots[first + i].partial);
  return LaneCombination{LANES}(statistic, partial);
}

// Merges the partials of a block; every thread gets the result.
template <class Statistic>
class BlockCombination {
 public:
  static constexpr unsigned SLOTS = 16;  // warps of a block
  struct alignas(16) Storage {
    unsigned char bytes[2][SLOTS * PartialBytes<Statistic>::value];  // in turn: the next pass may begin at once
  };

  __device__ explicit BlockCombination(Storage& storage) : storage_(storage) {}

  template <class S, class Partial>
  __device__ Partial operator()(const S& statistic, Partial partial) {
    static_assert(sizeof(PartialSlot<Partial>) <= PartialBytes<Statistic>::value);
    auto* const slots = reinterpret_cast<PartialSlot<Partial>*>(storage_.bytes[pass_++ % 2]);
    partial = LaneCombination{32}(statistic, partial);
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32].partial = partial;
    __syncthreads();
    return mergeSlots<SLOTS>(statistic, slots, blockDim.x / 32);
  }

 private:
  Storage& storage_;
  unsigned pass_ = 0;
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

// The result of a row; the map stores it, if it does so. eachVector(use) calls use(vector, number) for all vectors of
// this thread; `ends` are its elements beside them.
template <class Transform, class Row, class EachVector, class Ends, class Combine>
__device__ inline auto resultOfRow(const Transform& transform, const Row& row, const EachVector& eachVector,
                                   const Ends& ends, Combine& combine, bool isFirstThread) {
  const auto eachValue = [&](auto use) {
    eachVector([&](const uint4& vector, int v) { row.each(vector, v, use); });
    ends.each(use);
  };
  const auto result = rowResult(transform.statistic, row.cols, eachValue, combine);
  using Map = decltype(transform.map);
  if constexpr (storesResult<Map, decltype(result)>)
    if (isFirstThread && row.exists()) transform.map.storeResult(row.index, result);
  return result;
}

// The same, and the row mapped.
template <class Transform, class Row, class EachVector, class Ends, class Combine>
__device__ inline void transformRow(const Transform& transform, const Row& row, const EachVector& eachVector,
                                    const Ends& ends, Combine& combine, bool isFirstThread) {
  const auto result = resultOfRow(transform, row, eachVector, ends, combine, isFirstThread);
  eachVector([&](const uint4& vector, int v) { row.store(vector, v, transform.map, result); });
  ends.store(transform.map, result);
}

GPUOPT_DETAIL_END
