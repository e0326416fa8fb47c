/// \file
/// The device-wide reduction in the order of the input, for operations that do not commute.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/source.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The most rows of a group that a warp has in flight, a power of two.
template <class Policy, class Source>
inline constexpr int mostOrderedRows = itemsPerThread<Policy, Source> >= 8   ? 8
                                       : itemsPerThread<Policy, Source> >= 4 ? 4
                                       : itemsPerThread<Policy, Source> >= 2 ? 2
                                                                             : 1;

// Either value, chosen word by word: a choice between structs would be one between their addresses, and those
// in memory.
template <class T>
__device__ inline T chooseWords(bool first, const T& a, const T& b) {
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

// Joins the calling lane's value with that of the lane `distance` away, the lower lane's first.
template <class Partial, class Op>
__device__ inline Partial joinLanes(const Partial& mine, const Partial& sent, int distance, Op op) {
  const Partial other = shuffleXor(sent, distance);
  const bool upper = (laneIndex() & distance) != 0;
  return op(chooseWords(upper, other, mine), chooseWords(upper, mine, other));
}

// Joins rows over ever more distant lanes. While LEFT is more than one, an exchange halves the rows: a lane
// keeps one half and sends the other.
template <int LEFT, int DISTANCE, class Partial, class Op>
__device__ inline void exchangeRows(Partial* rows, Op op) {
  if constexpr (DISTANCE == 32) {
    return;
  } else if constexpr (LEFT == 1) {
    rows[0] = joinLanes(rows[0], rows[0], DISTANCE, op);
    exchangeRows<1, DISTANCE * 2>(rows, op);
  } else {
    const bool upper = (laneIndex() & DISTANCE) != 0;
#pragma unroll
    for (int i = 0; i < LEFT / 2; ++i) {
      const Partial kept = chooseWords(upper, rows[i + LEFT / 2], rows[i]);
      rows[i] = joinLanes(kept, chooseWords(upper, rows[i], rows[i + LEFT / 2]), DISTANCE, op);
    }
    exchangeRows<LEFT / 2, DISTANCE * 2>(rows, op);
  }
}

// The total of ROWS rows of 32 lanes, row after row, in every lane. Once the rows are joined, each is in the
// lanes whose lowest bits are its number's in reverse. For 8 rows that takes 12 shuffles, where a reduction
// of each would take 40.
template <int ROWS, class Partial, class Op>
__device__ inline Partial reduceRowsInOrder(Partial (&rows)[ROWS], Op op) {
  exchangeRows<ROWS, 1>(rows, op);
#pragma unroll
  for (int distance = ROWS / 2; distance > 0; distance /= 2)
    rows[0] = joinLanes(rows[0], rows[0], distance, op);
  return rows[0];
}

// How an input is dealt out: every warp has a contiguous range of groups of ROWS x 32 steps.
struct OrderedShape {
  std::size_t steps;       // of the input
  std::size_t warpGroups;  // groups of a warp
  unsigned edges;          // elements after the last step
};

template <int ROWS, Caching CACHING, class Policy, class Source, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, blocksAtOnce<Policy, typename Reducer::Partial>)
    reduceOrderedKernel(const Source source, const Reducer reducer, const OrderedShape shape,
                        const GridScratch<typename Reducer::Partial> scratch,
                        const Destination<typename Reducer::Result> out) {
  using Partial = typename Reducer::Partial;
  constexpr std::size_t GROUP = 32 * ROWS;
  overlapPreviousKernel();
  const Partial none = reducer.empty();
  const auto op = reducer.combiner();
  const std::size_t warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const std::size_t start = warp * shape.warpGroups * GROUP;
  const std::size_t stop = (warp + 1) * shape.warpGroups * GROUP;
  Partial partial = none;
  for (std::size_t first = start; first < stop && first < shape.steps; first += GROUP) {
    typename Source::Step steps[ROWS];
    typename Source::Value values[Source::STEP];
    Partial rows[ROWS];
    const std::size_t mine = first + threadIdx.x % 32;
    const std::size_t last = shape.steps - 1;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
      source.template load<CACHING>(steps[i], mine + i * 32 < last ? mine + i * 32 : last);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      rows[i] = none;
      source.values(steps[i], values);
      if (mine + i * 32 <= last) reducer.add(rows[i], values, (mine + i * 32) * Source::STEP);
    }
    partial = op(partial, reduceRowsInOrder(rows, op));
  }

  partial = joinWarps<Policy::BLOCK>(partial, none, op);
  const bool holdsAll =
      gridDim.x == 1 ? threadIdx.x == 0 : joinGrid<Policy::BLOCK>(partial, none, op, scratch);
  if (!holdsAll) return;
  for (std::size_t i = shape.steps * Source::STEP; i < shape.steps * Source::STEP + shape.edges; ++i) {
    const typename Source::Value values[1] = {source.at(i)};
    reducer.add(partial, values, i);
  }
  storeResult(out, reducer.finish(partial));
}

template <int ROWS, class Policy, class Source, class Reducer>
void launchOrderedRows(const Source& source, std::size_t steps, unsigned edges, const Reducer& reducer,
                       const Destination<typename Reducer::Result>& out, LaunchConfig config,
                       Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  const std::size_t bytes = steps * Source::BYTES;
  const std::size_t groups = ceilDivide(steps, std::size_t{32 * ROWS});
  const std::size_t threads = threadsFor<Policy>(32 * groups, bytes);
  const std::size_t warps = threads / 32;
  const std::size_t most = smallerOf(std::size_t{Policy::loopBlocks(bytes)}, mostBlocks<Partial>);
  const std::size_t blocks = clampTo(ceilDivide(groups, warps), std::size_t{1}, most);
  config.block = dim3(static_cast<unsigned>(threads));
  config.grid = dim3(static_cast<unsigned>(blocks));
  const OrderedShape shape{steps, ceilDivide(groups, blocks * warps), edges};
  const auto kernel = bytes <= Policy::streamedBytes
                          ? reduceOrderedKernel<ROWS, Caching::stream, Policy, Source, Reducer>
                          : reduceOrderedKernel<ROWS, Caching::normal, Policy, Source, Reducer>;
  if (blocks == 1)
    launch(kernel, config, source, reducer, shape, GridScratch<Partial>{}, out);
  else
    launchJoined(kernel, config, source, reducer, shape, out, workspace);
}

template <class Policy, class Source, class Reducer>
void launchOrdered(const Source& source, std::size_t steps, unsigned edges, const Reducer& reducer,
                   const Destination<typename Reducer::Result>& out, const LaunchConfig& config,
                   Workspace* workspace) {
  constexpr int MOST = mostOrderedRows<Policy, Source>;
  const int rows = Policy::orderedRows(steps * Source::BYTES);
  if (rows >= 8)
    launchOrderedRows<MOST, Policy>(source, steps, edges, reducer, out, config, workspace);
  else if (rows >= 4)
    launchOrderedRows<smallerOf(4, MOST), Policy>(source, steps, edges, reducer, out, config, workspace);
  else
    launchOrderedRows<smallerOf(2, MOST), Policy>(source, steps, edges, reducer, out, config, workspace);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
