/// \file
/// The launch of reduceColumns: how a matrix is divided into tiles and splits.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/column_tiles.cuh>
#include <gpuopt/device/reduce/reducer.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Threads of a block, whose partial results fit into shared memory.
template <class Policy, class Source, class Partial>
constexpr int columnsBlock() {
  int block = Policy::BLOCK;
  while (block > 32 && block * Source::STEP * sizeof(Partial) > Policy::sharedBytes) block /= 2;
  return block;
}

// Rows until one begins at the same distance from a 16-byte boundary as the first.
template <class Source>
unsigned rowPeriod(std::size_t ld) {
  return static_cast<unsigned>(Source::STEP / greatestCommonDivisor(ld, Source::STEP));
}

// Steps side by side in a tile.
template <class Policy, std::size_t STEP>
constexpr unsigned columnTileSteps(bool isShifted) {
  if (isShifted) return smallerOf(Policy::shiftedTileSteps, Policy::shiftedTileColumns / unsigned{STEP});
  return STEP == 1 ? Policy::elementTileSteps : Policy::tileSteps;
}

// Tiles side by side, the last perhaps narrower.
template <class Policy, class Source, class Partial>
ColumnTiles columnTiles(const Source& source, const MatrixShape& matrix) {
  constexpr unsigned BLOCK = columnsBlock<Policy, Source, Partial>();
  constexpr std::size_t STEP = Source::STEP;
  ColumnTiles shape{};
  shape.rows = matrix.rows;
  shape.cols = matrix.cols;
  shape.ld = matrix.ld;
  shape.misalignment = STEP - source.head;
  shape.rowElements = matrix.cols;
  shape.rowPeriod = rowPeriod<Source>(matrix.ld);
  const bool isShifted = source.head > 0 || shape.rowPeriod > 1;
  shape.hasEdges = isShifted || matrix.cols % STEP != 0;
  const std::size_t width = smallerOf(columnTileSteps<Policy, STEP>(isShifted), BLOCK / shape.rowPeriod);
  // If there are few rows, fewer threads one below the other and more side by side keep all loads in flight.
  const std::size_t batches = matrix.rows / itemsFor<Policy::VECTORS, Source>;
  const std::size_t rowThreads =
      clampTo(batches / shape.rowPeriod * shape.rowPeriod, std::size_t{shape.rowPeriod}, BLOCK / width);
  const std::size_t rowSteps = ceilDivide(matrix.cols, STEP), most = BLOCK / rowThreads - isShifted;
  const std::size_t steps = isShifted ? ceilDivide(rowSteps, ceilDivide(rowSteps, most)) : smallerOf(rowSteps, most);
  shape.tiles = static_cast<unsigned>(ceilDivide(rowSteps, steps));
  shape.tileSteps = static_cast<unsigned>(steps + isShifted);
  shape.tileElements = static_cast<unsigned>(steps * STEP);
  shape.tileColumns = shape.tileElements;
  return shape;
}

// One tile of a narrow contiguous matrix, in which several rows count as one.
template <class Source>
ColumnTiles flatColumnTiles(const Source& source, const MatrixShape& matrix) {
  ColumnTiles shape{};
  shape.isFlat = true;
  shape.cols = matrix.cols;
  shape.elements = matrix.rows * matrix.cols;
  shape.rowElements = leastCommonMultiple(matrix.cols, Source::STEP);
  shape.ld = shape.rowElements;
  shape.misalignment = Source::STEP;
  shape.rows = (shape.elements - source.head) / shape.rowElements;
  shape.tileElements = static_cast<unsigned>(shape.rowElements);
  shape.tileSteps = shape.tileElements / Source::STEP;
  shape.tiles = 1;
  shape.rowPeriod = 1;
  shape.tileColumns = static_cast<unsigned>(matrix.cols);
  return shape;
}

// Splits the rows among blocks, for as many blocks as the policy and the scratch memory allow.
template <class Policy, class Partial>
void splitRows(ColumnTiles& shape, int items) {
  const std::size_t batchRows = std::size_t{shape.rowThreads} * static_cast<unsigned>(items);
  const std::size_t wanted =
      smallerOf(smallerOf(Policy::blocks / shape.tiles, Workspace::counterCount / 2 / shape.tiles),
                smallerOf(ceilDivide(shape.rows, batchRows), Workspace::capacity / sizeof(Partial) / shape.cols));
  shape.splitRows = largerOf(ceilDivide(shape.rows, largerOf(wanted, std::size_t{1})), std::size_t{1});
  shape.splits = static_cast<unsigned>(largerOf(ceilDivide(shape.rows, shape.splitRows), std::size_t{1}));
  shape.groupSplits = 1;
  if (std::size_t{shape.splits} * shape.tileColumns > Policy::groupedResults)
    while (shape.groupSplits * shape.groupSplits < shape.splits) ++shape.groupSplits;
}

template <class Policy, class Source, class Reducer, class Out>
void launchColumnTiles(const ReduceCall& call, const Reducer& reducer, const Source& source, ColumnTiles shape,
                       const Out& out) {
  using Partial = typename Reducer::Partial;
  constexpr int BLOCK = columnsBlock<Policy, Source, Partial>();
  shape.rowThreads = BLOCK / shape.tileSteps / shape.rowPeriod * shape.rowPeriod;
  splitRows<Policy, Partial>(shape, itemsFor<Policy::VECTORS, Source>);
  const std::size_t blocks = std::size_t{shape.tiles} * shape.splits;
  launchGrid(call, {BLOCK, blocks, shape.splits > 1}, columnsKernel<BLOCK, Policy, Source, Reducer, Out>, source,
             reducer, shape, out);
}

// Whether to read unaligned rows by vectors. The block needs threads for the edge columns of rowPeriod rows.
template <class Policy, class Source, std::size_t BLOCK>
bool readsShiftedSteps(const MatrixShape& matrix) {
  const std::size_t period = rowPeriod<Source>(matrix.ld), edgeColumns = 2 * Source::STEP;
  const std::size_t narrowest = largerOf(Policy::shiftedColumns, edgeColumns);
  return period <= matrix.rows && matrix.cols >= narrowest && period * edgeColumns <= BLOCK;
}

template <class Policy, class View, class Reducer, class Out>
void launchColumnsOf(const ReduceCall& call, const Reducer& reducer, const View& view, const MatrixShape& matrix,
                     const Out& out) {
  using Partial = typename Reducer::Partial;
  using Source = typename View::Source;
  const auto [rows, cols, ld] = matrix;
  constexpr std::size_t STEP = Source::STEP;
  constexpr std::size_t BLOCK = columnsBlock<Policy, Source, Partial>();
  const bool isAligned = view.hasAlignedRows(matrix);
  const std::size_t widest = isAligned ? Policy::tileSteps * STEP : Policy::flatColumns;
  if (ld == cols && leastCommonMultiple(cols, STEP) / STEP <= BLOCK && cols <= widest) {
    const auto source = view.flat(rows * cols);
    launchColumnTiles<Policy>(call, reducer, source, flatColumnTiles(source, matrix), out);
  } else if (isAligned || readsShiftedSteps<Policy, Source, BLOCK>(matrix)) {
    const auto source = view.stepsFromBoundary();
    launchColumnTiles<Policy>(call, reducer, source, columnTiles<Policy, Source, Partial>(source, matrix), out);
  } else {
    const auto source = view.elementwise().steps();
    using Elements = std::decay_t<decltype(source)>;
    launchColumnTiles<Policy>(call, reducer, source, columnTiles<Policy, Elements, Partial>(source, matrix), out);
  }
}

// Reduces f of the elements of each column. A warp that reads vectors needs shared memory for a partial result of each
// of their elements; where these are too large, it reads elements.
template <class Policy, class It, class F, class Reducer, class Out>
void launchColumns(const ReduceCall& call, const Reducer& reducer, It in, const F& f, const MatrixShape& matrix,
                   const Out& results) {
  [[maybe_unused]] const CallRange range(call.function);
  constexpr std::size_t WARP_PARTIALS = 32 * sizeof(typename Reducer::Partial);
  static_assert(WARP_PARTIALS <= Policy::sharedBytes,
                "gpuopt: the accumulator of a column is too large: 32 of them must fit into 32 KiB");
  const auto out = boxedOutput(results);
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>()) {
    requireMatrix(in, matrix, out, matrix.cols, call.function);
    if (matrix.cols == 0) return;
    requireResult(reducer, matrix.rows, "rows", call.function);
    const auto view = viewOf(in, f);
    const auto launchWith = [&](const auto& columnReducer) {
      if constexpr (WARP_PARTIALS * std::decay_t<decltype(view)>::Source::STEP <= Policy::sharedBytes)
        launchColumnsOf<Policy>(call, columnReducer, view, matrix, out);
      else
        launchColumnsOf<Policy>(call, columnReducer, view.elementwise(), matrix, out);
    };
    if (matrix.rows < mostShortElements)
      launchWith(withShortIndices(reducer));
    else
      launchWith(reducer);
  }
}

GPUOPT_DETAIL_END
