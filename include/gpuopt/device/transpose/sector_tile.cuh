/// \file
/// The tile for matrices whose rows of the destination begin within sectors, at odd multiples of 16 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// As VectorTile, but a column that would begin within a sector of the destination is written from one vector
// earlier on, and leaves its last one to the tile below: all sectors are written whole, each by one block.
// The earlier vectors of all columns, the halo, are brought by a warp more. Tiles lie one below the other as
// blockIdx.x counts them. Elements only move: a function would be called twice for those of a halo.
template <class T, int TILE, int SIDE>
class SectorTile {
  using Block = RegisterBlock<T, T>;
  static constexpr unsigned V = Block::ROWS;  // elements of a vector
  static constexpr unsigned MOVERS = TILE * SIDE;
  static constexpr unsigned VECTORS = TILE / V;  // vectors of a column

 public:
  static constexpr unsigned ROWS = TILE;
  static constexpr unsigned COLS = TILE;
  static constexpr unsigned THREADS = MOVERS + 32;
  static_assert(
      isPowerOfTwo<TILE> && isPowerOfTwo<SIDE> && MOVERS <= 512 && SIDE * V <= TILE && VECTORS % 2 == 0 &&
          SIDE * V % 2 == 0,
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
      if (!isFirst()) loadHalo(in - V * ld, ld, cols, thread_ - MOVERS);
    } else if (rows == TILE && cols == TILE) {
      tile_.template load<true>(in, ld, TILE, TILE, Identity{});
    } else {
      tile_.template load<false>(in, ld, rows, cols, Identity{});
    }
  }

  __device__ void store(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    if (!isFirst() && !isLast() && cols == TILE)
      storeUnits<true>(out, ld, TILE, TILE);
    else
      storeUnits<false>(out, ld, rows, cols);
    if (isLast()) storeEnd(out, ld, rows, cols);
  }

 private:
  __device__ static bool isFirst() { return blockIdx.x == 0; }
  __device__ static bool isLast() { return blockIdx.x == gridDim.x - 1; }

  __device__ static unsigned shiftOf(const T* column) {
    return reinterpret_cast<std::uintptr_t>(column) / 16 % 2;
  }

  __device__ void loadHalo(const T* in, std::size_t ld, unsigned cols, unsigned lane) const {
    for (unsigned col = lane * V; col + V <= cols; col += 32 * V) {
      Block block;
      uint4 columns[V];
      block.template load<true>(in + col, ld);
      block.transpose(Identity{}, columns);
#pragma unroll
      for (unsigned c = 0; c < V; ++c) halo_[col + c] = columns[c];
    }
    visitEdges<V, V, TILE, 32>(
        V, cols, lane, [&](unsigned r, unsigned c) { reinterpret_cast<T*>(halo_ + c)[r] = in[r * ld + c]; });
  }

  // The whole vectors but the one that the last tile of a column has no tile below to leave to. Unit -1 is
  // the halo. All columns of a thread are shifted alike: their number is even or odd.
  template <bool IS_FULL>
  __device__ void storeUnits(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    constexpr unsigned STEP = MOVERS / VECTORS;  // columns from one vector of a thread to the next
    constexpr unsigned COUNT = TILE / STEP;
    constexpr unsigned LOADS_IN_FLIGHT = COUNT < 4 ? COUNT : 4;
    const unsigned first = thread_ / VECTORS;
    T* address = out + first * ld;
    const int unit = static_cast<int>(thread_ % VECTORS) - static_cast<int>(shiftOf(address));
    const int whole = IS_FULL ? VECTORS : static_cast<int>(rows / V);
    if (thread_ >= MOVERS || unit >= whole || unit < (!IS_FULL && isFirst() ? 0 : -1)) return;
    address += unit * static_cast<int>(V);
#pragma unroll IS_FULL ? 4 : 1
    for (unsigned col = first; col < (IS_FULL ? TILE : cols); col += LOADS_IN_FLIGHT * STEP) {
      uint4 vectors[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (IS_FULL || col + i * STEP < cols)
          vectors[i] = unit < 0 ? halo_[col + i * STEP] : tile_.vector(col + i * STEP, unit);
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += STEP * ld)
        if (IS_FULL || col + i * STEP < cols) storeVector(address, vectors[i]);
    }
  }

  // What storeUnits leaves of the last tile: the last vector of shifted columns, and less than a vector.
  __device__ void storeEnd(T* out, std::size_t ld, unsigned rows, unsigned cols) const {
    for (unsigned col = thread_; rows == TILE && col < cols; col += THREADS)
      if (shiftOf(out + col * ld) == 1)
        storeVector(out + col * ld + (TILE - V), tile_.vector(col, VECTORS - 1));
    for (unsigned i = thread_; i < cols * V; i += THREADS) {
      const unsigned row = rows / V * V + i % V;
      if (row < rows) out[i / V * ld + row] = tile_.get(row, i / V);
    }
  }

  VectorTile<T, T, TILE, TILE, MOVERS> tile_;
  uint4* halo_;
  unsigned thread_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
