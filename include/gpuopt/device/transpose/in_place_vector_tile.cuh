/// \file
/// The tile of a pair that moves by 16-byte vectors: all rows begin at 16-byte boundaries.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/tile_registers.cuh>
#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/in_place_pairs.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// THREADS threads move TILE x TILE elements. Unlike VectorTile it reads the matrix that the kernel writes, so
// its loads must not go through the read-only cache.
template <class E, unsigned TILE_, unsigned THREADS_>
class VectorPairTile {
  using Block = RegisterBlock<E, E>;
  static constexpr unsigned SIDE = Block::ROWS;                      // elements of a vector
  static constexpr unsigned VECTORS = TILE_ / SIDE;                  // of a row
  static constexpr unsigned SQUARES = VECTORS * VECTORS / THREADS_;  // of a thread
  using Columns = SwizzledColumns<16, VECTORS, SIDE, VECTORS>;
  static_assert(VECTORS * VECTORS % THREADS_ == 0);

 public:
  using Element = E;
  using Smaller = VectorPairTile<E, TILE_ / 2, THREADS_ / 4>;
  static constexpr unsigned TILE = TILE_;
  static constexpr unsigned THREADS = THREADS_;
  static constexpr std::size_t BYTES = TILE * TILE * sizeof(E);

  // Every thread of the block calls.
  __device__ VectorPairTile(const Squares<E>&, const TileMove<E, TILE>& move, unsigned thread)
      : ld_(move.ld),
        rows_(move.rows),
        cols_(move.cols),
        isFull_(move.isFull()),
        from_(move.matrix + move.row * move.ld + move.col),
        to_(move.matrix + move.col * move.ld + move.row),
        vectors_(dynamicShared<uint4>() + (move.isLower ? BYTES / 16 : 0)),
        thread_(thread) {}

  __device__ void load() const {
    if (isFull_)
      load<true>(from_, TILE, TILE);
    else
      load<false>(from_, rows_, cols_);
  }

  __device__ void store() const {
    if (isFull_)
      store<true>(to_, TILE, TILE);
    else
      store<false>(to_, rows_, cols_);
  }

 private:
  template <bool IS_FULL>
  __device__ void load(const E* in, unsigned rows, unsigned cols) const {
    Block blocks[SQUARES];
#pragma unroll
    for (unsigned i = 0; i < SQUARES; ++i) {
      const unsigned row = (thread_ + i * THREADS) / VECTORS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % VECTORS * SIDE;
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols))
#pragma unroll
        for (unsigned r = 0; r < SIDE; ++r)
          blocks[i].rows[r] = *reinterpret_cast<const uint4*>(in + (row + r) * ld_ + col);
    }
#pragma unroll
    for (unsigned i = 0; i < SQUARES; ++i) {
      const unsigned row = (thread_ + i * THREADS) / VECTORS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % VECTORS * SIDE;
      uint4 columns[SIDE];
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols)) {
        blocks[i].transpose(Identity{}, columns);
#pragma unroll
        for (unsigned c = 0; c < SIDE; ++c) vectors_[Columns::place(col + c, row / SIDE)] = columns[c];
      }
    }
    if (!IS_FULL)
      visitEdges<SIDE, SIDE, TILE, THREADS>(rows, cols, thread_, [&](unsigned r, unsigned c) {
        reinterpret_cast<E*>(vectors_ + Columns::place(c, r / SIDE))[r % SIDE] = in[r * ld_ + c];
      });
  }

  template <bool IS_FULL>
  __device__ void store(E* out, unsigned rows, unsigned cols) const {
#pragma unroll IS_FULL ? 8 : 1
    for (unsigned i = thread_; i < TILE * VECTORS; i += THREADS) {
      const unsigned col = i / VECTORS;
      const unsigned row = i % VECTORS * SIDE;
      const uint4* vector = vectors_ + Columns::place(col, i % VECTORS);
      E* const address = out + col * ld_ + row;
      if (IS_FULL || (col < cols && row + SIDE <= rows))
        *reinterpret_cast<uint4*>(address) = *vector;
      else if (col < cols)
        for (unsigned r = 0; row + r < rows; ++r) address[r] = reinterpret_cast<const E*>(vector)[r];
    }
  }

  std::size_t ld_;
  unsigned rows_;
  unsigned cols_;
  bool isFull_;
  const E* from_;
  E* to_;
  uint4* vectors_;
  unsigned thread_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
