/// \file
/// Positions grouped by the rows that indices name: a stable sort by counting, a digit of the row at a time, so that
/// the positions of each row are in ascending order. No atomics on global memory: the same order each time.
///
///     countDigitsKernel     how many positions of a tile have each digit
///     (exclusive scan)      where those of each digit and tile go
///     moveDigitsKernel      moves them there
///     markListsKernel       where the next row's list begins
///     (inclusive scan)      the number of each list
///     writeListsKernel      where each list begins
///     groupFewRowsKernel    all of these, in one block
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr unsigned groupRowsTile = groupRowsBlock * groupRowsItems;
inline constexpr unsigned groupRowsDigits = 1U << groupRowsDigitBits;
static_assert(groupRowsDigits == groupRowsBlock, "thread d has digit d");

// The rows that indices name, at their positions. Padding belongs to row `rows`, after all others.
template <RowIndices INDICES, class Index>
struct IndexedRows {
  const Index* indices;
  unsigned rows;

  __device__ unsigned row(unsigned i) const {
    const Index index = indices[i];
    return INDICES == RowIndices::padded && isNegative(index) ? rows : static_cast<unsigned>(index);
  }
  __device__ unsigned position(unsigned i) const { return i; }
};

// The same in another order.
struct MovedRows {
  unsigned* rows;
  unsigned* positions;

  __device__ unsigned row(unsigned i) const { return rows[i]; }
  __device__ unsigned position(unsigned i) const { return positions[i]; }
  __device__ void store(unsigned i, unsigned row, unsigned position) const {
    rows[i] = row;
    positions[i] = position;
  }
};

// Lists of positions, one for each row that occurs.
struct RowLists {
  unsigned* begins;  // in the sorted positions; one more, the end of the last
  unsigned* lists;   // their number
};

// One digit of the rows of n positions.
struct DigitPass {
  unsigned n;
  unsigned shift;
  unsigned mask;
  unsigned tiles;

  __device__ unsigned digit(unsigned row) const { return row >> shift & mask; }
};

// Warps take neighbouring runs of a tile, so that ascending positions have ascending ranks.
__device__ inline unsigned positionInTile(unsigned item) {
  return threadIdx.x / 32 * (32 * groupRowsItems) + item * 32 + threadIdx.x % 32;
}

// Counters of a tile: those of digit d are neighbours by tiles.
template <class Source>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    countDigitsKernel(const Source source, const DigitPass pass, unsigned* counts) {
  __shared__ unsigned ofDigit[groupRowsDigits];
  const SharedCounts counters(ofDigit);
  ofDigit[threadIdx.x] = 0;
  waitForPreviousKernel();
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < groupRowsItems; ++k) {
    const unsigned i = blockIdx.x * groupRowsTile + k * groupRowsBlock + threadIdx.x;
    if (i < pass.n) counters.increment(pass.digit(source.row(i)));
  }
  __syncthreads();
  if (threadIdx.x <= pass.mask) counts[std::size_t{threadIdx.x} * pass.tiles + blockIdx.x] = ofDigit[threadIdx.x];
}

// The shared memory of a tile that is being ranked.
struct DigitRanks {
  unsigned short before[groupRowsBlock / 32][groupRowsDigits];  // positions of a digit in the tile's warps before
  unsigned first[groupRowsDigits];                              // where a digit's positions go
};

// The ranks of a warp's positions among those of their digits, and the digits' counters after them.
__device__ inline void rankWarp(const DigitPass& pass, unsigned begin, const unsigned (&rows)[groupRowsItems],
                                unsigned (&ranks)[groupRowsItems], unsigned short* counts) {
  const unsigned lower = (1U << laneIndex()) - 1;
#pragma unroll
  for (unsigned k = 0; k < groupRowsItems; ++k) {
    const bool exists = begin + positionInTile(k) < pass.n;
    const unsigned digit = exists ? pass.digit(rows[k]) : ~0U;
    const unsigned same = __match_any_sync(fullMask, digit);
    const unsigned count = exists ? counts[digit] : 0;
    ranks[k] = count + static_cast<unsigned>(__popc(same & lower));
    __syncwarp();
    if (exists && (same & lower) == 0)
      counts[digit] = static_cast<unsigned short>(count + static_cast<unsigned>(__popc(same)));
    __syncwarp();
  }
}

// Ranks a tile. Thread d gets the number of the tile's positions with digit d. A barrier has to follow.
__device__ inline unsigned rankTile(const DigitPass& pass, unsigned begin, const unsigned (&rows)[groupRowsItems],
                                    unsigned (&ranks)[groupRowsItems], DigitRanks& shared) {
  constexpr unsigned WARPS = groupRowsBlock / 32;
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) shared.before[w][threadIdx.x] = 0;
  __syncthreads();
  rankWarp(pass, begin, rows, ranks, shared.before[threadIdx.x / 32]);
  __syncthreads();
  unsigned total = 0;
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) {
    const unsigned count = shared.before[w][threadIdx.x];
    shared.before[w][threadIdx.x] = static_cast<unsigned short>(total);
    total += count;
  }
  return total;
}

template <class Source>
__device__ inline void loadTile(const Source& source, unsigned begin, unsigned n, unsigned (&rows)[groupRowsItems],
                                unsigned (&positions)[groupRowsItems]) {
#pragma unroll
  for (unsigned k = 0; k < groupRowsItems; ++k) {
    const unsigned i = begin + positionInTile(k);
    rows[k] = i < n ? source.row(i) : 0;
    positions[k] = i < n ? source.position(i) : 0;
  }
}

// Moves a tile to where its digits' positions go: firstOf(d, total), called by thread d, is the first of digit d.
template <class Source, class FirstOf>
__device__ inline void moveTile(const Source& source, const DigitPass& pass, unsigned begin, DigitRanks& shared,
                                const MovedRows& out, const FirstOf& firstOf) {
  unsigned rows[groupRowsItems], positions[groupRowsItems], ranks[groupRowsItems];
  loadTile(source, begin, pass.n, rows, positions);
  shared.first[threadIdx.x] = firstOf(rankTile(pass, begin, rows, ranks, shared));
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < groupRowsItems; ++k) {
    if (begin + positionInTile(k) >= pass.n) continue;
    const unsigned digit = pass.digit(rows[k]);
    out.store(shared.first[digit] + shared.before[threadIdx.x / 32][digit] + ranks[k], rows[k], positions[k]);
  }
}

template <class Source>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    moveDigitsKernel(const Source source, const DigitPass pass, const unsigned* firsts, const MovedRows out) {
  __shared__ DigitRanks shared;
  waitForPreviousKernel();
  moveTile(source, pass, blockIdx.x * groupRowsTile, shared, out, [&](unsigned) {
    return threadIdx.x <= pass.mask ? firsts[std::size_t{threadIdx.x} * pass.tiles + blockIdx.x] : 0;
  });
}

// Whether the list of a row begins at sorted position i. Padding, in row `padding`, has none.
__device__ inline bool beginsList(const unsigned* rows, unsigned i, unsigned padding) {
  return rows[i] != padding && (i == 0 || rows[i - 1] != rows[i]);
}

// Writes what is known at sorted position i, from the number of lists that begin up to there.
__device__ inline void writeList(const unsigned* rows, unsigned i, unsigned n, unsigned padding, unsigned upTo,
                                 const RowLists& out) {
  const bool isLast = i + 1 == n;
  if (beginsList(rows, i, padding)) out.begins[upTo - 1] = i;
  if (rows[i] != padding && (isLast || rows[i + 1] == padding)) out.begins[upTo] = i + 1;
  if (isLast) *out.lists = upTo;
}

// Templates, so that several sources may have them.
template <class Rows>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    markListsKernel(const Rows rows, unsigned n, unsigned padding, unsigned* marks) {
  waitForPreviousKernel();
  const unsigned i = blockIdx.x * groupRowsBlock + threadIdx.x;
  if (i < n) marks[i] = beginsList(rows, i, padding) ? 1 : 0;
}

template <class Rows>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    writeListsKernel(const Rows rows, unsigned n, unsigned padding, const unsigned* numbers, const RowLists out) {
  waitForPreviousKernel();
  const unsigned i = blockIdx.x * groupRowsBlock + threadIdx.x;
  if (i < n) writeList(rows, i, n, padding, numbers[i], out);
}

// Up to a tile of positions. The last pass leaves them in `sorted`, the others in both in turn.
template <class Source>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    groupFewRowsKernel(const Source source, DigitPass pass, unsigned passes, unsigned digitBits, unsigned padding,
                       const MovedRows sorted, const MovedRows other, const RowLists out) {
  __shared__ DigitRanks shared;
  waitForPreviousKernel();
  const auto firstOf = [](unsigned total) { return blockExclusiveScan<groupRowsBlock>(total, 0U, Plus{}); };
  MovedRows to = passes % 2 == 1 ? sorted : other, from = passes % 2 == 1 ? other : sorted;
  moveTile(source, pass, 0, shared, to, firstOf);
  for (unsigned p = 1; p < passes; ++p) {
    const MovedRows moved = to;
    to = from, from = moved;
    pass.shift += digitBits;
    __syncthreads();
    moveTile(from, pass, 0, shared, to, firstOf);
  }
  __syncthreads();
  unsigned before = 0;
  for (unsigned begin = 0; begin < pass.n; begin += groupRowsBlock) {
    const unsigned i = begin + threadIdx.x;
    const unsigned mark = i < pass.n && beginsList(sorted.rows, i, padding) ? 1 : 0;
    const unsigned upTo = before + blockInclusiveScan<groupRowsBlock>(mark, Plus{});
    if (i < pass.n) writeList(sorted.rows, i, pass.n, padding, upTo, out);
    before += static_cast<unsigned>(__syncthreads_count(static_cast<int>(mark)));
  }
}

GPUOPT_DETAIL_END
