/// \file
/// The device-wide reduction: its policies, the kernels for small and for large inputs, and their launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/ordered.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/device/reduce/source.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// How a device-wide reduction is cut up. Pass a type derived from this one as template argument to change a
/// value. Every choice depends on the number of bytes alone and not on the device, so the order of operations
/// is the same everywhere.
struct ReducePolicy {
  static constexpr int BLOCK = 512;         ///< most threads a block
  static constexpr int VECTORS = 8;         ///< 16-byte loads in flight a thread
  static constexpr bool BY_LENGTH = false;  ///< whether the order is the same at every alignment of the input
  static constexpr bool IN_ORDER = false;   ///< whether the order is that of the input

  /// Most elements that a thread takes of a tile where every block has one: elements are instructions, too,
  /// and in a cold cache those come from memory. With twice as many, halves and bytes took 3 to 12 % longer
  /// up to 2 MiB (H200, 2026-11-21, replayed graph).
  static constexpr int TILE_ELEMENTS = 32;
  /// Up to here every block takes one tile, if they are not more than BLOCK; above, blocks loop over tiles.
  static constexpr std::size_t tileBytes = 16 << 20;
  /// Up to here loads leave the caches to others; above, plain loads of contiguous chunks are 3 to 5 %
  /// faster.
  static constexpr std::size_t streamedBytes = std::size_t{384} << 20;

  /// Threads of a block where every block takes one tile of an input of so many bytes, and one does not
  /// suffice (H200, 2026-11-21: what was fastest of 128, 256 and 512; a cluster of eight blocks took 0.2 us
  /// longer).
  static constexpr int tileThreads(std::size_t bytes) {
    return bytes <= (256 << 10) ? 128 : bytes <= (4 << 20) ? 256 : 512;
  }
  /// Blocks that loop over tiles: the same on every device, for the order's sake, and two for each of an
  /// H200's 132 multiprocessors (2026-11-21: 132 to 1056 blocks differ by 2 %; 256 divides inputs of 2^k
  /// bytes evenly).
  static constexpr unsigned loopBlocks(std::size_t bytes) { return bytes <= streamedBytes ? 256 : 264; }
};

/// The policy of results that depend on n and the types alone: ReducePolicy's also depend on where the input
/// lies relative to a 128-byte boundary. Misaligned input is read element by element then.
struct ByLength : ReducePolicy {
  static constexpr bool BY_LENGTH = true;  ///< the order is the same at every alignment of the input
};

/// The policy of operations that are associative but not commutative: operands are combined in the order of
/// the input.
struct InOrder : ByLength {
  static constexpr bool IN_ORDER = true;  ///< the order is that of the input
  /// Rows of 32 steps that a warp has in flight, 2, 4 or 8: fewer leave small inputs to more warps (H200,
  /// 2026-11-21: 5.3 us instead of 6.5 for 1 MiB, 10.8 instead of 11.4 for 16 MiB).
  static constexpr int orderedRows(std::size_t bytes) {
    return bytes <= (4 << 20) ? 2 : bytes <= (16 << 20) ? 4 : 8;
  }
};

namespace detail {

// Whether any of the loaded values changes the partial result, in one comparison for all of them.
template <class Source, class Reducer, int ITEMS>
__device__ inline bool mayChange(const typename Reducer::Partial& partial, const Source& source,
                                 const Reducer& reducer, const typename Source::Step (&steps)[ITEMS]) {
  auto most = partial.value;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    typename Source::Value values[Source::STEP];
    source.values(steps[i], values);
    most = reducer.moreExtreme(most, values);
  }
  return reducer.beats(most, partial.value);
}

// ITEMS steps of one thread, STRIDE apart: all loads first, then the arithmetic.
template <Caching CACHING, int STRIDE, int ITEMS, class Source, class Reducer>
__device__ inline void addSteps(typename Reducer::Partial& partial, const Source& source,
                                const Reducer& reducer, std::size_t first) {
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) source.template load<CACHING>(steps[i], first + i * STRIDE);
  if constexpr (Reducer::CHANGES_RARELY)
    if (!mayChange(partial, source, reducer, steps)) return;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    source.values(steps[i], values);
    reducer.add(partial, values, source.head + (first + i * STRIDE) * Source::STEP);
  }
}

// The same for those below `end`. The others load again what the thread loads anyway: predicated loads would
// be issued two at a time, each pair waiting for the last (0.6 us on an H200).
template <Caching CACHING, int STRIDE, int ITEMS, class Index, class Source, class Reducer>
__device__ inline void addStepsBelow(typename Reducer::Partial& partial, const Source& source,
                                     const Reducer& reducer, Index first, Index end) {
  if (first >= end) return;
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  const int count = static_cast<int>((end - first + STRIDE - 1) / STRIDE);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    source.template load<CACHING>(steps[i], first + (i < count ? i * STRIDE : 0));
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (i < count) {
      source.values(steps[i], values);
      reducer.add(partial, values, source.head + (std::size_t{first} + i * STRIDE) * Source::STEP);
    }
}

// The elements before the first and after the last whole step, one a thread of the last block. They are
// loaded before the steps and added after them.
template <class Source, class Reducer>
struct Edge {
  typename Source::Value values[1];
  std::size_t index;
  bool exists;

  __device__ Edge(const Source& source, std::size_t steps, unsigned edges)
      : exists(threadIdx.x < edges && blockIdx.x == gridDim.x - 1) {
    if (!exists) return;
    index = threadIdx.x < source.head ? threadIdx.x : threadIdx.x + steps * Source::STEP;
    values[0] = source.at(index);
  }

  __device__ void addTo(typename Reducer::Partial& partial, const Reducer& reducer) const {
    if (!exists) return;
    typename Reducer::Partial edge = reducer.empty();
    reducer.add(edge, values, index);
    partial = reducer.combiner()(partial, edge);
  }
};

// How the blocks of a grid come to one result.
enum class Join { oneBlock, lastBlock };

// Steps of a thread where every block takes one tile.
template <class Policy, class Source>
inline constexpr int tileItems = clampTo(Policy::TILE_ELEMENTS / Source::STEP, 1,
                                         itemsPerThread<Policy, Source>);

// How an input of up to Policy::tileBytes is dealt out: every warp has one contiguous share.
struct TileShape {
  unsigned steps;      // of the input
  unsigned warpShare;  // steps of a warp
  unsigned edges;      // elements that belong to no step
};

// Small inputs: one tile a block. Launch and memory latency are all there is, and in a cold cache the code
// itself has to come from memory: it is short, without a loop, and a kernel of its own for each way to join.
template <Join JOIN, class Policy, class Source, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1)
    reduceTileKernel(const Source source, const Reducer reducer, const TileShape shape,
                     const GridScratch<typename Reducer::Partial> scratch,
                     const Destination<typename Reducer::Result> out) {
  overlapPreviousKernel();

  const auto none = reducer.empty();
  const auto op = reducer.combiner();
  auto partial = none;
  const Edge<Source, Reducer> edge(source, shape.steps, shape.edges);
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * shape.warpShare;
  const unsigned end = first + shape.warpShare < shape.steps ? first + shape.warpShare : shape.steps;
  addStepsBelow<Caching::stream, 32, tileItems<Policy, Source>>(partial, source, reducer,
                                                                first + threadIdx.x % 32, end);
  edge.addTo(partial, reducer);

  partial = reduceWarps<Policy::BLOCK>(partial, none, op);
  bool holdsAll = threadIdx.x == 0;
  if constexpr (JOIN == Join::lastBlock) holdsAll = joinGrid<Policy::BLOCK>(partial, none, op, scratch);
  if (holdsAll) storeResult(out, reducer.finish(partial));
}

// How a large input is dealt out: tiles of BLOCK x ITEMS steps.
struct LoopShape {
  std::size_t steps;   // of the input
  unsigned edges;      // elements that belong to no step
  unsigned perBlock;   // tiles of every block
  unsigned remainder;  // blocks that take one more
  bool streams;        // tiles are dealt out in turn and loads spare the caches; otherwise each block has a
                       // contiguous chunk
};

template <Caching CACHING, int BLOCK, int ITEMS, class Source, class Reducer>
__device__ inline void addTiles(typename Reducer::Partial& partial, const Source& source,
                                const Reducer& reducer, const LoopShape& shape) {
  constexpr unsigned TILE = BLOCK * ITEMS;
  constexpr bool inTurn = CACHING == Caching::stream;
  const unsigned tiles = shape.perBlock + (blockIdx.x < shape.remainder ? 1 : 0);
  const unsigned before = blockIdx.x < shape.remainder ? blockIdx.x : shape.remainder;
  std::size_t first = TILE * (inTurn ? blockIdx.x : blockIdx.x * std::size_t{shape.perBlock} + before);
  const std::size_t stride = TILE * (inTurn ? std::size_t{gridDim.x} : 1);
  for (unsigned tile = 0; tile < tiles; ++tile, first += stride) {
    if (first + TILE <= shape.steps)
      addSteps<CACHING, BLOCK, ITEMS>(partial, source, reducer, first + threadIdx.x);
    else
      addStepsBelow<CACHING, BLOCK, ITEMS>(partial, source, reducer, first + threadIdx.x, shape.steps);
  }
}

// Large inputs: a fixed number of blocks loop over tiles.
template <class Policy, class Source, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, blocksAtOnce<Policy, typename Reducer::Partial>)
    reduceLoopKernel(const Source source, const Reducer reducer, const LoopShape shape,
                     const GridScratch<typename Reducer::Partial> scratch,
                     const Destination<typename Reducer::Result> out) {
  constexpr int ITEMS = itemsPerThread<Policy, Source>;
  overlapPreviousKernel();
  const auto none = reducer.empty();
  const auto op = reducer.combiner();
  auto partial = none;
  const Edge<Source, Reducer> edge(source, shape.steps, shape.edges);
  if (shape.streams)
    addTiles<Caching::stream, Policy::BLOCK, ITEMS>(partial, source, reducer, shape);
  else
    addTiles<Caching::normal, Policy::BLOCK, ITEMS>(partial, source, reducer, shape);
  edge.addTo(partial, reducer);
  partial = reduceWarps<Policy::BLOCK>(partial, none, op);
  if (joinGrid<Policy::BLOCK>(partial, none, op, scratch)) storeResult(out, reducer.finish(partial));
}

template <class Policy, class Source, class Reducer>
void launchTiles(const Source& source, std::size_t steps, unsigned edges, const Reducer& reducer,
                 const Destination<typename Reducer::Result>& out, LaunchConfig config,
                 Workspace* workspace) {
  const std::size_t warps = std::size_t{config.grid.x} * config.block.x / 32;
  const TileShape shape{static_cast<unsigned>(steps),
                        static_cast<unsigned>(ceilDivide(ceilDivide(steps, warps), 32) * 32), edges};
  if (config.grid.x == 1)
    launch(reduceTileKernel<Join::oneBlock, Policy, Source, Reducer>, config, source, reducer, shape,
           GridScratch<typename Reducer::Partial>{}, out);
  else
    launchJoined(reduceTileKernel<Join::lastBlock, Policy, Source, Reducer>, config, source, reducer, shape,
                 out, workspace);
}

template <class Policy, class Source, class Reducer>
void launchLoop(const Source& source, std::size_t steps, unsigned edges, const Reducer& reducer,
                const Destination<typename Reducer::Result>& out, LaunchConfig config, Workspace* workspace) {
  const std::size_t bytes = steps * Source::BYTES;
  const std::size_t tiles = ceilDivide(steps, std::size_t{itemsPerThread<Policy, Source>} * Policy::BLOCK);
  const auto blocks = static_cast<unsigned>(
      smallerOf(std::size_t{Policy::loopBlocks(bytes)}, mostBlocks<typename Reducer::Partial>));
  config.block = dim3(Policy::BLOCK);
  config.grid = dim3(blocks);
  const LoopShape shape{steps, edges, static_cast<unsigned>(tiles / blocks),
                        static_cast<unsigned>(tiles % blocks), bytes <= Policy::streamedBytes};
  launchJoined(reduceLoopKernel<Policy, Source, Reducer>, config, source, reducer, shape, out, workspace);
}

template <class Policy, class Source, class Reducer>
void launchReduce(const Source& source, std::size_t n, const Reducer& reducer,
                  const Destination<typename Reducer::Result>& out, cudaStream_t stream,
                  Workspace* workspace) {
  static_assert(Policy::BLOCK % 32 == 0 && Policy::BLOCK >= 160 && Policy::BLOCK <= 1024,
                "gpuopt::ReducePolicy: BLOCK must be a multiple of 32 from 160 to 1024 (up to 142 elements "
                "belong to no step)");
  const std::size_t steps = (n - source.head) / Source::STEP;
  const auto edges = static_cast<unsigned>(n - steps * Source::STEP);
  LaunchConfig config;
  config.stream = stream;
  config.programmatic = true;
  if constexpr (Policy::IN_ORDER) {
    launchOrdered<Policy>(source, steps, edges, reducer, out, config, workspace);
  } else {
    constexpr std::size_t ITEMS = tileItems<Policy, Source>;
    const std::size_t bytes = steps * Source::BYTES;
    // One block has as many threads as have room for it, or up to 256 that take 16 elements each (H200,
    // 2026-11-21: 0.1 us less for 4096 floats or halves in a cold cache).
    const std::size_t some = smallerOf(ceilDivide(steps * Source::STEP, 16), std::size_t{256});
    const std::size_t wanted = largerOf(ceilDivide(steps, ITEMS), some);
    // No fewer than elements at the edges, of which each thread of the last block takes one.
    const std::size_t threads = largerOf(threadsFor<Policy>(wanted, bytes), ceilDivide(edges, 32) * 32);
    const std::size_t tiles = largerOf(ceilDivide(steps, ITEMS * threads), std::size_t{1});
    config.block = dim3(static_cast<unsigned>(threads));
    config.grid = dim3(static_cast<unsigned>(tiles));
    const std::size_t most = smallerOf(std::size_t{Policy::BLOCK}, mostBlocks<typename Reducer::Partial>);
    if (bytes <= Policy::tileBytes && tiles <= most)
      launchTiles<Policy>(source, steps, edges, reducer, out, config, workspace);
    else
      launchLoop<Policy>(source, steps, edges, reducer, out, config, workspace);
  }
}

}  // namespace detail

GPUOPT_NAMESPACE_END
