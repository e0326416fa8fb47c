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

// What a block loads of a long list at a time: some packs of some rows.
template <class In, unsigned N>
struct LongListTile {
  static constexpr std::size_t PANEL_BYTES = 64;
  static constexpr unsigned LANES = static_cast<unsigned>(smallerOf<std::size_t>(PANEL_BYTES / (N * sizeof(In)), 32));
  static constexpr unsigned STEP = combineRowsBlock / LANES;  // rows that the block loads at once
  static constexpr unsigned ROWS = STEP * longListLoads;
  static constexpr unsigned COLS = LANES * N;
  static_assert(COLS <= combineRowsBlock);

  alignas(16) Pack<In, N> packs[ROWS][LANES];

  __device__ In at(unsigned row, unsigned col) const { return reinterpret_cast<const In*>(packs[row])[col]; }
};

// The rows of a thread, in the order of the list: the packs of the next tile are loaded while this one is summed, and
// the positions of the one after that.
template <class In, class Out, unsigned N, class Index, class Weight>
class LongListRows {
  using Tile = LongListTile<In, N>;
  using Args = CombineRowsArgs<In, Out, N, Index, Weight, AddedLists>;

 public:
  __device__ LongListRows(const Args& args, const RowList<unsigned>& list, std::size_t firstPack)
      : args_(args), list_(list), col_(firstPack + threadIdx.x % Tile::LANES) {
    findRows(list.begin);
    load(list.begin);
  }

  __device__ void put(Tile& tile) const {
#pragma unroll
    for (unsigned k = 0; k < longListLoads; ++k)
      tile.packs[k * Tile::STEP + threadIdx.x / Tile::LANES][threadIdx.x % Tile::LANES] = packs_[k];
  }

  __device__ void load(unsigned begin) {
#pragma unroll
    for (unsigned k = 0; k < longListLoads; ++k)
      if (col_ < args_.shape.cols && position(begin, k) < list_.end)
        packs_[k] = args_.in[static_cast<std::size_t>(rows_[k]) * args_.inLd + col_];
    findRows(begin + Tile::ROWS);
  }

 private:
  __device__ static unsigned position(unsigned begin, unsigned k) {
    return begin + k * Tile::STEP + threadIdx.x / Tile::LANES;
  }

  __device__ void findRows(unsigned begin) {
#pragma unroll
    for (unsigned k = 0; k < longListLoads; ++k)
      if (position(begin, k) < list_.end) rows_[k] = args_.indices[position(begin, k)];
  }

  const Args& args_;
  const RowList<unsigned>& list_;
  std::size_t col_;
  Index rows_[longListLoads];
  Pack<In, N> packs_[longListLoads];
};

// Adds a panel of the rows of a list: each sum is one thread's, in the order of the indices. All threads call.
template <class In, class Out, unsigned N, class Index, class Weight>
__device__ inline void addLongList(const CombineRowsArgs<In, Out, N, Index, Weight, AddedLists>& args,
                                   const RowList<unsigned>& list, std::size_t firstPack, LongListTile<In, N>& tile) {
  using Tile = LongListTile<In, N>;
  using Sum = RowSum<In, Out>;
  LongListRows<In, Out, N, Index, Weight> rows(args, list, firstPack);
  const unsigned col = threadIdx.x;
  const bool hasSum = col < Tile::COLS && firstPack + col / N < args.shape.cols;
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
  __shared__ LongListTile<In, N> tile;
  waitForPreviousKernel();
  if (blockIdx.x >= longLists.blocks) {
    const std::size_t element = (blockIdx.x - longLists.blocks) * std::size_t{combineRowsBlock} + threadIdx.x;
    return combinePack<RowCombination::sum, RowIndices::trusted, addedRowsLoads>(args, element);
  }
  constexpr unsigned LANES = LongListTile<In, N>::LANES;
  const std::size_t panels = (args.shape.cols + LANES - 1) / LANES, parts = *longLists.count * panels;
  for (std::size_t part = blockIdx.x; part < parts; part += longLists.blocks) {
    const std::size_t number = part / panels;
    addLongList(args, args.bounds.list(longLists.numbers[number]), (part - number * panels) * LANES, tile);
  }
}

GPUOPT_DETAIL_END
