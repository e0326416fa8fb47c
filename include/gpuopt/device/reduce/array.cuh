/// \file
/// The kernels that reduce an array, with blocks of one tile each or blocks that loop over tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/steps.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Steps of a thread where each block takes one tile.
template <class Policy, class Source>
inline constexpr int tileItems = clampTo(Policy::TILE_ELEMENTS / Source::STEP, 1, itemsPerThread<Policy, Source>);

// One tile per block, of which each warp takes a contiguous share.
struct ReduceTileArgs {
  unsigned steps;      // of the input
  unsigned warpShare;  // steps of a warp
  unsigned edges;      // elements outside full steps
};

// Small inputs. Launch and memory latency are all the time there is, and a cold cache has to load the code itself:
// hence no loop, and a separate kernel for a single block.
template <bool IS_ONE_BLOCK, class Policy, class Source, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1)
    reduceTileKernel(const Source source, const Reducer reducer, const ReduceTileArgs args,
                     const GridScratch<typename Reducer::Partial> scratch, const Out out) {
  overlapPreviousKernel();

  const auto neutral = reducer.neutral();
  const auto op = reducer.combiner();
  auto partial = neutral;
  const EdgeElement<Source, Reducer> edge(source, args.steps, args.edges);
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * args.warpShare;
  const unsigned end = first + args.warpShare < args.steps ? first + args.warpShare : args.steps;
  addStepsBelow<Caching::stream, 32, tileItems<Policy, Source>>(partial, source, reducer, first + threadIdx.x % 32,
                                                                end);
  edge.addTo(partial, reducer);

  partial = reduceWarps<Policy::BLOCK>(partial, neutral, op);
  bool holdsResult = threadIdx.x == 0;
  if constexpr (!IS_ONE_BLOCK) holdsResult = gridReduce<Policy::BLOCK>(partial, neutral, op, scratch);
  if (holdsResult) storeResult(out, reducer.finish(partial));
}

// A fixed number of blocks that loop over tiles of BLOCK x ITEMS steps.
struct ReduceLoopArgs {
  std::size_t steps;   // of the input
  unsigned edges;      // elements outside full steps
  unsigned perBlock;   // tiles of every block
  unsigned remainder;  // blocks with one tile more
  bool streams;        // blocks take tiles in turn, loads bypass L1; else each block has one range
};

template <Caching CACHING, int BLOCK, int ITEMS, class Source, class Reducer>
__device__ inline void addTiles(typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                const ReduceLoopArgs& args) {
  constexpr unsigned TILE = BLOCK * ITEMS;
  constexpr bool inTurn = CACHING == Caching::stream;
  const unsigned tiles = args.perBlock + (blockIdx.x < args.remainder ? 1 : 0);
  const unsigned before = blockIdx.x < args.remainder ? blockIdx.x : args.remainder;
  std::size_t first = TILE * (inTurn ? blockIdx.x : blockIdx.x * std::size_t{args.perBlock} + before);
  const std::size_t stride = TILE * (inTurn ? std::size_t{gridDim.x} : 1);
  for (unsigned tile = 0; tile < tiles; ++tile, first += stride) {
    if (first + TILE <= args.steps)
      addSteps<CACHING, BLOCK, ITEMS>(partial, source, reducer, first + threadIdx.x);
    else
      addStepsBelow<CACHING, BLOCK, ITEMS>(partial, source, reducer, first + threadIdx.x, args.steps);
  }
}

template <class Policy, class Source, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, minBlocksPerSm<Policy, typename Reducer::Partial>)
    reduceLoopKernel(const Source source, const Reducer reducer, const ReduceLoopArgs args,
                     const GridScratch<typename Reducer::Partial> scratch, const Out out) {
  constexpr int ITEMS = itemsPerThread<Policy, Source>;
  overlapPreviousKernel();
  const auto neutral = reducer.neutral();
  const auto op = reducer.combiner();
  auto partial = neutral;
  const EdgeElement<Source, Reducer> edge(source, args.steps, args.edges);
  if (args.streams)
    addTiles<Caching::stream, Policy::BLOCK, ITEMS>(partial, source, reducer, args);
  else
    addTiles<Caching::normal, Policy::BLOCK, ITEMS>(partial, source, reducer, args);
  edge.addTo(partial, reducer);
  partial = reduceWarps<Policy::BLOCK>(partial, neutral, op);
  if (gridReduce<Policy::BLOCK>(partial, neutral, op, scratch)) storeResult(out, reducer.finish(partial));
}

GPUOPT_DETAIL_END
