/// \file
/// The kernel of addRows that adds the rows of lists: short lists by a thread for each pack, long ones by whole blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/lists.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/grid/resident_threads.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Numbers of the lists that blocks sum, and how many blocks at the beginning of the grid do so.
struct LongLists {
  const unsigned* numbers;
  const unsigned* count;
  unsigned blocks;
};

// Of which rows blocks add long lists, and where to: packs of N elements.
template <class In, class Out, unsigned N, class Index>
struct LongListArgs {
  const Pack<In, N>* in;
  Pack<Out, N>* out;
  const Index* indices;  // of rows of `in`
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
};

// What a block of THREADS loads of a long list at a time: some packs of some rows.
template <class In, unsigned N, unsigned THREADS, unsigned PANEL_BYTES, unsigned LOADS_OF_THREAD>
struct LongListTile {
  static constexpr unsigned LANES = static_cast<unsigned>(smallerOf<std::size_t>(PANEL_BYTES / (N * sizeof(In)), 32));
  static constexpr unsigned LOADS = LOADS_OF_THREAD;
  static constexpr unsigned STEP = THREADS / LANES;  // rows that the block loads at once
  static constexpr unsigned ROWS = STEP * LOADS;
  static constexpr unsigned COLS = LANES * N;
  static_assert(COLS <= THREADS);

  alignas(16) Pack<In, N> packs[ROWS][LANES];

  __device__ In at(unsigned row, unsigned col) const { return reinterpret_cast<const In*>(packs[row])[col]; }
};

// The rows of a thread, in the order of the list: the packs of the next tile are loaded while this one is summed, and
// the positions of the one after that.
template <class Tile, class In, class Out, unsigned N, class Index>
class LongListRows {
  using Args = LongListArgs<In, Out, N, Index>;

 public:
  __device__ LongListRows(const Args& args, const RowList<unsigned>& list, std::size_t firstPack)
      : args_(args), list_(list), col_(firstPack + threadIdx.x % Tile::LANES) {
    findRows(list.begin);
    load(list.begin);
  }

  __device__ void put(Tile& tile) const {
#pragma unroll
    for (unsigned k = 0; k < Tile::LOADS; ++k)
      tile.packs[k * Tile::STEP + threadIdx.x / Tile::LANES][threadIdx.x % Tile::LANES] = packs_[k];
  }

  __device__ void load(unsigned begin) {
#pragma unroll
    for (unsigned k = 0; k < Tile::LOADS; ++k)
      if (col_ < args_.cols && position(begin, k) < list_.end)
        packs_[k] = args_.in[static_cast<std::size_t>(rows_[k]) * args_.inLd + col_];
    findRows(begin + Tile::ROWS);
  }

 private:
  __device__ static unsigned position(unsigned begin, unsigned k) {
    return begin + k * Tile::STEP + threadIdx.x / Tile::LANES;
  }

  __device__ void findRows(unsigned begin) {
#pragma unroll
    for (unsigned k = 0; k < Tile::LOADS; ++k)
      if (position(begin, k) < list_.end) rows_[k] = args_.indices[position(begin, k)];
  }

  const Args& args_;
  const RowList<unsigned>& list_;
  std::size_t col_;
  Index rows_[Tile::LOADS];
  Pack<In, N> packs_[Tile::LOADS];
};

// Adds a panel of the rows of a list: each sum is one thread's, in the order of the indices. All threads call.
template <class Tile, class In, class Out, unsigned N, class Index>
__device__ inline void addLongList(const LongListArgs<In, Out, N, Index>& args, const RowList<unsigned>& list,
                                   std::size_t firstPack, Tile& tile) {
  using Sum = RowSum<In, Out>;
  LongListRows<Tile, In, Out, N, Index> rows(args, list, firstPack);
  const unsigned col = threadIdx.x;
  const bool hasSum = col < Tile::COLS && firstPack + col / N < args.cols;
  Out* const out = reinterpret_cast<Out*>(args.out + list.row * args.outLd + firstPack) + col;
  Sum sum{};
  if (hasSum) sum += static_cast<Sum>(*out);
  for (unsigned begin = list.begin; begin < list.end; begin += Tile::ROWS) {
    rows.put(tile);
    __syncthreads();
    rows.load(begin + Tile::ROWS);
    const unsigned count = list.end - begin < Tile::ROWS ? list.end - begin : Tile::ROWS;
    if (hasSum)
#pragma unroll 8
      for (unsigned r = 0; r < count; ++r) sum += static_cast<Sum>(tile.at(r, col));
    __syncthreads();
  }
  if (hasSum) *out = static_cast<Out>(sum);
}

template <class In, class Out, unsigned N, class Index, class Weight>
GPUOPT_KERNEL void __launch_bounds__(combineRowsBlock,
                                     smallerOf<int>(addedRowsBlocksPerSm, RESIDENT_THREADS / combineRowsBlock))
    addListsKernel(const CombineRowsArgs<In, Out, N, Index, Weight, AddedLists> args, const LongLists longLists) {
  using Tile = LongListTile<In, N, combineRowsBlock, longListPanel, longListLoads>;
  __shared__ Tile tile;
  waitForPreviousKernel();
  if (blockIdx.x >= longLists.blocks) {
    const std::size_t element = (blockIdx.x - longLists.blocks) * std::size_t{combineRowsBlock} + threadIdx.x;
    return combinePack<RowCombination::sum, RowIndices::trusted, addedRowsLoads>(args, element);
  }
  const LongListArgs<In, Out, N, Index> rows{args.in, args.out, args.indices, args.shape.cols, args.inLd, args.outLd};
  const std::size_t panels = (rows.cols + Tile::LANES - 1) / Tile::LANES, parts = *longLists.count * panels;
  for (std::size_t part = blockIdx.x; part < parts; part += longLists.blocks) {
    const std::size_t number = part / panels;
    addLongList(rows, args.bounds.list(longLists.numbers[number]), (part - number * panels) * Tile::LANES, tile);
  }
}

GPUOPT_DETAIL_END
