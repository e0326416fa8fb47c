/// \file
/// The kernel that reduces an array in the order of the input, for operations that do not commute.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/steps.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The most rows of 32 steps that a warp has in flight, a power of two.
template <class Policy, class Source>
inline constexpr int maxOrderedRows = itemsPerThread<Policy, Source> >= 8   ? 8
                                      : itemsPerThread<Policy, Source> >= 4 ? 4
                                      : itemsPerThread<Policy, Source> >= 2 ? 2
                                                                            : 1;

// first ? a : b, word by word: for structs the compiler would select an address, and spill both to memory.
template <class T>
__device__ inline T selectWords(bool first, const T& a, const T& b) {
  constexpr int WORDS = static_cast<int>((sizeof(T) + 3) / 4);
  unsigned wordsA[WORDS] = {};
  unsigned wordsB[WORDS] = {};
  __builtin_memcpy(wordsA, &a, sizeof(T));
  __builtin_memcpy(wordsB, &b, sizeof(T));
#pragma unroll
  for (int i = 0; i < WORDS; ++i) wordsA[i] = first ? wordsA[i] : wordsB[i];
  T result = a;
  __builtin_memcpy(&result, wordsA, sizeof(T));
  return result;
}

// Combines `own` with what the lane at `distance` sends, the lower lane's value first.
template <class Partial, class Op>
__device__ inline Partial combineLanes(const Partial& own, const Partial& sent, int distance, Op op) {
  const Partial other = shuffleXor(sent, distance);
  const bool upper = (laneIndex() & distance) != 0;
  return op(selectWords(upper, other, own), selectWords(upper, own, other));
}

// Combines lanes of doubling distance until each row is one value. While a lane holds several rows (ROWS), it keeps one
// half of them and sends the other, which halves the rows (figure: docs/reduce_kernels.md).
template <int ROWS, int DISTANCE, class Partial, class Op>
__device__ inline void exchangeRows(Partial* rows, Op op) {
  if constexpr (DISTANCE == 32) {
    return;
  } else if constexpr (ROWS == 1) {
    rows[0] = combineLanes(rows[0], rows[0], DISTANCE, op);
    exchangeRows<1, DISTANCE * 2>(rows, op);
  } else {
    const bool upper = (laneIndex() & DISTANCE) != 0;
#pragma unroll
    for (int i = 0; i < ROWS / 2; ++i) {
      const Partial own = selectWords(upper, rows[i + ROWS / 2], rows[i]);
      rows[i] = combineLanes(own, selectWords(upper, rows[i], rows[i + ROWS / 2]), DISTANCE, op);
    }
    exchangeRows<ROWS / 2, DISTANCE * 2>(rows, op);
  }
}

// Reduces ROWS rows of 32 lanes, row after row; every lane gets the result. 8 rows take 12 shuffles, where 8 warp
// reductions take 40. After exchangeRows, a lane holds the row whose index its lowest bits spell in reverse, so the
// rows themselves are combined over falling distances.
template <int ROWS, class Partial, class Op>
__device__ inline Partial reduceRowsInOrder(Partial (&rows)[ROWS], Op op) {
  exchangeRows<ROWS, 1>(rows, op);
#pragma unroll
  for (int distance = ROWS / 2; distance > 0; distance /= 2) rows[0] = combineLanes(rows[0], rows[0], distance, op);
  return rows[0];
}

// Each warp takes a contiguous range of groups, of ROWS rows each.
struct ReduceOrderedArgs {
  std::size_t steps;       // of the input
  std::size_t warpGroups;  // groups of a warp
  unsigned edges;          // elements after the last step
};

// Loads a group whose first step of this lane is `first`, and reduces it in order.
template <int ROWS, Caching CACHING, class Source, class Reducer>
__device__ inline typename Reducer::Partial reduceGroup(const Source& source, const Reducer& reducer, std::size_t first,
                                                        std::size_t last) {
  typename Source::Step steps[ROWS];
  typename Source::Value values[Source::STEP];
  typename Reducer::Partial rows[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) source.template load<CACHING>(steps[i], first + i * 32 < last ? first + i * 32 : last);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    rows[i] = reducer.neutral();
    source.values(steps[i], values);
    if (first + i * 32 <= last) reducer.add(rows[i], values, (first + i * 32) * Source::STEP);
  }
  return reduceRowsInOrder(rows, reducer.combiner());
}

template <int ROWS, Caching CACHING, class Policy, class Source, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, minBlocksPerSm<Policy, typename Reducer::Partial>)
    reduceOrderedKernel(const Source source, const Reducer reducer, const ReduceOrderedArgs args,
                        const GridScratch<typename Reducer::Partial> scratch, const Out out) {
  using Partial = typename Reducer::Partial;
  constexpr std::size_t GROUP = 32 * ROWS;
  overlapPreviousKernel();
  const Partial neutral = reducer.neutral();
  const auto op = reducer.combiner();
  const std::size_t warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const std::size_t start = warp * args.warpGroups * GROUP;
  const std::size_t stop = (warp + 1) * args.warpGroups * GROUP;
  Partial partial = neutral;
  for (std::size_t first = start; first < stop && first < args.steps; first += GROUP)
    partial = op(partial, reduceGroup<ROWS, CACHING>(source, reducer, first + threadIdx.x % 32, args.steps - 1));

  partial = combineWarps<Policy::BLOCK>(partial, neutral, op);
  const bool holdsResult = gridDim.x == 1 ? threadIdx.x == 0 : gridReduce<Policy::BLOCK>(partial, neutral, op, scratch);
  if (!holdsResult) return;
  for (std::size_t i = args.steps * Source::STEP; i < args.steps * Source::STEP + args.edges; ++i) {
    const typename Source::Value values[1] = {source.at(i)};
    reducer.add(partial, values, i);
  }
  storeResult(out, reducer.finish(partial));
}

// The kernel for a number of rows.
template <class Policy, class Source, class Reducer, class Out>
auto orderedKernel(std::size_t rows, bool streams) {
  constexpr int MAX_ROWS = maxOrderedRows<Policy, Source>, FOUR = smallerOf(4, MAX_ROWS), TWO = smallerOf(2, MAX_ROWS);
  constexpr auto stream = Caching::stream, normal = Caching::normal;
  if (rows >= 8)
    return streams ? reduceOrderedKernel<MAX_ROWS, stream, Policy, Source, Reducer, Out>
                   : reduceOrderedKernel<MAX_ROWS, normal, Policy, Source, Reducer, Out>;
  if (rows >= 4)
    return streams ? reduceOrderedKernel<FOUR, stream, Policy, Source, Reducer, Out>
                   : reduceOrderedKernel<FOUR, normal, Policy, Source, Reducer, Out>;
  return streams ? reduceOrderedKernel<TWO, stream, Policy, Source, Reducer, Out>
                 : reduceOrderedKernel<TWO, normal, Policy, Source, Reducer, Out>;
}

GPUOPT_DETAIL_END
