/// \file
/// Reductions of the rows of a matrix: reduceRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How reduceRows is cut up. Pass a type derived from this one as template argument to change a value. The
/// choices depend on shape, types and alignment alone, never on the device, and so does the order of
/// operations. Measured on an H200, 2026-11-21, sums of 1 GiB of floats; percentages are of a plain sum's
/// GB/s, 4300 to 4400.
struct ReduceRowsPolicy {
  static constexpr int BLOCK = 256;        ///< threads a block where a warp or a block takes a row
  static constexpr int SHORT_BLOCK = 128;  ///< threads a block where rows are shorter: 256 cost 1 to 3 %
  static constexpr int VECTORS = 8;        ///< 16-byte loads in flight a thread
  static constexpr int BLOCK_VECTORS = 4;  ///< the same where a block takes a row
  /// Short rows that do not consist of aligned vectors go through shared memory, so many bytes a block: 95 to
  /// 99 % at every odd length from 2 to 511 floats, where reading them element by element gave 20 to 60 %.
  static constexpr std::size_t stagedBytes = 16 << 10;
  /// Lanes that add up one of `tileRows` staged rows: few, because then rows of odd length do not meet in one
  /// bank and need no shuffles, but enough to keep the block busy.
  static constexpr unsigned stagedLanes(std::size_t tileRows) {
    return tileRows >= 64 ? 1 : tileRows > 16 ? 2 : 16;
  }
  /// Lanes that read a row of so many vectors: up to 8 vectors each, but whole lines at a time. 96 to 99 %
  /// for 4 to 512 floats; a lane for every vector of 32 gave 90 %.
  static constexpr unsigned rowLanes(std::size_t vectors) {
    return vectors < 2      ? 1
           : vectors < 7    ? 2
           : vectors <= 32  ? 4
           : vectors <= 64  ? 8
           : vectors <= 128 ? 16
                            : 32;
  }
  /// From here on a warp takes a row: 99 % at 512 floats, where half as long rows gave 75 %.
  static constexpr std::size_t warpRowBytes = 2 << 10;
  /// From here on a block takes a row: 101 % at 4096 floats, where half as long rows gave 90 %.
  static constexpr std::size_t blockRowBytes = 16 << 10;
  /// Rows are cut into pieces, a block for each, until there are so many blocks or pieces get so short: 99 %
  /// for 1 to 1024 rows.
  static constexpr std::size_t pieceBlocks = 4096;
  static constexpr std::size_t pieceBytes = 32 << 10;  ///< of the shortest pieces
};

namespace detail {

// Short rows, each read by a group of lanes.
struct LaneRows {
  std::size_t rows;
  std::size_t ldSteps;  // from row to row
  unsigned rowSteps;    // of a row
  unsigned lanes;       // of a group, a power of two
  unsigned perGroup;    // rows that a group takes, one after another
};

// Where a lane is: the row that its group takes and its own next step, counted from the start of the matrix.
// All groups of a warp come to the ends of their rows together.
struct LaneRowCursor {
  std::size_t row;
  std::size_t step;
  unsigned taken;  // steps of the row that its group is through with

  __device__ bool exists(const LaneRows& shape, std::size_t endRow, unsigned lane) const {
    return row < endRow && taken + lane < shape.rowSteps;
  }
  __device__ bool endsRow(const LaneRows& shape) const { return taken + shape.lanes >= shape.rowSteps; }

  __device__ void advance(const LaneRows& shape) {
    if (endsRow(shape)) {
      const unsigned rowsOn = 32 / shape.lanes;
      row += rowsOn;
      step += rowsOn * shape.ldSteps - taken;
      taken = 0;
    } else {
      step += shape.lanes;
      taken += shape.lanes;
    }
  }
};

// Short rows by 1 to 32 lanes each: a warp reads 32 / lanes rows at a time, and loads of several such sets
// are in flight.
template <class Policy, class Source, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::SHORT_BLOCK, 1)
    laneRowsKernel(const Source source, const Reducer reducer, const LaneRows shape,
                   typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  constexpr int ITEMS = itemsFor<Policy::VECTORS, Source>;
  overlapPreviousKernel();
  const auto op = reducer.combiner();
  const Partial none = reducer.empty();
  const unsigned lane = threadIdx.x % shape.lanes;
  const unsigned warpRows = 32 / shape.lanes * shape.perGroup;
  const std::size_t firstRow =
      (blockIdx.x * std::size_t{Policy::SHORT_BLOCK / 32} + threadIdx.x / 32) * warpRows;
  const std::size_t endRow = firstRow + warpRows < shape.rows ? firstRow + warpRows : shape.rows;
  if (firstRow >= endRow) return;

  const std::size_t row = firstRow + threadIdx.x % 32 / shape.lanes;
  LaneRowCursor loading{row, row * shape.ldSteps + lane, 0};
  LaneRowCursor adding = loading;
  const std::size_t anyStep = firstRow * shape.ldSteps;
  Partial partial = none;
  for (std::size_t setRow = firstRow; setRow < endRow;) {
    typename Source::Step steps[ITEMS];
    typename Source::Value values[Source::STEP];
    if (shape.rowSteps > 0) {
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        source.template load<Caching::normal>(steps[i],
                                              loading.exists(shape, endRow, lane) ? loading.step : anyStep);
        loading.advance(shape);
      }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      if (adding.exists(shape, endRow, lane)) {
        source.values(steps[i], values);
        reducer.add(partial, values, 0);
      }
      if (adding.endsRow(shape)) {
        partial = reduceLanes(partial, op, shape.lanes);
        if (lane == 0 && adding.row < endRow) out[adding.row] = reducer.finish(partial);
        partial = none;
        setRow += 32 / shape.lanes;
      }
      adding.advance(shape);
    }
  }
}

// Short rows that lie close together, staged in shared memory with all that is between them.
struct StagedRows {
  std::size_t rows;
  unsigned cols;
  unsigned ld;
  unsigned tileRows;  // of a block
  unsigned lanes;     // that add up a row, a power of two
  bool gaps;          // in shared memory
};

template <class Policy, class View, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::SHORT_BLOCK, 1)
    stagedRowsKernel(const View view, const Reducer reducer, const StagedRows shape,
                     typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  using T = typename View::Element;
  constexpr int BLOCK = Policy::SHORT_BLOCK;
  __shared__ StagedStorage<T, Policy::stagedBytes / sizeof(T)> storage;
  overlapPreviousKernel();
  const StagedElements<T> staged(storage, shape.gaps);
  const std::size_t firstRow = blockIdx.x * std::size_t{shape.tileRows};
  const std::size_t left = shape.rows - firstRow;
  const unsigned rows = left < shape.tileRows ? static_cast<unsigned>(left) : shape.tileRows;
  const unsigned origin = stageElements<BLOCK, itemsFor<Policy::VECTORS, typename View::Source>>(
      staged, view, firstRow * shape.ld, (rows - 1) * shape.ld + shape.cols, threadIdx.x);
  __syncthreads();

  const auto op = reducer.combiner();
  const unsigned lane = threadIdx.x % shape.lanes;
  const unsigned warpRow = threadIdx.x / 32 * (32 / shape.lanes);
  for (unsigned first = warpRow; first < rows; first += BLOCK / shape.lanes) {
    const unsigned row = first + threadIdx.x % 32 / shape.lanes;
    const unsigned begin = origin + row * shape.ld;
    Partial partial = reducer.empty();
    if (row < rows) addStaged(partial, staged, reducer, begin + lane, begin + shape.cols, shape.lanes);
    partial = reduceLanes(partial, op, shape.lanes);
    if (lane == 0 && row < rows) out[firstRow + row] = reducer.finish(partial);
  }
}

// Long rows, cut into pieces.
struct RowPieces {
  std::size_t rows;
  std::size_t cols;
  std::size_t ld;
  unsigned pieces;        // of a row
  std::size_t pieceCols;  // of a piece
};

// A warp or a block a row.
template <int THREADS, class Policy, class View, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1024 / Policy::BLOCK)
    longRowsKernel(const View view, const Reducer reducer, const RowPieces shape,
                   const GridScratch<typename Reducer::Partial> scratch, typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  constexpr int VECTORS = THREADS == 32 ? Policy::VECTORS : Policy::BLOCK_VECTORS;
  constexpr int ITEMS = itemsFor<VECTORS, typename View::Source>;
  overlapPreviousKernel();
  const std::size_t part = blockIdx.x * std::size_t{Policy::BLOCK / THREADS} + threadIdx.x / THREADS;
  const std::size_t row = part / shape.pieces;
  const auto piece = static_cast<unsigned>(part % shape.pieces);
  if (row >= shape.rows) return;

  const auto op = reducer.combiner();
  const Partial none = reducer.empty();
  Partial partial = none;
  const std::size_t first = piece * shape.pieceCols;
  const std::size_t left = shape.cols - first;
  addPart<THREADS, ITEMS>(partial, view, reducer, row * shape.ld + first,
                          left < shape.pieceCols ? left : shape.pieceCols, threadIdx.x % THREADS);
  if constexpr (THREADS == 32) {
    partial = warpReduce(partial, op);
    if (laneIndex() == 0) out[row] = reducer.finish(partial);
  } else {
    partial = reduceWarps<THREADS>(partial, none, op);
    bool holdsRow = threadIdx.x == 0;
    if (shape.pieces > 1) {
      const GridScratch<Partial> mine{scratch.partials + row * shape.pieces, scratch.arrivals + row};
      holdsRow = joinBlocks(partial, none, op, mine, piece, shape.pieces);
    }
    if (holdsRow) out[row] = reducer.finish(partial);
  }
}

template <class Policy, class View, class Reducer>
void launchLaneRows(const View& view, std::size_t rows, std::size_t cols, std::size_t ld,
                    const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream) {
  using Source = typename View::Source;
  const auto rowSteps = static_cast<unsigned>(cols / Source::STEP);
  const unsigned lanes = Policy::rowLanes(rowSteps);
  const unsigned sets = largerOf(static_cast<unsigned>(ceilDivide(rowSteps, lanes)), 1u);
  const unsigned perGroup = largerOf(itemsFor<Policy::VECTORS, Source> / sets, 1u);
  const std::size_t blockRows = std::size_t{Policy::SHORT_BLOCK} / lanes * perGroup;
  launch(laneRowsKernel<Policy, Source, Reducer>,
         gridConfig(Policy::SHORT_BLOCK, ceilDivide(rows, blockRows), stream, "gpuopt::reduceRows"),
         view.steps(), reducer, LaneRows{rows, ld / Source::STEP, rowSteps, lanes, perGroup}, out);
}

template <class Policy, class View, class Reducer>
void launchStagedRows(const View& view, std::size_t rows, std::size_t cols, std::size_t ld,
                      const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream) {
  using T = typename View::Element;
  std::size_t tileRows = Policy::stagedBytes / sizeof(T) / ld;
  if (tileRows > 64) tileRows -= tileRows % 8;  // results in whole sectors
  launch(stagedRowsKernel<Policy, View, Reducer>,
         gridConfig(Policy::SHORT_BLOCK, ceilDivide(rows, tileRows), stream, "gpuopt::reduceRows"), view,
         reducer,
         StagedRows{rows, static_cast<unsigned>(cols), static_cast<unsigned>(ld),
                    static_cast<unsigned>(tileRows), Policy::stagedLanes(tileRows), ld * sizeof(T) % 32 == 0},
         out);
}

template <class Policy, class View, class Reducer>
void launchWarpRows(const View& view, std::size_t rows, std::size_t cols, std::size_t ld,
                    const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream) {
  launch(longRowsKernel<32, Policy, View, Reducer>,
         gridConfig(Policy::BLOCK, ceilDivide(rows, Policy::BLOCK / 32), stream, "gpuopt::reduceRows"), view,
         reducer, RowPieces{rows, cols, ld, 1, cols}, GridScratch<typename Reducer::Partial>{}, out);
}

// Pieces of a row: more than one only where rows are few, and long enough.
template <class Policy, class Partial>
std::size_t rowPieces(std::size_t rows, std::size_t rowBytes) {
  const std::size_t most = smallerOf(Workspace::capacity / sizeof(Partial), Policy::pieceBlocks);
  if (rows > most / 2 || rows > Workspace::counterCount) return 1;
  return largerOf(smallerOf(most / rows, rowBytes / Policy::pieceBytes), std::size_t{1});
}

template <class Policy, class View, class Reducer>
void launchBlockRows(const View& view, std::size_t rows, std::size_t cols, std::size_t ld,
                     const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream,
                     Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  constexpr std::size_t LINE = largerOf(std::size_t{1}, 128 / sizeof(typename View::Element));
  const std::size_t wanted = rowPieces<Policy, Partial>(rows, cols * sizeof(typename View::Element));
  const std::size_t pieceCols = ceilDivide(ceilDivide(cols, wanted), LINE) * LINE;
  const std::size_t pieces = ceilDivide(cols, pieceCols);
  const auto kernel = longRowsKernel<Policy::BLOCK, Policy, View, Reducer>;
  const LaunchConfig config = gridConfig(Policy::BLOCK, rows * pieces, stream, "gpuopt::reduceRows");
  const RowPieces shape{rows, cols, ld, static_cast<unsigned>(pieces), pieceCols};
  if (pieces == 1) {
    launch(kernel, config, view, reducer, shape, GridScratch<Partial>{}, out);
  } else {
    launchJoined(kernel, config, view, reducer, shape, out, workspace);
  }
}

template <class Policy, class View, class Reducer>
void launchRows(const View& view, std::size_t rows, std::size_t cols, std::size_t ld, const Reducer& reducer,
                typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  using T = typename View::Element;
  const std::size_t rowBytes = cols * sizeof(T);
  if (rowBytes >= Policy::blockRowBytes)
    return launchBlockRows<Policy>(view, rows, cols, ld, reducer, out, stream, workspace);
  if (rowBytes >= Policy::warpRowBytes)
    return launchWarpRows<Policy>(view, rows, cols, ld, reducer, out, stream);
  if (std::is_same_v<View, ArrayView<T>> && startsSteps(view, cols, ld))
    return launchLaneRows<Policy>(view, rows, cols, ld, reducer, out, stream);
  if constexpr (std::is_trivially_copyable_v<T>)
    if (cols > 0 && ld <= (std::is_pointer_v<typename View::Iterator> ? 2 * cols : cols))
      return launchStagedRows<Policy>(view, rows, cols, ld, reducer, out, stream);
  launchLaneRows<Policy>(byElements(view), rows, cols, ld, reducer, out, stream);
}

template <class Policy, class It, class Reducer>
void reduceRowsTo(It in, std::size_t rows, std::size_t cols, std::size_t ld, const Reducer& reducer,
                  typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  requireMatrix(in, rows, cols, ld, out, rows, "gpuopt::reduceRows");
  if (rows == 0) return;
  if (cols == 0 && !reducer.init.valid && !Reducer::HAS_IDENTITY)
    throwInvalid({"gpuopt::reduceRows: cols is 0 and the operation has no known identity: pass init"});
  withView(in, [&](const auto& view) {
    launchRows<Policy>(view, rows, cols, ld, reducer, out, stream, workspace);
  });
}

}  // namespace detail

/// \name Rows
/// out[r] = op over in[r * ld + c] for all columns c, and over `init` where it is given, for every row r of a
/// row-major matrix. `in` is a device pointer of any element alignment or a random-access iterator, `out`
/// device memory for `rows` accumulators. Elements between rows (ld > cols) do not count, but behind a
/// pointer may be read. No columns: every result is `init` or the identity. No rows: nothing happens.
/// Asynchronous; one launch. Throws std::invalid_argument for ld < cols, null pointers, and for no columns
/// without init and identity.
///
/// Cost: one read of the matrix at near the speed of a plain sum, whatever its shape; short rows far apart
/// (below 2 KB, ld > 2 cols) want `in`, ld and cols to be multiples of 16 bytes. Partial results of rows that
/// several blocks share need the Workspace. The order of operations depends on the shape, the types and, by
/// the alignment of the rows, on `in`. Technique: the reduction ladder applied to rows: groups of lanes, a
/// warp, a block, or several blocks take a row, by its length.
/// \{

/// \param op the operation, Plus unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy ReduceRowsPolicy, or a type derived from it
template <class A = DefaultAccumulator, class Policy = ReduceRowsPolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out, Op op,
                Init init, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::some<Reduced<A, Op, It>>(init)};
  detail::reduceRowsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

template <class A = DefaultAccumulator, class Policy = ReduceRowsPolicy, class It, class Op = Plus>
void reduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out,
                Op op = {}, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::nothing<Reduced<A, Op, It>>()};
  detail::reduceRowsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

/// \}

GPUOPT_NAMESPACE_END
