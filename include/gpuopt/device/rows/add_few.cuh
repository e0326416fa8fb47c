/// \file
/// The kernel of addRows for few indices, in one launch without scratch memory: each block looks at all indices, keeps
/// those of its rows in order, and adds these rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/rows/add_lists.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Packs of N elements.
template <class In, class Out, unsigned N, class Source>
struct AddFewRowsArgs {
  const Pack<In, N>* in;
  Pack<Out, N>* out;
  Source source;
  unsigned n;
  unsigned cols;  // of a block along rows
  std::size_t allCols;
  std::size_t inLd;
  std::size_t outLd;
};

// What a block keeps of up to n indices, in dynamic shared memory: their rows and positions, the next one of the same
// row, and which are the first of their rows.
struct SelectedRows {
  static constexpr unsigned NONE = 0xffff;
  static constexpr unsigned FOLLOWS = 0x8000;  // marks positions whose row has one before
  static constexpr std::size_t BYTES = 10;     // for each index

  unsigned* rows;
  unsigned short *positions, *next, *firsts;

  __device__ explicit SelectedRows(unsigned n) : rows(dynamicShared<unsigned>()) {
    positions = reinterpret_cast<unsigned short*>(rows + n);
    next = positions + n;
    firsts = next + n;
  }
  __device__ unsigned position(unsigned i) const { return positions[i] & (FOLLOWS - 1); }
};

// Keeps those of 16 indices of each thread that are of the block's rows, from number `count` on, and returns the number
// after them. Warps take neighbouring runs of indices.
template <class Source>
__device__ inline unsigned selectTile(const Source& source, unsigned begin, unsigned n, unsigned count,
                                      const SelectedRows& selected) {
  constexpr unsigned WARPS = addFewRowsBlock / 32, ITEMS = addFewRowsItems;
  __shared__ unsigned ofWarp[WARPS];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned used =
      n - begin < addFewRowsBlock * ITEMS ? (n - begin + addFewRowsBlock - 1) / addFewRowsBlock : ITEMS;
  const unsigned first = begin + warp * used * 32 + lane;
  unsigned rows[ITEMS], own = 0;
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k) rows[k] = k < used && first + k * 32 < n ? source.row(first + k * 32) : noRow;
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k)
    if (rows[k] != noRow && rows[k] % addFewRowsBuckets == blockIdx.x) own |= 1U << k;
  const unsigned ofLanes = warpReduce(static_cast<unsigned>(__popc(own)), Plus{});
  if (lane == 0) ofWarp[warp] = ofLanes;
  __syncthreads();
  unsigned slot = count;
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) {
    if (w == warp) slot = count;
    count += ofWarp[w];
  }
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k) {
    const bool isOwn = (own >> k & 1) != 0;
    const unsigned lanes = __ballot_sync(fullMask, isOwn);
    const unsigned to = slot + static_cast<unsigned>(__popc(lanes & ((1U << lane) - 1)));
    if (isOwn) {
      selected.rows[to] = rows[k];
      selected.positions[to] = static_cast<unsigned short>(first + k * 32);
      selected.next[to] = SelectedRows::NONE;
    }
    slot += static_cast<unsigned>(__popc(lanes));
  }
  __syncthreads();
  return count;
}

// Links each of `count` positions to the next one of its row. Returns how many rows there are, after a barrier.
__device__ inline unsigned linkRows(unsigned count, const SelectedRows& selected) {
  __shared__ unsigned rows;
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) rows = 0;
  for (unsigned i = threadIdx.x / 32; i < count; i += addFewRowsBlock / 32) {
    const unsigned row = selected.rows[i];
    unsigned same = 0;
    for (unsigned j = i + 1; j < count && same == 0; j += 32) {
      same = __ballot_sync(fullMask, j + lane < count && selected.rows[j + lane] == row);
      if (same == 0 || lane > 0) continue;
      const unsigned found = j + static_cast<unsigned>(__ffs(static_cast<int>(same))) - 1;
      selected.next[i] = static_cast<unsigned short>(found);
      selected.positions[found] |= SelectedRows::FOLLOWS;
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += addFewRowsBlock)
    if (selected.positions[i] < SelectedRows::FOLLOWS)
      selected.firsts[atomicAdd(&rows, 1U)] = static_cast<unsigned short>(i);  // in any order
  __syncthreads();
  return rows;
}

// Adds one pack of the row whose first position is number i.
template <class In, class Out, unsigned N, class Source>
__device__ inline void addSelected(const AddFewRowsArgs<In, Out, N, Source>& args, const SelectedRows& selected,
                                   unsigned i, std::size_t col) {
  constexpr unsigned LOADS = addFewRowsLoads;
  using Sum = RowSum<In, Out>;
  Pack<Out, N>* const out = args.out + selected.rows[i] * args.outLd + col;
  const Pack<Out, N> start = *out;
  Sum sums[N] = {};
  for (bool isFirst = true; i != SelectedRows::NONE; isFirst = false) {
    Pack<In, N> packs[LOADS];
    bool exists[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) {
      exists[k] = i != SelectedRows::NONE;
      if (!exists[k]) continue;
      packs[k] = args.in[selected.position(i) * args.inLd + col];
      i = selected.next[i];
    }
    if (isFirst) addPack<Out, N>(sums, start, Sum{1});
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k)
      if (exists[k]) addPack<In, N>(sums, packs[k], Sum{1});
  }
  *out = packOf<Out, N>(sums);
}

// Marks the rows of long lists in `firsts`, and collects them in any order. Returns how many there are, after a
// barrier.
__device__ inline unsigned findLongLists(unsigned rows, const SelectedRows& selected, unsigned* longRows) {
  __shared__ unsigned found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (unsigned u = threadIdx.x; u < rows; u += addFewRowsBlock) {
    unsigned i = selected.firsts[u];
    for (unsigned k = 1; k < addFewRowsLong && i != SelectedRows::NONE; ++k) i = selected.next[i];
    if (i == SelectedRows::NONE) continue;
    longRows[atomicAdd(&found, 1U)] = selected.rows[i];
    selected.firsts[u] |= SelectedRows::FOLLOWS;
  }
  __syncthreads();
  return found;
}

// Writes the positions of a row, in order, over the links. Returns how many they are, after a barrier.
__device__ inline unsigned listPositions(unsigned row, unsigned count, const SelectedRows& selected) {
  __shared__ unsigned end;
  if (threadIdx.x == 0) end = 0;
  for (unsigned begin = 0; begin < count; begin += addFewRowsBlock) {
    const unsigned i = begin + threadIdx.x;
    const unsigned isOwn = i < count && selected.rows[i] == row ? 1 : 0;
    const unsigned before = blockExclusiveScan<addFewRowsBlock>(isOwn, 0U, Plus{}) + end;
    if (isOwn != 0) selected.next[before] = static_cast<unsigned short>(selected.position(i));
    __syncthreads();
    if (threadIdx.x == addFewRowsBlock - 1) end = before + isOwn;
    __syncthreads();
  }
  return end;
}

// Adds the long lists of the block's rows and columns, one after the other: all threads load, and one for each column
// adds, in the order of the indices.
template <class Tile, class In, class Out, unsigned N, class Source>
__device__ inline void addLongSelected(const AddFewRowsArgs<In, Out, N, Source>& args, const SelectedRows& selected,
                                       unsigned count, const unsigned* longRows, unsigned longCount, std::size_t begin,
                                       std::size_t end) {
  __shared__ Tile tile;
  const LongListArgs<In, Out, N, unsigned short> rows{args.in, args.out, selected.next, end, args.inLd, args.outLd};
  __syncthreads();  // the links of short lists were read
  for (unsigned k = 0; k < longCount; ++k) {
    const RowList<unsigned> list{0, listPositions(longRows[k], count, selected), longRows[k]};
    for (std::size_t col = begin; col < end; col += Tile::LANES) addLongList(rows, list, col, tile);
  }
}

template <class In, class Out, unsigned N, class Source>
GPUOPT_KERNEL void __launch_bounds__(addFewRowsBlock, 1)
    addFewRowsKernel(const AddFewRowsArgs<In, Out, N, Source> args) {
  using Tile = LongListTile<In, N, addFewRowsBlock, addFewRowsPanel, addFewRowsLongLoads>;
  __shared__ unsigned longRows[fewIndicesLimit / addFewRowsLong];
  const SelectedRows selected(args.n);
  waitForPreviousKernel();
  unsigned count = 0;
  for (unsigned begin = 0; begin < args.n; begin += addFewRowsBlock * addFewRowsItems)
    count = selectTile(args.source, begin, args.n, count, selected);
  const unsigned rows = linkRows(count, selected);
  const unsigned longCount = count < addFewRowsLong ? 0 : findLongLists(rows, selected, longRows);
  const std::size_t begin = std::size_t{blockIdx.y} * args.cols;
  const unsigned cols = args.allCols - begin < args.cols ? static_cast<unsigned>(args.allCols - begin) : args.cols;
  for (unsigned u = threadIdx.x; u < rows * cols; u += addFewRowsBlock) {
    const unsigned number = u / cols, first = selected.firsts[number];
    if (first < SelectedRows::FOLLOWS) addSelected(args, selected, first, begin + (u - number * cols));
  }
  if (longCount > 0) addLongSelected<Tile>(args, selected, count, longRows, longCount, begin, begin + cols);
}

GPUOPT_DETAIL_END
