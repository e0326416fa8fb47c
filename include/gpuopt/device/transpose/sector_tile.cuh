/// \file
/// The tile for rows of the output that begin in the middle of a sector, at odd multiples of 16 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// A column whose output begins in the middle of a sector is stored one vector higher: it takes the last vector of the
// tile above, the halo, and leaves its own last vector to the tile below. Every sector is then written by one block. An
// extra warp loads the halo. blockIdx.x counts the tiles downwards. Elements are only moved: a function would be called
// twice for those of a halo. A figure is in docs/transpose_kernels.md.
template <class T, int TILE, int SIDE>
class SectorTile {
  using Square = RegisterSquare<T, T>;
  static constexpr unsigned PACK = Square::ROWS;    // elements of a vector
  static constexpr unsigned VECTORS = TILE / PACK;  // of a column
  static constexpr unsigned MOVERS = TILE * SIDE;   // threads that move the tile itself

 public:
  static constexpr unsigned ROWS = TILE;
  static constexpr unsigned COLS = TILE;
  static constexpr unsigned THREADS = MOVERS + 32;
  static_assert(isPowerOfTwo<TILE> && isPowerOfTwo<SIDE> && MOVERS <= 512 && SIDE * PACK <= TILE && VECTORS % 2 == 0 &&
                    SIDE * PACK % 2 == 0,
                "gpuopt: TILE and SIDE of a SectorTile must be powers of two, TILE elements at least 32 bytes, "
                "SIDE vectors no more than TILE elements, and TILE x SIDE threads at most 512");

  struct Storage {
    TileStorage<T, TILE> tile;
    uint4 halo[TILE];
  };

  static constexpr int BLOCKS = residentTiles<sizeof(T)>(THREADS, sizeof(Storage));

  __device__ explicit SectorTile(Storage& storage)
      : tile_(storage.tile, threadIdx.x), halo_(storage.halo), thread_(threadIdx.x) {}

  __device__ void load(const T* in, std::size_t ld, unsigned rows, unsigned cols, Identity) const {
    if (thread_ >= MOVERS) {
      if (!isFirst()) loadHalo(in - PACK * ld, ld, cols, thread_ - MOVERS);
    } else if (rows == TILE && cols == TILE) {
      tile_.template load<true>(in, ld, TILE, TILE, Identity{});
    } else {
      tile_.template load<false>(in, ld, rows, cols, Identity{});
    }
  }

  __device__ void store(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    if (!isFirst() && !isLast() && cols == TILE)
      storeVectors<true>(out, ld, TILE, TILE);
    else
      storeVectors<false>(out, ld, rows, cols);
    if (isLast()) storeEnd(out, ld, rows, cols);
  }

 private:
  __device__ static bool isFirst() { return blockIdx.x == 0; }
  __device__ static bool isLast() { return blockIdx.x == gridDim.x - 1; }

  // Vectors by which the column is shifted, 0 or 1.
  __device__ static unsigned shiftOf(const T* column) { return reinterpret_cast<std::uintptr_t>(column) / 16 % 2; }

  __device__ void loadHalo(const T* in, std::size_t ld, unsigned cols, unsigned lane) const {
    for (unsigned col = lane * PACK; col + PACK <= cols; col += 32 * PACK) {
      Square square;
      uint4 columns[PACK];
      square.template load<true>(in + col, ld);
      square.transpose(Identity{}, columns);
#pragma unroll
      for (unsigned c = 0; c < PACK; ++c) halo_[col + c] = columns[c];
    }
    visitEdges<PACK, PACK, TILE, 32>(
        PACK, cols, lane, [&](unsigned r, unsigned c) { reinterpret_cast<T*>(halo_ + c)[r] = in[r * ld + c]; });
  }

  // Stores all full vectors, except the last one of the column's last tile. Index -1 is the halo. All columns of a
  // thread have the same shift, because they are an even number of columns apart.
  template <bool IS_FULL>
  __device__ void storeVectors(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    constexpr unsigned STEP = MOVERS / VECTORS;  // columns between two vectors of a thread
    constexpr unsigned COUNT = TILE / STEP;
    constexpr unsigned LOADS_IN_FLIGHT = COUNT < 4 ? COUNT : 4;
    const unsigned first = thread_ / VECTORS;
    T* address = out + first * ld;
    const int index = static_cast<int>(thread_ % VECTORS) - static_cast<int>(shiftOf(address));
    const int end = IS_FULL ? VECTORS : static_cast<int>(rows / PACK);
    if (thread_ >= MOVERS || index >= end || index < (!IS_FULL && isFirst() ? 0 : -1)) return;
    address += index * static_cast<int>(PACK);
#pragma unroll IS_FULL ? 4 : 1
    for (unsigned col = first; col < (IS_FULL ? TILE : cols); col += LOADS_IN_FLIGHT * STEP) {
      uint4 vectors[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (IS_FULL || col + i * STEP < cols)
          vectors[i] = index < 0 ? halo_[col + i * STEP] : tile_.vector(col + i * STEP, index);
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += STEP * ld)
        if (IS_FULL || col + i * STEP < cols) storeVector(address, vectors[i]);
    }
  }

  // Stores the rest of a column's last tile: the last vector if the column is shifted, and less than a vector.
  __device__ void storeEnd(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    for (unsigned col = thread_; rows == TILE && col < cols; col += THREADS)
      if (shiftOf(out + col * ld) == 1) storeVector(out + col * ld + (TILE - PACK), tile_.vector(col, VECTORS - 1));
    for (unsigned i = thread_; i < cols * PACK; i += THREADS) {
      const unsigned row = rows / PACK * PACK + i % PACK;
      if (row < rows) out[i / PACK * ld + row] = tile_.get(row, i / PACK);
    }
  }

  VectorTile<T, T, TILE, TILE, MOVERS> tile_;
  uint4* halo_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
