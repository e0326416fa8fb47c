/// \file
/// The kernels of reduceRows: groups of lanes, a warp, a block, or several blocks take a row.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/device/reduce/rows_plan.cuh>
#include <gpuopt/device/reduce/staged.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Short aligned rows. A warp reads 32 / lanes rows at a time, each by a group of lanes.
struct LaneRows {
  std::size_t rows;
  std::size_t ldSteps;  // from row to row
  unsigned rowSteps;    // of a row
  unsigned lanes;       // of a group, a power of two
  unsigned perGroup;    // rows that a group takes, one after another
};

// A lane's position in the rows of its warp. All groups of a warp finish their rows at the same time.
struct LaneRowCursor {
  unsigned row;      // of the group, counted from the warp's first one
  unsigned done;     // steps of the row that the group has finished
  std::size_t step;  // the lane's next one, counted from the start of the matrix

  __device__ bool exists(const LaneRows& shape, unsigned rows, unsigned lane) const {
    return row < rows && done + lane < shape.rowSteps;
  }
  __device__ bool endsRow(const LaneRows& shape) const { return done + shape.lanes >= shape.rowSteps; }

  __device__ void advance(const LaneRows& shape) {
    if (endsRow(shape)) {
      const unsigned setRows = 32 / shape.lanes;
      row += setRows;
      step += setRows * shape.ldSteps - done;
      done = 0;
    } else {
      step += shape.lanes;
      done += shape.lanes;
    }
  }
};

// Loads the lane's next ITEMS steps; `anyStep` in place of those that do not exist.
template <int ITEMS, class Source>
__device__ inline void loadRowSteps(typename Source::Step (&steps)[ITEMS], const Source& source, const LaneRows& shape,
                                    LaneRowCursor& cursor, unsigned rows, unsigned lane, std::size_t anyStep) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    source.template load<Caching::normal>(steps[i], cursor.exists(shape, rows, lane) ? cursor.step : anyStep);
    cursor.advance(shape);
  }
}

// Several sets of rows are in flight: loading runs ITEMS steps ahead of adding.
template <class Policy, class Source, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::SHORT_BLOCK, 1)
    laneRowsKernel(const Source source, const Reducer reducer, const LaneRows shape, const Out out) {
  using Partial = typename Reducer::Partial;
  constexpr int ITEMS = itemsFor<16 * Policy::VECTORS, Source>;
  overlapPreviousKernel();
  const auto op = reducer.combiner();
  const unsigned lane = threadIdx.x % shape.lanes;
  const unsigned warpRows = 32 / shape.lanes * shape.perGroup;
  const std::size_t firstRow = (blockIdx.x * std::size_t{Policy::SHORT_BLOCK / 32} + threadIdx.x / 32) * warpRows;
  if (firstRow >= shape.rows) return;
  const std::size_t left = shape.rows - firstRow;
  const unsigned rows = left < warpRows ? static_cast<unsigned>(left) : warpRows;

  const unsigned row = threadIdx.x % 32 / shape.lanes;
  LaneRowCursor loading{row, 0, (firstRow + row) * shape.ldSteps + lane};
  LaneRowCursor adding = loading;
  auto share = ShareOf<Reducer>::start(reducer);
  for (unsigned setRow = 0; setRow < rows;) {
    typename Source::Step steps[ITEMS];
    typename Source::Value values[Source::STEP];
    if (shape.rowSteps > 0) loadRowSteps(steps, source, shape, loading, rows, lane, firstRow * shape.ldSteps);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      if (adding.exists(shape, rows, lane)) {
        source.values(steps[i], values);
        reducer.add(share, values, std::size_t{adding.done + lane} * Source::STEP);
      }
      if (adding.endsRow(shape)) {
        const Partial partial = reduceLanes(ShareOf<Reducer>::close(reducer, share), op, shape.lanes);
        if (lane == 0 && adding.row < rows) storeOutput(out, firstRow + adding.row, reducer.finish(partial));
        share = ShareOf<Reducer>::start(reducer);
        setRow += 32 / shape.lanes;
      }
      adding.advance(shape);
    }
  }
}

// Short rows with small gaps or none, staged in shared memory together with the gaps.
struct StagedRows {
  std::size_t rows;
  unsigned cols;
  unsigned ld;
  unsigned tileRows;  // of a block
  unsigned lanes;     // that add up a row, a power of two
  bool isPadded;      // shared memory, against bank conflicts
};

template <class Policy, class View, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::SHORT_BLOCK, 1)
    stagedRowsKernel(const View view, const Reducer reducer, const StagedRows shape, const Out out) {
  using Partial = typename Reducer::Partial;
  using T = typename View::Element;
  constexpr int BLOCK = Policy::SHORT_BLOCK;
  __shared__ StagedStorage<T, Policy::stagedBytes / sizeof(T)> storage;
  overlapPreviousKernel();
  const StagedElements<T> staged(storage, shape.isPadded);
  const std::size_t firstRow = blockIdx.x * std::size_t{shape.tileRows};
  const std::size_t left = shape.rows - firstRow;
  const unsigned rows = left < shape.tileRows ? static_cast<unsigned>(left) : shape.tileRows;
  const unsigned origin = stageElements<BLOCK, itemsFor<16 * Policy::VECTORS, typename View::Source>>(
      staged, view.plain(), firstRow * shape.ld, (rows - 1) * shape.ld + shape.cols, threadIdx.x);
  __syncthreads();

  const auto op = reducer.combiner();
  const unsigned lane = threadIdx.x % shape.lanes;
  const unsigned warpRow = threadIdx.x / 32 * (32 / shape.lanes);
  for (unsigned first = warpRow; first < rows; first += BLOCK / shape.lanes) {
    const unsigned row = first + threadIdx.x % 32 / shape.lanes;
    const unsigned begin = origin + row * shape.ld;
    Partial partial = reducer.neutral();
    if (row < rows) partial = addStaged(staged, view.f, reducer, begin, lane, begin + shape.cols, shape.lanes);
    partial = reduceLanes(partial, op, shape.lanes);
    if (lane == 0 && row < rows) storeOutput(out, firstRow + row, reducer.finish(partial));
  }
}

// Long rows, each taken by a warp, a block, or several blocks.
struct LongRows {
  std::size_t rows;
  std::size_t cols;
  std::size_t ld;
  unsigned splits;        // blocks of a row
  std::size_t splitCols;  // columns of a block
};

// THREADS is 32 for a warp, or the block's threads.
template <int THREADS, class Policy, class View, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1024 / Policy::BLOCK)
    longRowsKernel(const View view, const Reducer reducer, const LongRows shape,
                   const GridScratch<typename Reducer::Partial> scratch, const Out out) {
  using Partial = typename Reducer::Partial;
  constexpr int VECTORS = THREADS == 32 ? Policy::VECTORS : Policy::BLOCK_VECTORS;
  constexpr int ITEMS = itemsFor<16 * VECTORS, typename View::Source>;
  overlapPreviousKernel();
  const std::size_t group = blockIdx.x * std::size_t{Policy::BLOCK / THREADS} + threadIdx.x / THREADS;
  // Rows that a warp takes are not split: the divisions would take as long as adding up a short row.
  const std::size_t row = THREADS == 32 ? group : group / shape.splits;
  const auto split = THREADS == 32 ? 0 : static_cast<unsigned>(group % shape.splits);
  if (row >= shape.rows) return;

  const auto op = reducer.combiner();
  const Partial neutral = reducer.neutral();
  Partial partial = neutral;
  const std::size_t first = split * shape.splitCols;
  const std::size_t left = shape.cols - first;
  addRange<THREADS, ITEMS>(partial, view, reducer, row * shape.ld + first,
                           left < shape.splitCols ? left : shape.splitCols, threadIdx.x % THREADS);
  if constexpr (Reducer::INDEXED) reducer.reindex(partial, first, 1);
  if constexpr (THREADS == 32) {
    partial = reduceLanes(partial, op);
    if (laneIndex() == 0) storeOutput(out, row, reducer.finish(partial));
  } else {
    partial = reduceWarps<THREADS>(partial, neutral, op);
    bool holdsRow = threadIdx.x == 0;
    if (shape.splits > 1) {
      const GridScratch<Partial> ofRow{scratch.partials + row * shape.splits, scratch.arrivals + row};
      holdsRow = combineBlocks(partial, neutral, op, ofRow, split, shape.splits);
    }
    if (holdsRow) storeOutput(out, row, reducer.finish(partial));
  }
}

template <class Policy, class View, class Reducer, class Out>
void launchLaneRows(const ReduceCall& call, const Reducer& reducer, const View& view, const ReduceRowsPlan& plan,
                    const Out& out) {
  using Source = typename View::Source;
  const auto [rows, cols, ld] = plan.request.matrix;
  const LaneRows shape{rows, ld / Source::STEP, static_cast<unsigned>(cols / Source::STEP), plan.lanes, plan.perGroup};
  launch(laneRowsKernel<Policy, Source, Reducer, Out>,
         gridConfig(Policy::SHORT_BLOCK, plan.grid.blocks, call.stream, call.function), view.steps(), reducer, shape,
         out);
}

template <class Policy, class View, class Reducer, class Out>
void launchStagedRows(const ReduceCall& call, const Reducer& reducer, const View& view, const ReduceRowsPlan& plan,
                      const Out& out) {
  const auto [rows, cols, ld] = plan.request.matrix;
  const StagedRows shape{rows,
                         static_cast<unsigned>(cols),
                         static_cast<unsigned>(ld),
                         static_cast<unsigned>(plan.tileRows),
                         plan.lanes,
                         ld * sizeof(typename View::Element) % 32 == 0};
  launch(stagedRowsKernel<Policy, View, Reducer, Out>,
         gridConfig(Policy::SHORT_BLOCK, plan.grid.blocks, call.stream, call.function), view, reducer, shape, out);
}

template <class Reducer, class View>
ReduceRowsRequest reduceRowsRequest(const View& view, const MatrixShape& matrix) {
  ReduceRowsRequest request;
  request.matrix = matrix;
  request.elementBytes = sizeof(typename View::Element);
  request.stepElements = View::Source::STEP;
  request.partialBytes = sizeof(typename Reducer::Partial);
  request.resultBytes = sizeof(typename Reducer::Result);
  request.areAligned = View::Source::VECTORS && view.hasAlignedRows(matrix);
  request.canBeStaged = std::is_trivially_copyable_v<typename View::Element>;
  request.readsGaps = std::is_pointer_v<typename View::Iterator>;
  request.combinesSlowly = Reducer::COMBINES_SLOWLY;
  return request;
}

template <class Policy, class View, class Reducer, class Out>
void launchRowsOf(const ReduceCall& call, const Reducer& reducer, const View& view, const MatrixShape& matrix,
                  const Out& out) {
  using Algorithm = ReduceRowsAlgorithm;
  const auto [rows, cols, ld] = matrix;
  const ReduceRowsPlan plan = planReduceRows<Policy>(reduceRowsRequest<Reducer>(view, matrix));
  const auto shortReducer = withShortIndices(reducer);
  switch (plan.algorithm) {
    case Algorithm::nothing:
      return;
    case Algorithm::block:
      return launchGrid(call, plan.grid, longRowsKernel<Policy::BLOCK, Policy, View, Reducer, Out>, view, reducer,
                        LongRows{rows, cols, ld, static_cast<unsigned>(plan.splits), plan.splitCols}, out);
    case Algorithm::warp:
      return launchGrid(call, plan.grid, longRowsKernel<32, Policy, View, std::decay_t<decltype(shortReducer)>, Out>,
                        view, shortReducer, LongRows{rows, cols, ld, 1, cols}, out);
    case Algorithm::staged:
      if constexpr (std::is_trivially_copyable_v<typename View::Element>)
        launchStagedRows<Policy>(call, shortReducer, view, plan, out);
      return;
    case Algorithm::lanes:
      if (plan.request.areAligned) return launchLaneRows<Policy>(call, shortReducer, view, plan, out);
      return launchLaneRows<Policy>(call, shortReducer, view.elementwise(), plan, out);
  }
}

template <class Policy, class Reducer, class It>
std::string explainRows(const char* function, const Reducer& reducer, It in, const MatrixShape& matrix) {
  requireMatrix(in, matrix, nullptr, 0, function);
  if (matrix.rows > 0) requireResult(reducer, matrix.cols, "cols", function);
  return planInWords(planReduceRows<Policy>(reduceRowsRequest<Reducer>(viewOf(in, Identity{}), matrix)));
}

// Reduces f of the elements of each row.
template <class Policy, class It, class F, class Reducer, class Out>
void launchRows(const ReduceCall& call, const Reducer& reducer, It in, const F& f, const MatrixShape& matrix,
                const Out& results) {
  [[maybe_unused]] const CallRange range(call.function);
  const auto out = boxedOutput(results);
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>()) {
    requireMatrix(in, matrix, out, matrix.rows, call.function);
    if (matrix.rows == 0) return;
    requireResult(reducer, matrix.cols, "cols", call.function);
    launchRowsOf<Policy>(call, reducer, viewOf(in, f), matrix, out);
  }
}

GPUOPT_DETAIL_END
