/// \file
/// Reductions of the columns of a matrix: reduceColumns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/view.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/message.cuh>

#include <cstddef>
#include <type_traits>

namespace gpuopt {

/// How reduceColumns is cut up. Pass a type derived from this one as template argument to change a value. The
/// choices depend on shape, types and alignment alone, never on the device, and so does the order of
/// operations. Measured on an H200, 2026-11-21, sums of 1 GiB of floats: 94 to 98 % of a plain sum's GB/s for
/// 1 to 2^24 columns that lie contiguous, or in aligned vectors; 84 to 92 % for other widths above 255
/// columns.
struct ColumnsPolicy {
  static constexpr int BLOCK = 512;  ///< threads a block: 256 cost up to 5 %
  static constexpr int VECTORS = 8;  ///< 16-byte loads in flight a thread: 4 cost 4 %
  /// Steps side by side that a block takes, of 16 bytes where alignment allows; more where rows are few. 64
  /// and 128 cost up to 3 %.
  static constexpr unsigned tileSteps = 32;
  /// Narrow contiguous matrices, up to so many columns, are read as flat arrays, whatever their alignment.
  static constexpr std::size_t flatColumns = 512;
  /// Rows are split over blocks until there are so many.
  static constexpr std::size_t blocks = 1056;
  /// From so many partial results of a tile on, groups of blocks are joined first, then the groups: one block
  /// alone took as long to join 256 columns as the grid took to read them.
  static constexpr std::size_t groupedResults = 8 << 10;
  /// Most bytes of shared memory for the sums of a block: threads become fewer above.
  static constexpr std::size_t sharedBytes = 32 << 10;
};

namespace detail {

// A matrix as the kernel sees it. A narrow contiguous one is a flat array of wider rows of whole steps,
// several rows of the matrix each, from its first 16-byte boundary on: a thread's steps then lie in the same
// columns throughout.
struct ColumnTiles {
  std::size_t rows;       // that consist of whole steps
  std::size_t ldSteps;    // from row to row
  std::size_t rowSteps;   // of a row
  std::size_t cols;       // of the matrix
  std::size_t elements;   // of the matrix, if it is flat: there may be some before the first and after the
                          // last whole row
  std::size_t splitRows;  // of a block
  unsigned tiles;         // side by side
  unsigned splits;        // one below the other
  unsigned groupSplits;   // whose results are joined first
  unsigned tileSteps;     // of a tile
  unsigned rowThreads;    // threads one below the other
  unsigned period;        // columns of a tile
  bool flat;
};

// Shared memory holds `count` rows of `width` partial results: adds them up into the first row, in an order
// that depends on their number alone. Every thread of the block calls.
template <int BLOCK, class Partial, class Op>
__device__ inline void foldRows(Partial* shared, unsigned count, unsigned width, Op op) {
  __syncthreads();
  while (count > 1) {
    const unsigned kept = (count + 1) / 2;
    for (unsigned i = threadIdx.x; i < (count - kept) * width; i += BLOCK)
      shared[i] = op(shared[i], shared[i + kept * width]);
    count = kept;
    __syncthreads();
  }
}

// The elements of a column that lie before the first and after the last whole row of a flat matrix.
template <class Source, class Reducer>
__device__ inline void addFlatEdges(typename Reducer::Partial& partial, const Source& source,
                                    const Reducer& reducer, const ColumnTiles& shape, std::size_t column) {
  typename Source::Value value[1];
  std::size_t head = source.head;
  for (std::size_t i = column; i < head; i += shape.cols) {
    value[0] = source.at(i);
    reducer.add(partial, value, i);
  }
  // Whole rows are periods of the columns, and begin at `head`.
  const std::size_t end = head + shape.rows * shape.rowSteps * Source::STEP;
  for (std::size_t i = end + (column + shape.cols - head % shape.cols) % shape.cols; i < shape.elements;
       i += shape.cols) {
    value[0] = source.at(i);
    reducer.add(partial, value, i);
  }
}

// What one thread contributes to the columns of one step: `first` and every `stride`-th row from there.
template <int ITEMS, class Source, class Reducer>
__device__ inline void addColumns(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                  const Reducer& reducer, std::size_t first, std::size_t stride,
                                  std::size_t count) {
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  for (; count > 0; count -= count < ITEMS ? count : ITEMS, first += ITEMS * stride) {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      source.template load<Caching::normal>(steps[i], first + (i < count ? i * stride : 0));
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (i < count) {
        source.values(steps[i], values);
#pragma unroll
        for (int e = 0; e < Source::STEP; ++e) {
          const typename Source::Value value[1] = {values[e]};
          reducer.add(partials[e], value, 0);
        }
      }
  }
}

// For each column of a tile, joins the partial results of `count` splits, `stride` apart; store(column,
// result) keeps them.
template <int BLOCK, class Partial, class Reducer, class Store>
__device__ inline void joinSplits(const Reducer& reducer, const ColumnTiles& shape, const Partial* partials,
                                  std::size_t firstColumn, std::size_t stride, unsigned count,
                                  Partial* shared, Store store) {
  const auto op = reducer.combiner();
  const std::size_t left = shape.cols - firstColumn;
  const unsigned columns = left < shape.period ? static_cast<unsigned>(left) : shape.period;
  for (unsigned done = 0; done < columns; done += BLOCK) {
    const unsigned width = columns - done < BLOCK ? columns - done : BLOCK;
    const unsigned rows = BLOCK / width;
    const std::size_t column = firstColumn + done + threadIdx.x % width;
    if (threadIdx.x < rows * width) {
      Partial partial = reducer.empty();
#pragma unroll 8
      for (unsigned split = threadIdx.x / width; split < count; split += rows)
        partial = op(partial, partials[split * stride * shape.cols + column]);
      shared[threadIdx.x] = partial;
    }
    foldRows<BLOCK>(shared, rows, width, op);
    if (threadIdx.x < width) store(column, shared[threadIdx.x]);
    __syncthreads();
  }
}

// Counts a block's arrival; true in all threads of the last, which see what the others wrote before they
// arrived.
__device__ inline bool blockArrivesLast(unsigned* counter, unsigned arrivals) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = arriveLast(counter, arrivals);
  __syncthreads();
  return last;
}

// Joins the blocks of one tile: in groups, whose last blocks join the groups. Every counter has its own
// place.
template <int BLOCK, class Reducer>
__device__ inline void joinTile(const Reducer& reducer, const ColumnTiles& shape, unsigned tile,
                                unsigned split, const GridScratch<typename Reducer::Partial>& scratch,
                                typename Reducer::Partial* shared, typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  const std::size_t firstColumn = std::size_t{tile} * shape.period;
  const unsigned groups = (shape.splits + shape.groupSplits - 1) / shape.groupSplits;
  const unsigned group = split / shape.groupSplits;
  unsigned* counters = scratch.arrivals + tile * (groups + 1);
  if (shape.groupSplits > 1) {
    const unsigned first = group * shape.groupSplits;
    const unsigned count =
        shape.splits - first < shape.groupSplits ? shape.splits - first : shape.groupSplits;
    if (!blockArrivesLast(counters + group, count)) return;
    Partial* partials = scratch.partials + first * shape.cols;
    joinSplits<BLOCK>(reducer, shape, partials, firstColumn, 1, count, shared,
                      [=](std::size_t column, const Partial& partial) { partials[column] = partial; });
  }
  if (!blockArrivesLast(counters + groups, groups)) return;
  joinSplits<BLOCK>(
      reducer, shape, scratch.partials, firstColumn, shape.groupSplits, groups, shared,
      [=](std::size_t column, const Partial& partial) { out[column] = reducer.finish(partial); });
}

template <int BLOCK, class Policy, class Source, class Reducer>
__global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    columnsKernel(const Source source, const Reducer reducer, const ColumnTiles shape,
                  const GridScratch<typename Reducer::Partial> scratch, typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  constexpr int STEP = Source::STEP;
  alignas(16) alignas(Partial) __shared__ unsigned char storage[BLOCK * STEP * sizeof(Partial)];
  Partial* shared = reinterpret_cast<Partial*>(storage);
  overlapPreviousKernel();

  const unsigned tile = blockIdx.x % shape.tiles;
  const unsigned split = blockIdx.x / shape.tiles;
  const std::size_t step = std::size_t{tile} * shape.tileSteps + threadIdx.x % shape.tileSteps;
  const unsigned down = threadIdx.x / shape.tileSteps;
  const std::size_t firstRow = split * shape.splitRows;
  const std::size_t left = firstRow < shape.rows ? shape.rows - firstRow : 0;
  const std::size_t rows = left < shape.splitRows ? left : shape.splitRows;
  if (down < shape.rowThreads) {
    Partial partials[STEP];
#pragma unroll
    for (int e = 0; e < STEP; ++e) partials[e] = reducer.empty();
    if (step < shape.rowSteps && down < rows)
      addColumns<itemsFor<Policy::VECTORS, Source>>(
          partials, source, reducer, (firstRow + down) * shape.ldSteps + step,
          shape.rowThreads * shape.ldSteps, (rows - down - 1) / shape.rowThreads + 1);
#pragma unroll
    for (int e = 0; e < STEP; ++e) shared[threadIdx.x * STEP + e] = partials[e];
  }
  foldRows<BLOCK>(shared, shape.rowThreads * shape.tileSteps * STEP / shape.period, shape.period,
                  reducer.combiner());

  const std::size_t firstColumn = std::size_t{tile} * shape.period;
  for (unsigned i = threadIdx.x; i < shape.period; i += BLOCK) {
    const std::size_t column = shape.flat ? (source.head + i) % shape.cols : firstColumn + i;
    if (column >= shape.cols) break;
    Partial partial = shared[i];
    if (shape.flat && split == 0) addFlatEdges(partial, source, reducer, shape, column);
    if (shape.splits == 1)
      out[column] = reducer.finish(partial);
    else
      scratch.partials[split * shape.cols + column] = partial;
  }
  if (shape.splits > 1) joinTile<BLOCK>(reducer, shape, tile, split, scratch, shared, out);
}

// Threads of a block, so that its sums fit into shared memory.
template <class Policy, class Source, class Partial>
constexpr int columnsBlock() {
  int block = Policy::BLOCK;
  while (block > 32 && block * Source::STEP * sizeof(Partial) > Policy::sharedBytes) block /= 2;
  return block;
}

template <class Policy, class Partial>
void splitRows(ColumnTiles& shape, int items) {
  const std::size_t atATime = std::size_t{shape.rowThreads} * static_cast<unsigned>(items);
  const std::size_t wanted = smallerOf(
      smallerOf(Policy::blocks / shape.tiles, Workspace::counterCount / 2 / shape.tiles),
      smallerOf(ceilDivide(shape.rows, atATime), Workspace::capacity / sizeof(Partial) / shape.cols));
  shape.splitRows = largerOf(ceilDivide(shape.rows, largerOf(wanted, std::size_t{1})), std::size_t{1});
  shape.splits = static_cast<unsigned>(largerOf(ceilDivide(shape.rows, shape.splitRows), std::size_t{1}));
  shape.groupSplits = 1;
  if (std::size_t{shape.splits} * shape.period > Policy::groupedResults)
    while (shape.groupSplits * shape.groupSplits < shape.splits) ++shape.groupSplits;
}

template <class Policy, class Source, class Reducer>
void launchColumns(const Source& source, ColumnTiles shape, const Reducer& reducer,
                   typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  constexpr int BLOCK = columnsBlock<Policy, Source, Partial>();
  shape.rowThreads = BLOCK / shape.tileSteps;
  splitRows<Policy, Partial>(shape, itemsFor<Policy::VECTORS, Source>);
  const LaunchConfig config =
      gridConfig(BLOCK, std::size_t{shape.tiles} * shape.splits, stream, "gpuopt::reduceColumns");
  const auto kernel = columnsKernel<BLOCK, Policy, Source, Reducer>;
  if (shape.splits == 1) {
    launch(kernel, config, source, reducer, shape, GridScratch<Partial>{}, out);
  } else {
    launchJoined(kernel, config, source, reducer, shape, out, workspace);
  }
}

// A matrix whose rows are whole steps: tiles of steps side by side, the last perhaps narrower.
template <class Policy, class Source, class Reducer>
void launchColumnTiles(const Source& source, std::size_t rows, std::size_t cols, std::size_t ld,
                       const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream,
                       Workspace* workspace) {
  constexpr unsigned BLOCK = columnsBlock<Policy, Source, typename Reducer::Partial>();
  constexpr std::size_t WIDTH = smallerOf(Policy::tileSteps, BLOCK);
  // No more threads one below the other than have rows to keep their loads in flight.
  const std::size_t down = clampTo(rows / itemsFor<Policy::VECTORS, Source>, std::size_t{1}, BLOCK / WIDTH);
  ColumnTiles shape{};
  shape.rows = rows;
  shape.cols = cols;
  shape.rowSteps = cols / Source::STEP;
  shape.ldSteps = ld / Source::STEP;
  shape.tileSteps = static_cast<unsigned>(smallerOf(shape.rowSteps, BLOCK / down));
  shape.tiles = static_cast<unsigned>(ceilDivide(shape.rowSteps, shape.tileSteps));
  shape.period = shape.tileSteps * Source::STEP;
  launchColumns<Policy>(source, shape, reducer, out, stream, workspace);
}

// A narrow contiguous matrix: as many rows as make whole steps become one.
template <class Policy, class Source, class Reducer>
void launchFlatColumns(const Source& source, std::size_t elements, std::size_t cols, const Reducer& reducer,
                       typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  ColumnTiles shape{};
  shape.flat = true;
  shape.cols = cols;
  shape.elements = elements;
  shape.rowSteps = leastCommonMultiple(cols, Source::STEP) / Source::STEP;
  shape.ldSteps = shape.rowSteps;
  shape.rows = (elements - source.head) / (shape.rowSteps * Source::STEP);
  shape.tileSteps = static_cast<unsigned>(shape.rowSteps);
  shape.tiles = 1;
  shape.period = static_cast<unsigned>(cols);
  launchColumns<Policy>(source, shape, reducer, out, stream, workspace);
}

template <class Policy, class View, class Reducer>
void launchBestColumns(const View& view, std::size_t rows, std::size_t cols, std::size_t ld,
                       const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream,
                       Workspace* workspace) {
  using Source = typename View::Source;
  constexpr std::size_t STEP = Source::STEP;
  constexpr std::size_t BLOCK = columnsBlock<Policy, Source, typename Reducer::Partial>();
  const bool aligned = startsSteps(view, cols, ld);
  const std::size_t widest = aligned ? Policy::tileSteps * STEP : Policy::flatColumns;
  if (ld == cols && leastCommonMultiple(cols, STEP) / STEP <= BLOCK && cols <= widest)
    launchFlatColumns<Policy>(view.flat(rows * cols), rows * cols, cols, reducer, out, stream, workspace);
  else if (aligned)
    launchColumnTiles<Policy>(view.steps(), rows, cols, ld, reducer, out, stream, workspace);
  else
    launchColumnTiles<Policy>(byElements(view).steps(), rows, cols, ld, reducer, out, stream, workspace);
}

template <class Policy, class It, class Reducer>
void reduceColumnsTo(It in, std::size_t rows, std::size_t cols, std::size_t ld, const Reducer& reducer,
                     typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  requireMatrix(in, rows, cols, ld, out, cols, "gpuopt::reduceColumns");
  if (cols == 0) return;
  if (rows == 0 && !reducer.init.valid && !Reducer::HAS_IDENTITY)
    throwInvalid({"gpuopt::reduceColumns: rows is 0 and the operation has no known identity: pass init"});
  withView(in, [&](const auto& view) {
    launchBestColumns<Policy>(view, rows, cols, ld, reducer, out, stream, workspace);
  });
}

}  // namespace detail

/// \name Columns
/// out[c] = op over in[r * ld + c] for all rows r, and over `init` where it is given, for every column c of a
/// row-major matrix. `in` is a device pointer of any element alignment or a random-access iterator, `out`
/// device memory for `cols` accumulators. Elements between rows (ld > cols) are not read. No rows: every
/// result is `init` or the identity. No columns: nothing happens. Asynchronous; one launch. Throws
/// std::invalid_argument for ld < cols, null pointers, and for no rows without init and identity.
///
/// Cost: one read of the matrix at near the speed of a plain sum where `in`, ld and cols are multiples of 16
/// bytes, and where the matrix is contiguous and up to 512 columns wide; otherwise it is read element by
/// element, which costs narrow types (half, bytes) speed. Partial results of columns that several blocks
/// share need the Workspace. The order of operations depends on the shape, the types and the alignment of
/// `in`. Technique: neighbouring threads read neighbouring columns, so that every access is a whole line, and
/// each adds up its own columns in registers; threads one below the other are joined in shared memory, blocks
/// by a ticket per tile.
/// \{

template <class A = DefaultAccumulator, class Policy = ColumnsPolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out, Op op,
                   Init init, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::some<Reduced<A, Op, It>>(init)};
  detail::reduceColumnsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

template <class A = DefaultAccumulator, class Policy = ColumnsPolicy, class It, class Op = Plus>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out,
                   Op op = {}, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::nothing<Reduced<A, Op, It>>()};
  detail::reduceColumnsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

/// \}

}  // namespace gpuopt
