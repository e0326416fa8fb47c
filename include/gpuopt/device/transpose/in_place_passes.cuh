/// \file
/// The passes of a rectangular matrix that is transposed in place. The row shuffle transposes a panel and shuffles its
/// segments on the way; the column shuffle permutes the segments of each group of columns through shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
#include <gpuopt/device/transpose/in_place_sizes.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/staged.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

template <class E>
using PanelProblem = TransposeProblem<E, E, Identity>;

// From rows to segments, or back.
template <class E>
struct PanelMove {
  E* rows;
  E* segments;
  std::size_t length;  // of a row of the result
  unsigned panel;
  bool forward;
};

// A run of columns is a transposition of its own.
template <class E>
__host__ __device__ inline PanelProblem<E> panelProblem(const PanelMove<E>& move, const SegmentGrid& grid,
                                                        const ColumnRun& run) {
  E* const rows = move.rows + run.firstColumn;
  E* const segments = move.segments + run.offset;
  if (move.forward) return {rows, segments, grid.height, run.count, grid.columns, move.length, 1, 0, 0, Identity{}};
  return {segments, rows, run.count, grid.height, move.length, grid.columns, 1, 0, 0, Identity{}};
}

// One block fewer per multiprocessor than of the staged kernel: the runs need registers, too. But two, where they fit.
template <class Layout>
inline constexpr unsigned panelBlocks = smallerOf(RESIDENT_THREADS / Layout::BLOCK,
                                                  largerOf(2U, RESIDENT_THREADS / Layout::BLOCK - 1));

template <class Layout, class E>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, panelBlocks<Layout>)
    transposePanelKernel(const PanelMove<E> move, const SegmentGrid grid, const StagedArgs shape) {
  waitForPreviousKernel();
  const ColumnRun run = grid.run(move.panel, blockIdx.x / (shape.rowTiles * shape.colTiles));
  const PanelProblem<E> problem = panelProblem(move, grid, run);
  const StagedRegion region = stagedRegion<Layout>(problem, shape);
  // Some runs are one column shorter than others.
  if (region.firstCol >= problem.cols || region.base + shape.halo >= problem.rows + shape.halo) return;
  transposeRegion<Layout>(problem, shape, region);
}

// `inEnd` is the end of the memory that holds the panel's rows or, on the way back, its segments.
template <class Tile, class E>
void launchTransposePanel(const PanelMove<E>& move, const SegmentGrid& grid, const E* inEnd, cudaStream_t stream) {
  using Layout = StagedLayout<Tile, E, E, Identity>;
  const ColumnRun longestRun{0, ceilDivide(grid.columns, grid.panels), 0};
  PanelProblem<E> problem = panelProblem(move, grid, longestRun);
  // Runs begin at different offsets of the output. One shape serves all of them: that of the alignment which they have
  // in common.
  const std::size_t offsets = move.forward ? grid.height * sizeof(E) | grid.gap * sizeof(E) : sizeof(E);
  problem.out = reinterpret_cast<E*>(reinterpret_cast<std::uintptr_t>(problem.out) | offsets);
  StagedArgs shape = stagedArgs<Layout>(problem);
  shape.inEnd = reinterpret_cast<std::uintptr_t>(inEnd);
  LaunchConfig config = gridConfig(Layout::BLOCK, std::size_t{grid.panels} * shape.rowTiles * shape.colTiles, stream,
                                   "gpuopt::transposeInPlace");
  config.sharedBytes = stagedBytes<Layout>(shape);
  launch(transposePanelKernel<Layout, E>, config, move, grid, shape);
}

// Segments are cut into regions. A block moves the same region of all segments of a group.
struct ColumnShuffle {
  unsigned elementBytes;
  unsigned regions;      // of a segment
  unsigned regionBytes;  // the last one may have fewer
  unsigned laneBits;     // 2^laneBits lanes move a region
  bool forward;          // from the shuffled rows to the transposed matrix, or back
};

// Where segment `number` of a group comes from and where it goes. `offset` is that of the region.
__device__ inline SegmentMove segmentMove(const SegmentGrid& grid, const ColumnShuffle& shuffle, unsigned firstColumn,
                                          unsigned number, std::size_t offset) {
  const std::size_t index = std::size_t{number / grid.group} * grid.columns + firstColumn + number % grid.group;
  const auto panel = static_cast<unsigned>(index % grid.panels);
  const std::size_t shuffled =
      std::size_t{grid.rowOf(panel)} * grid.columns + firstColumn + index / grid.panels / grid.groups;
  const std::size_t resultByte = grid.offsetOf(index) * shuffle.elementBytes + offset;
  const std::size_t shuffledByte = grid.offsetOf(shuffled) * shuffle.elementBytes + offset;
  return shuffle.forward ? SegmentMove{shuffledByte, resultByte} : SegmentMove{resultByte, shuffledByte};
}

// Regions are moved by words of type W. If segments are only aligned to ALIGNMENT < sizeof(W), the words are those of
// the destination, and a region touches one more of them.
template <class W, unsigned ALIGNMENT>
struct RegionWords {
  static constexpr bool UNALIGNED = ALIGNMENT < sizeof(W);
  static constexpr unsigned EXTRA_BYTES = UNALIGNED ? sizeof(W) : 0;
  static constexpr unsigned LOADS_IN_FLIGHT = sizeof(W) == 16 ? 4 : 8;  // of a thread

  static __device__ bool isInside(const SegmentMove& move, unsigned bytes, const ByteRange& matrix) {
    return !UNALIGNED || detail::isInside(matrix.begin + move.from - 4, bytes + 16, matrix);
  }

  template <bool INSIDE>
  static __device__ W load(const ByteRange& matrix, const SegmentMove& move, unsigned lane) {
    const std::uintptr_t address = matrix.begin + move.from + lane * sizeof(W);
    if constexpr (UNALIGNED)
      return loadWord<ALIGNMENT, INSIDE>(address - (matrix.begin + move.to) % sizeof(W), matrix);
    else
      return *reinterpret_cast<const W*>(address);
  }

  static __device__ void store(const ByteRange& matrix, const SegmentMove& move, unsigned lane, unsigned bytes,
                               const W& word) {
    const std::uintptr_t address = matrix.begin + move.to;
    constexpr unsigned WORD = sizeof(W);
    if constexpr (UNALIGNED)
      storeWord<ALIGNMENT>(address, lane * WORD - static_cast<unsigned>(address % WORD), bytes, word);
    else
      reinterpret_cast<W*>(address)[lane] = word;
  }
};

// Loads a thread's word of every `step`-th segment from `first` on into shared memory.
template <class Region, bool INSIDE, class W>
__device__ inline void loadSegments(const ByteRange& matrix, const SegmentMove* moves, unsigned count, unsigned first,
                                    unsigned step, unsigned lane, unsigned laneBits, W* words) {
  constexpr unsigned LOADS_IN_FLIGHT = Region::LOADS_IN_FLIGHT;
#pragma unroll 1
  for (unsigned i = first; i < count; i += LOADS_IN_FLIGHT * step) {
    W values[LOADS_IN_FLIGHT];
#pragma unroll
    for (unsigned k = 0; k < LOADS_IN_FLIGHT; ++k)
      if (i + k * step < count) values[k] = Region::template load<INSIDE>(matrix, moves[i + k * step], lane);
#pragma unroll
    for (unsigned k = 0; k < LOADS_IN_FLIGHT; ++k)
      if (i + k * step < count) words[((i + k * step) << laneBits) + lane] = values[k];
  }
}

// One block a group and region: all of it is in shared memory before the first word is stored.
template <class W, unsigned ALIGNMENT>
GPUOPT_KERNEL void __launch_bounds__(columnShuffleThreads)
    shuffleColumnsKernel(const ByteRange matrix, const SegmentGrid grid, const ColumnShuffle shuffle) {
  using Region = RegionWords<W, ALIGNMENT>;
  overlapPreviousKernel();
  const unsigned count = grid.panels * grid.group;
  auto* const moves = dynamicShared<SegmentMove>();
  auto* const words = reinterpret_cast<W*>(moves + count);
  const std::size_t offset = std::size_t{blockIdx.x % shuffle.regions} * shuffle.regionBytes;
  const std::size_t left = grid.height * shuffle.elementBytes - offset;
  const unsigned bytes = left < shuffle.regionBytes ? static_cast<unsigned>(left) : shuffle.regionBytes;
  bool inside = true;
  for (unsigned i = threadIdx.x; i < count; i += columnShuffleThreads) {
    moves[i] = segmentMove(grid, shuffle, blockIdx.x / shuffle.regions * grid.group, i, offset);
    inside = inside && Region::isInside(moves[i], bytes, matrix);
  }
  const bool allInside = __syncthreads_and(inside) != 0;

  const unsigned lane = threadIdx.x & ((1U << shuffle.laneBits) - 1);
  const bool hasWord = lane * sizeof(W) < bytes + Region::EXTRA_BYTES;
  const unsigned first = hasWord ? threadIdx.x >> shuffle.laneBits : count;
  const unsigned step = columnShuffleThreads >> shuffle.laneBits;
  if (allInside)
    loadSegments<Region, true>(matrix, moves, count, first, step, lane, shuffle.laneBits, words);
  else
    loadSegments<Region, false>(matrix, moves, count, first, step, lane, shuffle.laneBits, words);
  __syncthreads();
#pragma unroll 4
  for (unsigned i = first; i < count; i += step)
    Region::store(matrix, moves[i], lane, bytes, words[(i << shuffle.laneBits) + lane]);
}

// Moves the segments of a matrix by the words that the plan has chosen.
template <class E>
void shuffleColumns(E* begin, E* end, const SegmentGrid& grid, const ColumnShuffleSizes& sizes, bool forward,
                    cudaStream_t stream) {
  const auto kernel = sizes.alignment == 16  ? shuffleColumnsKernel<uint4, 16>
                      : sizes.alignment == 4 ? shuffleColumnsKernel<unsigned, 4>
                                             : shuffleColumnsKernel<unsigned, wordAlignment<E>>;
  LaunchConfig config = gridConfig(columnShuffleThreads, sizes.blocks, stream, "gpuopt::transposeInPlace");
  config.sharedBytes = sizes.sharedBytes;
  launch(kernel, config, ByteRange{reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end)},
         grid, ColumnShuffle{sizeof(E), sizes.regions, sizes.regionBytes, sizes.laneBits, forward});
}

GPUOPT_DETAIL_END
