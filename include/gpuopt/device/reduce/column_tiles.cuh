/// \file
/// The kernel of reduceColumns: tiles of columns, which blocks split among each other by rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/columns_plan.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Where a row begins.
struct RowStart {
  std::size_t step;  // that contains the row's first element
  unsigned before;   // elements of that step before the row

  __device__ RowStart(const ColumnTiles& shape, std::size_t row, unsigned stepElements) {
    const std::size_t position = row * shape.ld + shape.misalignment;
    step = position / stepElements - 1;
    before = static_cast<unsigned>(position % stepElements);
  }
};

// The tile, the split, and where in the matrix they begin.
struct ColumnBlock {
  unsigned tile;
  unsigned split;
  std::size_t firstColumn;
  std::size_t firstRow;
  std::size_t rows;

  __device__ explicit ColumnBlock(const ColumnTiles& shape)
      : tile(blockIdx.x % shape.tiles),
        split(blockIdx.x / shape.tiles),
        firstColumn(std::size_t{tile} * shape.tileElements),
        firstRow(split * shape.splitRows) {
    const std::size_t left = firstRow < shape.rows ? shape.rows - firstRow : 0;
    rows = left < shape.splitRows ? left : shape.splitRows;
  }
};

// Folds `count` rows of `width` partial results in shared memory into the first row, by halves: the order depends on
// their number alone. All threads of the block call.
template <int BLOCK, class Partial, class Op>
__device__ inline void foldRows(Partial* shared, unsigned count, unsigned width, Op op) {
  __syncthreads();
  while (count > 1) {
    const unsigned remaining = (count + 1) / 2;
    for (unsigned i = threadIdx.x; i < (count - remaining) * width; i += BLOCK)
      shared[i] = op(shared[i], shared[i + remaining * width]);
    count = remaining;
    __syncthreads();
  }
}

// Adds the values of each column as one share.
template <int ITEMS, class Source, class Reducer>
__device__ inline void addShares(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                 const Reducer& reducer, const typename Source::Step (&steps)[ITEMS]) {
  typename Reducer::Share shares[Source::STEP] = {};
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    typename Source::Value values[Source::STEP];
    source.values(steps[i], values);
#pragma unroll
    for (int e = 0; e < Source::STEP; ++e) {
      const typename Source::Value value[1] = {values[e]};
      reducer.add(shares[e], value, 0);
    }
  }
#pragma unroll
  for (int e = 0; e < Source::STEP; ++e) partials[e] = reducer.combiner()(partials[e], reducer.close(shares[e]));
}

// Adds ITEMS steps, `stride` apart, or the first `count` of them. They are of the rows `row`, `row` + rowStride, ...
template <int ITEMS, bool IS_FULL, class Source, class Reducer>
__device__ inline void addColumnBatch(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                      const Reducer& reducer, std::size_t first, std::size_t stride, std::size_t row,
                                      unsigned rowStride, std::size_t count) {
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  std::size_t step = first;
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i) {
    source.template load<Caching::normal>(steps[i], step);
    if (IS_FULL || i + 1 < count) step += stride;
  }
  if constexpr (IS_FULL && ShareOf<Reducer>::exists) {
    addShares(partials, source, reducer, steps);
  } else {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (IS_FULL || i < count) {
        source.values(steps[i], values);
#pragma unroll
        for (int e = 0; e < Source::STEP; ++e) {
          const typename Source::Value value[1] = {values[e]};
          reducer.add(partials[e], value, row + i * rowStride);
        }
      }
  }
}

// Adds `count` such steps to the partial results of their columns.
template <int ITEMS, class Source, class Reducer>
__device__ inline void addColumns(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                  const Reducer& reducer, std::size_t first, std::size_t stride, std::size_t row,
                                  unsigned rowStride, std::size_t count) {
#pragma unroll 1
  for (; count >= ITEMS; count -= ITEMS, first += ITEMS * stride) {
    addColumnBatch<ITEMS, true>(partials, source, reducer, first, stride, row, rowStride, count);
    row += ITEMS * rowStride;
  }
  if (count > 0) addColumnBatch<ITEMS, false>(partials, source, reducer, first, stride, row, rowStride, count);
}

// Adds the elements of a column before the first and after the last full step of a matrix without gaps.
template <class Source, class Reducer>
__device__ inline void addMatrixEdges(typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                      const ColumnTiles& shape, std::size_t column) {
  const auto addBelow = [&](std::size_t end, std::size_t first) {
    for (std::size_t i = first; i < end; i += shape.cols) {
      const typename Source::Value value[1] = {source.at(i)};
      addAnywhere(partial, reducer, value, i / shape.cols);
    }
  };
  const std::size_t head = source.head;
  addBelow(head < shape.elements ? head : shape.elements, column);
  const std::size_t end = head + shape.steps * Source::STEP;
  addBelow(shape.elements, end + (column + shape.cols - end % shape.cols) % shape.cols);
}

// The first STEP and the last STEP columns of a matrix. The first and last full step of every row begin and end within
// them.
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
  // Whether a column is outside the full steps of a row that begins after `before` elements of a step.
  __device__ bool isOutsideSteps(std::size_t column, unsigned before) const {
    const std::size_t head = (STEP - before) % STEP;
    return column < head || column >= cols - (cols - head) % STEP;
  }
};

// Adds the elements outside full steps, at the ends of a block's rows, one by one, and gives the sums to the first row
// of threads, whose steps begin at element `offset` of the tile. All threads of the block call.
template <int BLOCK, class Policy, class Source, class Reducer>
__device__ inline void addRowEdges(typename Reducer::Partial (&partials)[Source::STEP],
                                   typename Reducer::Partial* shared, const Source& source, const Reducer& reducer,
                                   const ColumnTiles& shape, const ColumnBlock& block, std::size_t offset) {
  constexpr unsigned STEP = Source::STEP;
  constexpr unsigned COUNT = EdgeColumns<STEP>::COUNT;
  constexpr unsigned ROW_THREADS = BLOCK / COUNT;
  const IteratorSource<const typename Source::Element*, decltype(source.f)> elements{source.data, source.f};
  const EdgeColumns<STEP> edges{shape.cols};
  const unsigned rowThread = threadIdx.x / COUNT;
  const std::size_t column = edges.column(threadIdx.x % COUNT);
  typename Reducer::Partial edge[1] = {reducer.neutral()};
  if (rowThread < block.rows && column - block.firstColumn < shape.tileElements &&
      edges.isOutsideSteps(column, RowStart(shape, block.firstRow + rowThread, STEP).before))
    addColumns<itemsFor<16 * Policy::VECTORS, std::decay_t<decltype(elements)>>>(
        edge, elements, reducer, (block.firstRow + rowThread) * shape.ld + column, ROW_THREADS * shape.ld,
        block.firstRow + rowThread, ROW_THREADS, (block.rows - rowThread - 1) / ROW_THREADS + 1);
  shared[threadIdx.x] = edge[0];
  foldRows<BLOCK>(shared, ROW_THREADS, COUNT, reducer.combiner());
  if (threadIdx.x < shape.tileSteps) {
#pragma unroll
    for (unsigned e = 0; e < STEP; ++e) {
      if (!edges.contain(block.firstColumn + offset + e)) continue;
      const typename Reducer::Partial& sum = shared[edges.indexOf(block.firstColumn + offset + e)];
      if constexpr (Reducer::INDEXED)
        partials[e] = reducer.combiner()(partials[e], sum);
      else
        partials[e] = sum;
    }
  }
  __syncthreads();
}

// For each column of a tile, combines the partial results of `count` splits, `stride` apart, and passes them to
// store(column, result).
template <int BLOCK, class Partial, class Reducer, class Store>
__device__ inline void reduceSplits(const Reducer& reducer, const ColumnTiles& shape, const Partial* partials,
                                    std::size_t firstColumn, std::size_t stride, unsigned count, Partial* shared,
                                    Store store) {
  const auto op = reducer.combiner();
  const std::size_t left = shape.cols - firstColumn;
  const unsigned columns = left < shape.tileColumns ? static_cast<unsigned>(left) : shape.tileColumns;
  for (unsigned done = 0; done < columns; done += BLOCK) {
    const unsigned width = columns - done < BLOCK ? columns - done : BLOCK;
    const unsigned rows = BLOCK / width;
    const std::size_t column = firstColumn + done + threadIdx.x % width;
    if (threadIdx.x < rows * width) {
      Partial partial = reducer.neutral();
#pragma unroll 8
      for (unsigned split = threadIdx.x / width; split < count; split += rows)
        partial = op(partial, partials[split * stride * shape.cols + column]);
      shared[threadIdx.x] = partial;
    }
    foldRows<BLOCK>(shared, rows, width, op);
    if (threadIdx.x < width) store(column, shared[threadIdx.x]);  // no other thread writes that in the next round
  }
}

// Counts a block's arrival; true in all threads of the last block, which see what the others wrote before.
__device__ inline bool blockArrivesLast(unsigned* counter, unsigned arrivals) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = arriveLast(counter, arrivals);
  __syncthreads();
  return last;
}

// Combines the blocks of a tile by tickets: the last block of each group of splits combines its group, and the last of
// these blocks the groups. Each group has a counter, and so has the tile.
template <int BLOCK, class Reducer, class Out>
__device__ inline void reduceTile(const Reducer& reducer, const ColumnTiles& shape, unsigned tile, unsigned split,
                                  const GridScratch<typename Reducer::Partial>& scratch,
                                  typename Reducer::Partial* shared, const Out& out) {
  using Partial = typename Reducer::Partial;
  const std::size_t firstColumn = std::size_t{tile} * shape.tileColumns;
  const unsigned groups = (shape.splits + shape.groupSplits - 1) / shape.groupSplits;
  const unsigned group = split / shape.groupSplits;
  unsigned* counters = scratch.arrivals + tile * (groups + 1);
  if (shape.groupSplits > 1) {
    const unsigned first = group * shape.groupSplits;
    const unsigned count = shape.splits - first < shape.groupSplits ? shape.splits - first : shape.groupSplits;
    if (!blockArrivesLast(counters + group, count)) return;
    Partial* partials = scratch.partials + first * shape.cols;
    reduceSplits<BLOCK>(reducer, shape, partials, firstColumn, 1, count, shared,
                        [=](std::size_t column, const Partial& partial) { partials[column] = partial; });
  }
  if (!blockArrivesLast(counters + groups, groups)) return;
  reduceSplits<BLOCK>(
      reducer, shape, scratch.partials, firstColumn, shape.groupSplits, groups, shared,
      [=](std::size_t column, const Partial& partial) { storeOutput(out, column, reducer.finish(partial)); });
}

// Adds the steps of a thread, which begin at `column` of its rows, the first of which begins at `start`. The column
// wraps around where that is before the row. Without gaps between rows, such a step has elements of the row before, and
// the last one may have some of the next row: they are added to columns that are dropped.
template <class Policy, class Source, class Reducer>
__device__ inline void addTileSteps(typename Reducer::Partial (&partials)[Source::STEP], const Source& source,
                                    const Reducer& reducer, const ColumnTiles& shape, const ColumnBlock& block,
                                    const RowStart& start, std::size_t column, unsigned rowThread) {
  constexpr std::size_t LAST = Source::STEP - 1;  // element of a step
  const std::size_t tileEnd = block.firstColumn + shape.tileElements;
  const std::size_t end = shape.rowElements < tileEnd ? shape.rowElements : tileEnd;
  if (column + LAST >= end + LAST) return;
  if (shape.hasGaps && (column > column + LAST || column + LAST >= shape.rowElements)) return;
  const std::size_t stride = shape.rowThreads * shape.ld / Source::STEP;
  std::size_t step = start.step + (column + start.before) / Source::STEP;
  std::size_t row = block.firstRow + rowThread;
  std::size_t count = (block.rows - rowThread - 1) / shape.rowThreads + 1;
  if (!shape.hasGaps) {  // the first and the last step of the matrix may not be full
    const bool isBefore = step + 1 == 0;
    step += isBefore ? stride : 0;
    row += isBefore ? shape.rowThreads : 0;
    count -= isBefore ? 1 : 0;
    if (count > 0 && step + (count - 1) * stride >= shape.steps) --count;
  }
  addColumns<itemsFor<16 * Policy::VECTORS, Source>>(partials, source, reducer, step, stride, row, shape.rowThreads,
                                                     count);
}

// Each thread adds up the columns of its steps and stores them in its row of shared memory. What is outside full steps
// comes first, but where results have indices: a thread adds those in rising order.
template <int BLOCK, class Policy, class Source, class Reducer>
__device__ inline void addTile(typename Reducer::Partial* shared, const Source& source, const Reducer& reducer,
                               const ColumnTiles& shape, const ColumnBlock& block) {
  constexpr unsigned STEP = Source::STEP;
  const unsigned rowThread = threadIdx.x / shape.tileSteps;
  const RowStart start(shape, block.firstRow + rowThread, STEP);
  // Of the thread's step in the tile. A shifted step may begin before the tile; the offset then wraps around.
  const std::size_t offset = threadIdx.x % shape.tileSteps * STEP - std::size_t{start.before};
  typename Reducer::Partial partials[STEP];
#pragma unroll
  for (unsigned e = 0; e < STEP; ++e) partials[e] = reducer.neutral();
  const bool hasEdges =
      STEP > 1 && shape.hasEdges && (block.tile == 0 || block.firstColumn + shape.tileElements + STEP > shape.cols);
  if constexpr (STEP > 1 && !Reducer::INDEXED)
    if (hasEdges) addRowEdges<BLOCK, Policy>(partials, shared, source, reducer, shape, block, offset);
  const bool addsSteps = rowThread < shape.rowThreads;
  if (!Reducer::INDEXED && !addsSteps) return;
  const std::size_t column = block.firstColumn + offset;
  if (addsSteps && rowThread < block.rows)
    addTileSteps<Policy>(partials, source, reducer, shape, block, start, column, rowThread);
  if constexpr (Reducer::INDEXED)
    if (shape.isFlat) {
#pragma unroll
      for (unsigned e = 0; e < STEP; ++e)
        reducer.reindex(partials[e], (source.head + column + e) / shape.cols, shape.rowElements / shape.cols);
    }
  if constexpr (STEP > 1 && Reducer::INDEXED)
    if (hasEdges) addRowEdges<BLOCK, Policy>(partials, shared, source, reducer, shape, block, offset);
  if (!addsSteps) return;
#pragma unroll
  for (unsigned e = 0; e < STEP; ++e)
    if (offset + e < shape.tileElements) shared[rowThread * shape.tileElements + offset + e] = partials[e];
}

template <int BLOCK, class Policy, class Source, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(BLOCK, 1024 / (BLOCK > Policy::BLOCK ? BLOCK : Policy::BLOCK))
    columnsKernel(const Source source, const Reducer reducer, const ColumnTiles shape,
                  const GridScratch<typename Reducer::Partial> scratch, const Out out) {
  using Partial = typename Reducer::Partial;
  static_assert(Policy::sharedBytes <= Policy::flatBytes, "gpuopt: blocks have no more than those of flat matrices");
  constexpr std::size_t BYTES = BLOCK * Source::STEP * sizeof(Partial);
  alignas(16) alignas(Partial) __shared__ unsigned char storage[BYTES < Policy::flatBytes ? BYTES : Policy::flatBytes];
  Partial* shared = reinterpret_cast<Partial*>(storage);
  overlapPreviousKernel();
  const ColumnBlock block(shape);
  addTile<BLOCK, Policy>(shared, source, reducer, shape, block);
  foldRows<BLOCK>(shared, shape.rowThreads * shape.tileElements / shape.tileColumns, shape.tileColumns,
                  reducer.combiner());

  for (unsigned i = threadIdx.x; i < shape.tileColumns; i += BLOCK) {
    const std::size_t column = shape.isFlat ? (source.head + i) % shape.cols : block.firstColumn + i;
    if (column >= shape.cols) break;
    Partial partial = shared[i];
    if (!shape.hasGaps && block.split == 0) addMatrixEdges(partial, source, reducer, shape, column);
    if (shape.splits == 1)
      storeOutput(out, column, reducer.finish(partial));
    else
      scratch.partials[block.split * shape.cols + column] = partial;
  }
  if (shape.splits > 1) reduceTile<BLOCK>(reducer, shape, block.tile, block.split, scratch, shared, out);
}

GPUOPT_DETAIL_END
