/// \file
/// How the blocks of a keyed reduction divide the steps of a source (device/reduce/source.cuh) among them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/keyed/tuning.cuh>
#include <gpuopt/device/reduce/source.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The steps [first, end) of a source, and the number of elements that belong to no step of it: those before the head,
// and those from step `end` on.
struct StepArgs {
  std::size_t first;
  std::size_t end;
  unsigned edges;
};

// Whether the next steps load while those before are counted, which takes registers for both. Not where those are many:
// steps of pairs have up to 144 bytes, and what is loaded by bytes or half-words takes a register for each.
template <class Source>
inline constexpr bool prefetchesSteps = Source::BYTES <= keyedLoadBytes;
template <class T, class U, class F>
inline constexpr bool prefetchesSteps<PairSource<T, U, F, false>> = alignof(T) >= 4 && alignof(U) >= 4;
template <class T, class F>
inline constexpr bool prefetchesSteps<ArraySource<T, F, false>> = alignof(T) >= 4;
template <class It, class F>
inline constexpr bool prefetchesSteps<IteratorSource<It, F>> =
    alignof(typename IteratorSource<It, F>::Element) >= 4 || IteratorSource<It, F>::BYTES <= 4;

// Steps in flight per thread.
template <class Source>
inline constexpr int keyedItems =
    clampTo(static_cast<int>((prefetchesSteps<Source> ? keyedLoadBytes : keyedLoadBytes / 2) / Source::BYTES), 1, 4);

// Gives all values of a step to `take`.
template <class Source, class Take>
__device__ inline void takeStep(const Source& source, const typename Source::Step& step, const Take& take) {
  typename Source::Value values[Source::STEP];
  source.values(step, values);
  take(values);
}

template <int ITEMS, class Source>
__device__ inline void loadTile(const Source& source, typename Source::Step (&steps)[ITEMS], std::size_t first) {
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i) source.template load<Caching::stream>(steps[i], first + i * blockDim.x);
}

// The edge elements, one for each of the first threads of a block.
template <class Source, class Take>
__device__ inline void takeEdge(const Source& source, const StepArgs& shape, const Take& take) {
  if (threadIdx.x >= shape.edges) return;
  const std::size_t index = threadIdx.x < source.head ? threadIdx.x : threadIdx.x + shape.end * Source::STEP;
  const typename Source::Value edge[1] = {source.at(index)};
  take(edge);
}

// All threads of `blocks` blocks give the values of every step to take(values), an array: full tiles in turn, the next
// one already loading, then single steps. Each block calls endTile() after a tile, and before the edge elements, which
// are the first block's. All lanes of a warp take the steps of tiles together; the others go to takeRest(values).
template <int ITEMS, class Source, class Take, class EndTile, class TakeRest>
__device__ inline void takeSteps(const Source& source, const StepArgs& shape, std::size_t block, std::size_t blocks,
                                 const Take& take, const EndTile& endTile, const TakeRest& takeRest) {
  using Step = typename Source::Step;
  const std::size_t tileSteps = std::size_t{blockDim.x} * ITEMS;
  const std::size_t tiles = (shape.end - shape.first) / tileSteps;
  const std::size_t own = shape.first + threadIdx.x;
  Step steps[ITEMS], next[ITEMS];
  constexpr bool PREFETCHES = prefetchesSteps<Source>;
  if (PREFETCHES && block < tiles) loadTile(source, steps, own + block * tileSteps);
  for (std::size_t tile = block; tile < tiles; tile += blocks) {
    if (!PREFETCHES) loadTile(source, steps, own + tile * tileSteps);
    if (PREFETCHES && tile + blocks < tiles) loadTile(source, next, own + (tile + blocks) * tileSteps);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) takeStep(source, steps[i], take);
    endTile();
#pragma unroll
    for (int i = 0; PREFETCHES && i < ITEMS; ++i) steps[i] = next[i];
  }
  for (std::size_t s = own + tiles * tileSteps + block * blockDim.x; s < shape.end; s += blocks * blockDim.x) {
    source.template load<Caching::stream>(steps[0], s);
    takeStep(source, steps[0], takeRest);
  }
  endTile();
  if (block == 0) takeEdge(source, shape, takeRest);
}

template <int ITEMS, class Source, class Take, class EndTile>
__device__ inline void takeSteps(const Source& source, const StepArgs& shape, std::size_t block, std::size_t blocks,
                                 const Take& take, const EndTile& endTile) {
  takeSteps<ITEMS>(source, shape, block, blocks, take, endTile, take);
}

// What endTile() is where tiles need no end.
struct NoTileEnd {
  __device__ void operator()() const {}
};

GPUOPT_DETAIL_END
