/// \file
/// Transposes a panel of a rectangular matrix and shuffles its segments on the way: the row shuffle.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
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

// One block fewer per multiprocessor than of the staged kernel: the runs need registers, too.
template <class Layout>
inline constexpr unsigned panelBlocks = largerOf(2U, RESIDENT_THREADS / Layout::BLOCK - 1);

template <class Layout, class E>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, panelBlocks<Layout>)
    transposePanelKernel(const PanelMove<E> move, const SegmentGrid grid, const StagedShape shape) {
  waitForPreviousKernel();
  const ColumnRun run = grid.run(move.panel, blockIdx.x / (shape.rowTiles * shape.colTiles));
  const PanelProblem<E> problem = panelProblem(move, grid, run);
  const StagedPiece piece = stagedPiece<Layout>(problem, shape);
  // Some runs are one column shorter than others.
  if (piece.firstCol >= problem.cols || piece.base + shape.halo >= problem.rows + shape.halo) return;
  transposePiece<Layout>(problem, shape, piece);
}

// `inEnd` is the end of the memory that holds the panel's rows or, on the way back, its segments.
template <class Tile, class E>
void launchTransposePanel(const PanelMove<E>& move, const SegmentGrid& grid, const E* inEnd, cudaStream_t stream) {
  using Layout = StagedLayout<Tile, E, E, Identity>;
  const ColumnRun longestRun{0, ceilDivide(grid.columns, grid.panels), 0};
  const PanelProblem<E> problem = panelProblem(move, grid, longestRun);
  // Runs begin at different offsets of the output. One shape serves all of them: that of the alignment which they have
  // in common.
  const std::size_t offsets = move.forward ? grid.height * sizeof(E) | grid.gap * sizeof(E) : sizeof(E);
  PanelProblem<E> anyRun = problem;
  anyRun.out = reinterpret_cast<E*>(reinterpret_cast<std::uintptr_t>(problem.out) | offsets);
  StagedShape shape = stagedShape<Layout>(anyRun);
  shape.inEnd = reinterpret_cast<std::uintptr_t>(inEnd);
  shape.rowTiles = static_cast<unsigned>(ceilDivide(problem.rows + shape.halo, Layout::ROWS));
  shape.colTiles = static_cast<unsigned>(ceilDivide(problem.cols, Layout::COLS));
  LaunchConfig config = gridConfig(Layout::BLOCK, std::size_t{grid.panels} * shape.rowTiles * shape.colTiles, stream,
                                   "gpuopt::transposeInPlace");
  config.sharedBytes = ceilDivide(rowPlace<Layout>(shape, Layout::ROWS + shape.halo) + SECTOR, 16) * 16;
  launch(transposePanelKernel<Layout, E>, config, move, grid, shape);
}

GPUOPT_DETAIL_END
