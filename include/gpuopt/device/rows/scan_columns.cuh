/// \file
/// The kernel that scans columns: tiles of rows and neighbouring columns, chained from the top to the bottom.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/scan_chain.cuh>
#include <gpuopt/device/rows/scan_items.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/warp/scan.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class In, class Out, class A, class Op>
struct ScanColumnsArgs {
  const In* in;  // of the first row in the order of the scan
  Out* out;
  std::size_t rows, cols;
  std::ptrdiff_t inLd, outLd;
  std::ptrdiff_t shift;  // of the first word: columns before the first one
  unsigned strips;
  Op op;
  ScanPrefix<A> start;
  ScanChain chain;
};

// The word of a thread, in each of its rows.
template <int ITEMS, class In, class Out>
struct ScanColumnWord {
  std::ptrdiff_t first, cols;

  __device__ bool isWhole() const { return ITEMS == 1 ? first < cols : first >= 0 && first + ITEMS <= cols; }
  __device__ bool has(int i) const { return first + i >= 0 && first + i < cols; }

  // Columns that do not exist get an element of the block's own outermost one: other blocks may have scanned theirs, if
  // in and out are the same.
  template <class A>
  __device__ void load(ScanItems<In, ITEMS>& items, const In* row) const {
    if (isWhole()) return items.load(row + first);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      items.values[i] = has(i) ? row[first + i] : paddingLike<A>(row + (first + i < 0 ? 0 : cols - 1));
  }

  __device__ void store(const ScanItems<Out, ITEMS>& items, Out* row) const {
    if (isWhole()) return items.store(row + first);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (has(i)) row[first + i] = items.values[i];
  }
};

// The rows of a thread from `row` on; beyond the last one, copies of it.
template <class A, int ITEMS, int ROWS, class In, class Out, class Args>
__device__ inline void loadColumnRows(const Args& args, const ScanColumnWord<ITEMS, In, Out>& word, std::size_t row,
                                      ScanItems<In, ITEMS> (&items)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const std::size_t index = row + r < args.rows ? row + r : args.rows - 1;
    word.template load<A>(items[r], args.in + static_cast<std::ptrdiff_t>(index) * args.inLd);
  }
}

// The fold of value i of these rows.
template <class A, int ITEMS, int ROWS, class In, class Args>
__device__ inline A foldColumnRows(const Args& args, std::size_t row, const ScanItems<In, ITEMS> (&items)[ROWS],
                                   int i) {
  A sum = static_cast<A>(items[0].values[i]);
#pragma unroll
  for (int r = 1; r < ROWS; ++r)
    if (row + r < args.rows) sum = static_cast<A>(args.op(sum, static_cast<A>(items[r].values[i])));
  return sum;
}

// Writes the results of these rows, from what is before the first one.
template <bool EXCLUSIVE, int ITEMS, int ROWS, class In, class Out, class A, class Args>
__device__ inline void storeColumnRows(const Args& args, const ScanColumnWord<ITEMS, In, Out>& word, std::size_t row,
                                       const ScanItems<In, ITEMS> (&items)[ROWS], ScanPrefix<A> (&before)[ITEMS]) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (row + r >= args.rows) break;
    ScanItems<Out, ITEMS> results;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      if constexpr (EXCLUSIVE) results.values[i] = static_cast<Out>(before[i].value);
      before[i].append(static_cast<A>(items[r].values[i]), args.op);
      if constexpr (!EXCLUSIVE) results.values[i] = static_cast<Out>(before[i].value);
    }
    word.store(results, args.out + static_cast<std::ptrdiff_t>(row + r) * args.outLd);
  }
}

// Threads of a block: LANES along a row, and SEGMENTS of ROWS rows each below each other.
template <int ITEMS, int LANES, int THREADS>
struct ScanColumnTile {
  static constexpr int COLS = ITEMS * LANES;
  static constexpr int SEGMENTS = THREADS / LANES;
  static constexpr int PITCH = COLS + 1;  // of shared memory, against bank conflicts
  static_assert(SEGMENTS <= 32);
};

// What is before value `column` of a tile. All threads of the block call.
template <int COLS, int THREADS, class A, class Op>
__device__ inline void collectColumnPrefixes(const ScanLink<A>& link, const ScanPrefix<A>& start, A* prefixes, A* parts,
                                             Op op) {
  constexpr unsigned PARTS = THREADS / COLS, AT_ONCE = 4;
  const unsigned column = threadIdx.x % COLS, part = threadIdx.x / COLS;
  const unsigned share = (link.place() + PARTS - 1) / PARTS;
  ScanPrefix<A> sum{start.value, false};
  const unsigned end = (part + 1) * share < link.place() ? (part + 1) * share : link.place();
  for (unsigned first = part * share; first < end; first += AT_ONCE) {
    A totals[AT_ONCE];
    link.totals(totals, first, end - first, column);
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; ++i)
      if (first + i < end) sum.append(totals[i], op);
  }
  if (sum.exists) parts[threadIdx.x] = sum.value;
  if (link.place() > 0) __syncthreads();
  if (part > 0) return;
  ScanPrefix<A> prefix = start;
  if (link.hasGroupBefore()) prefix = {link.before(column), true};
  for (unsigned p = 0; p * share < link.place(); ++p) prefix.append(parts[p * COLS + column], op);
  if (prefix.exists) prefixes[column] = prefix.value;
}

template <int ITEMS, int LANES, int THREADS, int ROWS, bool EXCLUSIVE, class In, class Out, class A, class Op>
GPUOPT_KERNEL void __launch_bounds__(THREADS) scanColumnsKernel(const ScanColumnsArgs<In, Out, A, Op> args) {
  using Tile = ScanColumnTile<ITEMS, LANES, THREADS>;
  alignas(16) alignas(A) __shared__ unsigned char sharedTotals[Tile::SEGMENTS * Tile::PITCH * sizeof(A)];
  alignas(16) alignas(A) __shared__ unsigned char sharedParts[THREADS * sizeof(A)];
  alignas(16) alignas(A) __shared__ unsigned char sharedPrefixes[Tile::COLS * sizeof(A)];
  alignas(16) alignas(A) __shared__ unsigned char sharedTileTotals[Tile::COLS * sizeof(A)];
  A* const totals = reinterpret_cast<A*>(sharedTotals);
  A* const prefixes = reinterpret_cast<A*>(sharedPrefixes);
  A* const tileTotals = reinterpret_cast<A*>(sharedTileTotals);
  waitForPreviousKernel();
  const unsigned number = scanTileNumber(args.chain);
  const unsigned strip = number % args.strips, tile = number / args.strips;
  const ScanLink<A> link(args.chain, strip, tile);
  const unsigned lane = threadIdx.x % LANES, segment = threadIdx.x / LANES;
  const auto column = static_cast<std::ptrdiff_t>(std::size_t{strip} * Tile::COLS + lane * ITEMS) - args.shift;
  const ScanColumnWord<ITEMS, In, Out> word{column, static_cast<std::ptrdiff_t>(args.cols)};
  const std::size_t row = (std::size_t{tile} * Tile::SEGMENTS + segment) * ROWS;
  ScanItems<In, ITEMS> items[ROWS];
  loadColumnRows<A>(args, word, row, items);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    totals[segment * Tile::PITCH + lane * ITEMS + i] = foldColumnRows<A>(args, row, items, i);
  __syncthreads();
  // Lanes take the segments of a column. What is beyond the last row comes after everything that counts.
  constexpr unsigned AT_ONCE = THREADS / Tile::SEGMENTS;
  for (unsigned c = threadIdx.x / Tile::SEGMENTS; c < Tile::COLS; c += AT_ONCE) {
    const unsigned s = threadIdx.x % Tile::SEGMENTS;
    A& own = totals[s * Tile::PITCH + c];
    const A upTo = scanLanes(own, args.op, Tile::SEGMENTS);
    own = shuffleUp(upTo, 1, Tile::SEGMENTS);
    if (s == Tile::SEGMENTS - 1) {
      tileTotals[c] = upTo;
      link.publishTotal(c, upTo);
    }
  }
  __syncthreads();
  collectColumnPrefixes<Tile::COLS, THREADS>(link, args.start, prefixes, reinterpret_cast<A*>(sharedParts), args.op);
  const bool hasPrefix = args.start.exists || tile > 0;
  if (threadIdx.x < Tile::COLS) {
    ScanPrefix<A> after{tileTotals[threadIdx.x], false};
    if (hasPrefix) after = {prefixes[threadIdx.x], true};
    after.append(tileTotals[threadIdx.x], args.op);
    link.publishPrefix(threadIdx.x, after.value);
  }
  __syncthreads();
  const bool isLast = threadIdx.x == 0 && link.arrive();
  ScanPrefix<A> before[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const unsigned c = lane * ITEMS + i;
    before[i] = {hasPrefix ? prefixes[c] : totals[c], hasPrefix};
    if (segment > 0) before[i].append(totals[segment * Tile::PITCH + c], args.op);
  }
  storeColumnRows<EXCLUSIVE>(args, word, row, items, before);
  if (threadIdx.x < 32 && __any_sync(fullMask, isLast) != 0) link.reset();
}

GPUOPT_DETAIL_END
