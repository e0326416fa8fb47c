/// \file
/// Reductions of the columns of a matrix: reduceColumns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How reduceColumns is cut up. Pass a type derived from this one as template argument to change a value. The
/// choices depend on shape, types and alignment alone, never on the device, and so does the order of
/// operations. Measured on an H200, 2026-11-22, sums of 1 GiB of floats: 95 to 98 % of a plain sum's GB/s for
/// 4 to 2^20 columns that lie narrow and contiguous, or in aligned vectors; 91 % for 1001 columns.
struct ReduceColumnsPolicy {
  static constexpr int BLOCK = 512;  ///< threads a block: 256 cost up to 5 %
  static constexpr int VECTORS = 8;  ///< 16-byte loads in flight a thread: 4 cost 4 %
  /// Steps side by side that a block takes, of 16 bytes where alignment allows; more where rows are few. 64
  /// and 128 cost up to 3 %.
  static constexpr unsigned tileSteps = 32;
  /// The same where steps are single elements: 0.84 of a plain sum at 65 of 66 floats a row, with 32 0.81.
  static constexpr unsigned elementTileSteps = 128;
  /// The same where rows begin between 16-byte boundaries, 2 at least, and at most so many columns:
  /// neighbouring tiles overlap by one step. 1001 floats a row: 0.91, with 32 and 128 steps 0.88 and 0.89 (by
  /// elements 0.86); 4095 a row: 0.93, 0.94, 0.90 (0.85). 8191 bytes a row: 512 columns 0.81, 1024 0.53
  /// (0.32).
  static constexpr unsigned shiftedTileSteps = 64;
  static constexpr unsigned shiftedTileColumns = 512;  ///< see shiftedTileSteps
  /// Rows that are not aligned vectors throughout are read by vectors from so many columns on, narrower ones
  /// element by element: of 129 floats, 128 columns 0.79 against 0.84, of 201 floats, 200 columns 0.83
  /// against 0.73.
  static constexpr std::size_t shiftedColumns = 160;
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
//
// So they do where rows begin at any element: those that are a multiple of `classes` apart begin at the same
// distance from a boundary, and a thread takes rows of one class. The steps of different classes are shifted
// against each other. To cover its columns with all of them, a tile has one more step than fit in, and drops
// what this one reads of other columns.
struct ColumnTiles {
  std::size_t rows;
  std::size_t ld;           // elements from row to row
  std::size_t lead;         // from one step before the source's first one to the first row
  std::size_t rowElements;  // of a row
  std::size_t cols;         // of the matrix
  std::size_t elements;     // of the matrix, if it is flat: there may be some before the first and after the
                            // last whole row
  std::size_t splitRows;    // of a block
  unsigned tiles;           // side by side
  unsigned splits;          // one below the other
  unsigned groupSplits;     // whose results are joined first
  unsigned tileSteps;       // of a tile
  unsigned tileElements;    // of a row within a tile
  unsigned rowThreads;      // threads one below the other, a multiple of `classes`
  unsigned period;          // columns of a tile
  unsigned classes;         // of rows, by where they begin between two 16-byte boundaries
  bool flat;
  bool edges;  // rows may begin or end within a step
};

// Where a row begins.
struct RowStart {
  std::size_t step;  // the one in which it does
  unsigned before;   // elements of that step that lie before the row

  __device__ RowStart(const ColumnTiles& shape, std::size_t row, unsigned stepElements) {
    const std::size_t position = row * shape.ld + shape.lead;
    step = position / stepElements - 1;
    before = static_cast<unsigned>(position % stepElements);
  }
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
  const std::size_t end = head + shape.rows * shape.rowElements;
  for (std::size_t i = end + (column + shape.cols - head % shape.cols) % shape.cols; i < shape.elements;
       i += shape.cols) {
    value[0] = source.at(i);
    reducer.add(partial, value, i);
  }
}

// Adds ITEMS steps, `stride` apart; of the last ones, those that exist.
template <int ITEMS, bool ALL, class Source, class Reducer>
__device__ inline void addColumnBatch(typename Reducer::Partial (&partials)[Source::STEP],
                                      const Source& source, const Reducer& reducer, std::size_t first,
                                      std::size_t stride, std::size_t count) {
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  std::size_t step = first;
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i) {
    source.template load<Caching::normal>(steps[i], step);
    if (ALL || i + 1 < count) step += stride;
  }
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i)
    if (ALL || i < count) {
      source.values(steps[i], values);
#pragma unroll
      for (int e = 0; e < Source::STEP; ++e) {
        const typename Source::Value value[1] = {values[e]};
        reducer.add(partials[e], value, 0);
      }
    }
}

// What one thread contributes to the columns of one step: `first` and every `stride`-th one from there.
template <int ITEMS, class Source, class Reducer>
__device__ inline void addColumns(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                  const Reducer& reducer, std::size_t first, std::size_t stride,
                                  std::size_t count) {
#pragma unroll 1
  for (; count >= ITEMS; count -= ITEMS, first += ITEMS * stride)
    addColumnBatch<ITEMS, true>(partials, source, reducer, first, stride, count);
  if (count > 0) addColumnBatch<ITEMS, false>(partials, source, reducer, first, stride, count);
}

// The same array, element by element.
template <class T>
__device__ inline IteratorSource<const T*, Identity> elementsOf(
    const ArraySource<T, Identity, true>& source) {
  return {source.data, {}};
}

// The first and the last columns of a matrix, STEP each, within which the rows' first and last whole steps
// begin and end.
template <unsigned STEP>
struct EdgeColumns {
  static constexpr unsigned COUNT = 2 * STEP;
  std::size_t cols;

  __device__ std::size_t column(unsigned edge) const { return edge < STEP ? edge : cols - COUNT + edge; }
  __device__ bool contain(std::size_t column) const {
    return column < STEP || (column < cols && column + STEP >= cols);
  }
  __device__ unsigned indexOf(std::size_t column) const {
    return static_cast<unsigned>(column < STEP ? column : column + COUNT - cols);
  }
  // Whether a row that begins behind `before` elements of a step has this column outside its whole steps.
  __device__ bool cut(std::size_t column, unsigned before) const {
    const std::size_t head = (STEP - before) % STEP;
    return column < head || column >= cols - (cols - head) % STEP;
  }
};

// Adds what lies outside whole steps at the ends of a block's rows, element by element, to the partial
// results of the topmost threads, which begin at the elements `place` of the tile. Every thread of the block
// calls.
template <int BLOCK, class Policy, class Source, class Reducer>
__device__ inline void addRowEdges(typename Reducer::Partial (&partials)[Source::STEP],
                                   typename Reducer::Partial* shared, const Source& source,
                                   const Reducer& reducer, const ColumnTiles& shape, std::size_t firstRow,
                                   std::size_t rows, std::size_t firstColumn, std::size_t place) {
  constexpr unsigned STEP = Source::STEP;
  constexpr unsigned COUNT = EdgeColumns<STEP>::COUNT;
  constexpr unsigned DOWN = BLOCK / COUNT;
  const auto elements = elementsOf(source);
  const EdgeColumns<STEP> edges{shape.cols};
  const unsigned down = threadIdx.x / COUNT;
  const std::size_t column = edges.column(threadIdx.x % COUNT);
  typename Reducer::Partial edge[1] = {reducer.empty()};
  if (down < rows && column - firstColumn < shape.tileElements &&
      edges.cut(column, RowStart(shape, firstRow + down, STEP).before))
    addColumns<itemsFor<Policy::VECTORS, decltype(elementsOf(source))>>(
        edge, elements, reducer, (firstRow + down) * shape.ld + column, DOWN * shape.ld,
        (rows - down - 1) / DOWN + 1);
  shared[threadIdx.x] = edge[0];
  foldRows<BLOCK>(shared, DOWN, COUNT, reducer.combiner());
  if (threadIdx.x < shape.tileSteps) {
#pragma unroll
    for (unsigned e = 0; e < STEP; ++e)
      if (edges.contain(firstColumn + place + e))
        partials[e] = shared[edges.indexOf(firstColumn + place + e)];
  }
  __syncthreads();
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
GPUOPT_KERNEL void __launch_bounds__(BLOCK, 1024 / Policy::BLOCK)
    columnsKernel(const Source source, const Reducer reducer, const ColumnTiles shape,
                  const GridScratch<typename Reducer::Partial> scratch, typename Reducer::Result* out) {
  using Partial = typename Reducer::Partial;
  constexpr unsigned STEP = Source::STEP;
  alignas(16) alignas(Partial) __shared__ unsigned char storage[BLOCK * STEP * sizeof(Partial)];
  Partial* shared = reinterpret_cast<Partial*>(storage);
  overlapPreviousKernel();

  const unsigned tile = blockIdx.x % shape.tiles;
  const unsigned split = blockIdx.x / shape.tiles;
  const std::size_t firstColumn = std::size_t{tile} * shape.tileElements;
  const std::size_t firstRow = split * shape.splitRows;
  const std::size_t left = firstRow < shape.rows ? shape.rows - firstRow : 0;
  const std::size_t rows = left < shape.splitRows ? left : shape.splitRows;
  const unsigned down = threadIdx.x / shape.tileSteps;
  const RowStart start(shape, firstRow + down, STEP);
  // Where in the tile the thread's step begins: perhaps before it, which wraps around.
  const std::size_t place = threadIdx.x % shape.tileSteps * STEP - std::size_t{start.before};
  Partial partials[STEP];
#pragma unroll
  for (unsigned e = 0; e < STEP; ++e) partials[e] = reducer.empty();
  if constexpr (STEP > 1)
    if (shape.edges && (tile == 0 || firstColumn + shape.tileElements + STEP > shape.cols))
      addRowEdges<BLOCK, Policy>(partials, shared, source, reducer, shape, firstRow, rows, firstColumn,
                                 place);
  if (down < shape.rowThreads) {
    const std::size_t column = firstColumn + place;
    if (down < rows && column < shape.rowElements && column + STEP <= shape.rowElements &&
        column < firstColumn + shape.tileElements)
      addColumns<itemsFor<Policy::VECTORS, Source>>(
          partials, source, reducer, start.step + (column + start.before) / STEP,
          shape.rowThreads * shape.ld / STEP, (rows - down - 1) / shape.rowThreads + 1);
#pragma unroll
    for (unsigned e = 0; e < STEP; ++e)
      if (place + e < shape.tileElements) shared[down * shape.tileElements + place + e] = partials[e];
  }
  foldRows<BLOCK>(shared, shape.rowThreads * shape.tileElements / shape.period, shape.period,
                  reducer.combiner());

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
  shape.rowThreads = BLOCK / shape.tileSteps / shape.classes * shape.classes;
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

// The source whose steps begin at the first 16-byte boundary.
template <class T>
ArraySource<T, Identity, true> stepsFromBoundary(const ArrayView<T>& view) {
  const std::size_t head = elementsToBoundary(view.data, 16);
  return {view.data, view.data + head, head, {}};
}

template <class It>
IteratorSource<It, Identity> stepsFromBoundary(const IteratorView<It>& view) {
  return view.steps();
}

// Rows that begin at the same distance from a boundary are so far apart.
template <class Source>
unsigned rowClasses(std::size_t ld) {
  return static_cast<unsigned>(Source::STEP / greatestCommonDivisor(ld, Source::STEP));
}

// How many steps side by side a block takes.
template <class Policy, std::size_t STEP>
constexpr unsigned columnTileSteps(bool shifted) {
  if (shifted) return smallerOf(Policy::shiftedTileSteps, Policy::shiftedTileColumns / unsigned{STEP});
  return STEP == 1 ? Policy::elementTileSteps : Policy::tileSteps;
}

// Tiles of steps side by side, the last perhaps narrower.
template <class Policy, class Source, class Reducer>
void launchColumnTiles(const Source& source, std::size_t rows, std::size_t cols, std::size_t ld,
                       const Reducer& reducer, typename Reducer::Result* out, cudaStream_t stream,
                       Workspace* workspace) {
  constexpr unsigned BLOCK = columnsBlock<Policy, Source, typename Reducer::Partial>();
  constexpr std::size_t STEP = Source::STEP;
  ColumnTiles shape{};
  shape.rows = rows;
  shape.cols = cols;
  shape.ld = ld;
  shape.lead = STEP - source.head;
  shape.rowElements = cols;
  shape.classes = rowClasses<Source>(ld);
  const bool shifted = source.head > 0 || shape.classes > 1;
  shape.edges = shifted || cols % STEP != 0;
  const std::size_t width = smallerOf(columnTileSteps<Policy, STEP>(shifted), BLOCK / shape.classes);
  // No more threads one below the other than have rows to keep their loads in flight.
  const std::size_t down = clampTo(rows / itemsFor<Policy::VECTORS, Source> / shape.classes * shape.classes,
                                   std::size_t{shape.classes}, BLOCK / width);
  const std::size_t rowSteps = ceilDivide(cols, STEP), most = BLOCK / down - shifted;
  const std::size_t steps =
      shifted ? ceilDivide(rowSteps, ceilDivide(rowSteps, most)) : smallerOf(rowSteps, most);
  shape.tiles = static_cast<unsigned>(ceilDivide(rowSteps, steps));
  shape.tileSteps = static_cast<unsigned>(steps + shifted);
  shape.tileElements = static_cast<unsigned>(steps * STEP);
  shape.period = shape.tileElements;
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
  shape.rowElements = leastCommonMultiple(cols, Source::STEP);
  shape.ld = shape.rowElements;
  shape.lead = Source::STEP;
  shape.rows = (elements - source.head) / shape.rowElements;
  shape.tileElements = static_cast<unsigned>(shape.rowElements);
  shape.tileSteps = shape.tileElements / Source::STEP;
  shape.tiles = 1;
  shape.classes = 1;
  shape.period = static_cast<unsigned>(cols);
  launchColumns<Policy>(source, shape, reducer, out, stream, workspace);
}

// Whether to read rows by steps although they do not consist of whole ones. The block must hold threads for
// the edges of every class of rows.
template <class Policy, class Source, std::size_t BLOCK>
bool shiftsSteps(std::size_t rows, std::size_t cols, std::size_t ld) {
  const std::size_t classes = rowClasses<Source>(ld), edgeColumns = 2 * Source::STEP;
  const std::size_t narrowest = largerOf(Policy::shiftedColumns, edgeColumns);
  return classes <= rows && cols >= narrowest && classes * edgeColumns <= BLOCK;
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
  else if (aligned || shiftsSteps<Policy, Source, BLOCK>(rows, cols, ld))
    launchColumnTiles<Policy>(stepsFromBoundary(view), rows, cols, ld, reducer, out, stream, workspace);
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
/// Cost: one read of the matrix at near the speed of a plain sum, by 16-byte vectors wherever rows begin.
/// Element by element, which costs narrow types (half, bytes) speed, are read: rows shorter than 16 such
/// steps that have gaps between them and are not multiples of 16 bytes; matrices of fewer rows than it takes
/// until one begins at the same distance from a boundary again, 16 at most; and iterators. Partial results of
/// columns that several blocks share need the Workspace. The order of operations depends on the shape, ld,
/// the types and the alignment of `in`. Technique: neighbouring threads read neighbouring columns, so that
/// every access is a whole line, and each adds up its own columns in registers; threads one below the other
/// are joined in shared memory, blocks by a ticket per tile. A thread takes rows that begin at the same
/// distance from a 16-byte boundary; only what lies before the first and after the last boundary of a row is
/// read by elements.
/// \{

/// \param op the operation, Plus unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy ReduceColumnsPolicy, or a type derived from it
template <class A = DefaultAccumulator, class Policy = ReduceColumnsPolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out, Op op,
                   Init init, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::some<Reduced<A, Op, It>>(init)};
  detail::reduceColumnsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

template <class A = DefaultAccumulator, class Policy = ReduceColumnsPolicy, class It, class Op = Plus>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Reduced<A, Op, It>* out,
                   Op op = {}, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::nothing<Reduced<A, Op, It>>()};
  detail::reduceColumnsTo<Policy>(in, rows, cols, ld, fold, out, stream, workspace);
}

/// \}

GPUOPT_NAMESPACE_END
