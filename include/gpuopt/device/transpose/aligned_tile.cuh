/// \file
/// Tiles of matrices whose rows begin at 16-byte boundaries.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose/tuning.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class In, class Out, int TILE, int SIDE>
class SquareTile : public TransposeTile<In, Out, TILE, SIDE, true> {
 public:
  static constexpr unsigned ROWS = TILE;
  static constexpr unsigned COLS = TILE;
  static constexpr unsigned THREADS = TILE * SIDE;
  using typename TransposeTile<In, Out, TILE, SIDE, true>::Storage;
  static constexpr int BLOCKS = residentTiles<sizeof(In)>(THREADS, sizeof(Storage));
  using TransposeTile<In, Out, TILE, SIDE, true>::TransposeTile;
};

// For functions that change the size of an element: rows of the tile have the same number of bytes on both sides.
template <class In, class Out, unsigned ROWS_, unsigned COLS_, unsigned THREADS_>
class RectangleTile {
 public:
  static constexpr unsigned ROWS = ROWS_;
  static constexpr unsigned COLS = COLS_;
  static constexpr unsigned THREADS = THREADS_;
  static constexpr int BLOCKS = residentCastTiles(THREADS);
  using Storage = TileStorage<Out, ROWS, COLS>;

  __device__ explicit RectangleTile(Storage& storage) : tile_(storage, threadIdx.x) {}

  template <class Function>
  __device__ void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    if (rows == ROWS && cols == COLS)
      tile_.template load<true>(in, ld, ROWS, COLS, function);
    else
      tile_.template load<false>(in, ld, rows, cols, function);
  }

  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    if (rows == ROWS && cols == COLS)
      tile_.template store<true>(out, ld, ROWS, COLS);
    else
      tile_.template store<false>(out, ld, rows, cols);
  }

 private:
  VectorTile<In, Out, ROWS, COLS, THREADS> tile_;
};

GPUOPT_DETAIL_END
