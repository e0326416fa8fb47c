/// \file
/// The tile that moves by 16-byte vectors, in global and in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/tile_registers.cuh>
#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

template <std::size_t SIZE>
inline constexpr bool fillsVectors = SIZE == 1 || SIZE == 2 || SIZE == 4 || SIZE == 8 || SIZE == 16;

template <class T, int TILE>
inline constexpr bool fillsRows = fillsVectors<sizeof(T)> && (TILE * sizeof(T) >= 16);

// Whether VectorTile can move TILE x TILE elements.
template <class In, class Out, int TILE>
inline constexpr bool movesVectors = fillsRows<In, TILE>&& fillsRows<Out, TILE>;

// Whether all rows begin at multiples of BYTES.
template <unsigned BYTES, class T>
__device__ inline bool rowsBeginAt(const T* rows, std::size_t ld) {
  return (reinterpret_cast<std::uintptr_t>(rows) | ld * sizeof(T)) % BYTES == 0;
}

// ROWS x COLS elements, moved by THREADS threads. All rows of both matrices begin at 16-byte boundaries.
template <class In, class Out, unsigned ROWS, unsigned COLS, unsigned THREADS>
class VectorTile {
  using Block = RegisterBlock<In, Out>;
  static constexpr unsigned VECTORS = ROWS / Block::ROWS;  // of a column
  static constexpr unsigned SQUARES = COLS / Block::COLS;  // side by side
  using Columns = SwizzledColumns<16, VECTORS, Block::COLS, SQUARES>;
  // A thread loads LOADS squares, LOAD_STEP rows apart, 8 vectors at once: more would cost too many registers.
  static constexpr unsigned LOAD_STEP = THREADS / SQUARES * Block::ROWS;
  static constexpr unsigned LOADS = largerOf(1U, ROWS / LOAD_STEP);
  static constexpr unsigned LOADS_IN_FLIGHT = smallerOf(LOADS, largerOf(1U, 8 / Block::ROWS));
  // It stores STORES vectors, STORE_STEP columns apart.
  static constexpr unsigned STORE_STEP = THREADS / VECTORS;
  static constexpr unsigned STORES = largerOf(1U, COLS / STORE_STEP);
  static constexpr unsigned STORES_IN_FLIGHT = smallerOf(STORES, 4U);

 public:
  using Storage = TileStorage<Out, ROWS, COLS>;

  __device__ VectorTile(Storage& storage, unsigned thread)
      : vectors_(reinterpret_cast<uint4*>(storage.bytes)), thread_(thread) {}

  template <bool IS_FULL, class Function>
  __device__ void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    if (IS_FULL && COLS * sizeof(In) >= 256 && rowsBeginAt<256>(in, ld))
      loadBlocks<true, false>(in, ld, rows, cols, function);
    else
      loadBlocks<IS_FULL, true>(in, ld, rows, cols, function);
  }

  template <bool IS_FULL>
  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    const unsigned index = thread_ % VECTORS;
    const unsigned col = thread_ / VECTORS;
    Out* address = out + col * ld + index * Block::ROWS;
#pragma unroll IS_FULL ? 4 : 1
    for (unsigned done = 0; done < STORES; done += STORES_IN_FLIGHT) {
      uint4 vectors[STORES_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < STORES_IN_FLIGHT; ++i)
        if (STORE_STEP <= COLS || col < COLS) vectors[i] = vector(col + (done + i) * STORE_STEP, index);
#pragma unroll
      for (unsigned i = 0; i < STORES_IN_FLIGHT; ++i, address += STORE_STEP * ld)
        if ((STORE_STEP <= COLS || col < COLS) &&
            (IS_FULL || (col + (done + i) * STORE_STEP < cols && (index + 1) * Block::ROWS <= rows)))
          storeVector(address, vectors[i]);
    }
    if (!IS_FULL) storeEdge(out, ld, rows, cols);
  }

  __device__ Out get(unsigned row, unsigned col) const { return *at(row, col); }
  __device__ void put(unsigned row, unsigned col, const Out& value) const { *at(row, col) = value; }

  __device__ const uint4& vector(unsigned col, unsigned index) const { return vectors_[Columns::place(col, index)]; }

 private:
  template <bool IS_FULL, bool PREFETCH, class Function>
  __device__ void loadBlocks(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    const unsigned col = thread_ % SQUARES * Block::COLS;
    const unsigned row = thread_ / SQUARES * Block::ROWS;
    const auto isInside = [&](unsigned i) {
      return (LOAD_STEP <= ROWS || row < ROWS) &&
             (IS_FULL || (row + i * LOAD_STEP + Block::ROWS <= rows && col + Block::COLS <= cols));
    };
    const In* address = in + row * ld + col;
    for (unsigned done = 0; done < LOADS; done += LOADS_IN_FLIGHT) {
      Block blocks[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += LOAD_STEP * ld)
        if (isInside(done + i)) blocks[i].template load<PREFETCH>(address, ld);
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (isInside(done + i))
          storeTransposed(blocks[i], row / Block::ROWS + (done + i) * (LOAD_STEP / Block::ROWS), col, function);
    }
    if (!IS_FULL)
      visitEdges<Block::ROWS, Block::COLS, COLS, THREADS>(
          rows, cols, thread_, [&](unsigned r, unsigned c) { put(r, c, function(in[r * ld + c])); });
  }

  template <class Function>
  __device__ void storeTransposed(const Block& block, unsigned index, unsigned col, Function function) const {
    uint4 columns[Block::COLS];
    block.transpose(function, columns);
#pragma unroll
    for (unsigned c = 0; c < Block::COLS; ++c) vectors_[Columns::place(col + c, index)] = columns[c];
  }

  // The last elements of each column, which do not fill a vector.
  __device__ void storeEdge(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    for (unsigned i = thread_; i < cols * Block::ROWS; i += THREADS) {
      const unsigned r = rows / Block::ROWS * Block::ROWS + i % Block::ROWS;
      if (r < rows) out[i / Block::ROWS * ld + r] = get(r, i / Block::ROWS);
    }
  }

  __device__ Out* at(unsigned row, unsigned col) const {
    return reinterpret_cast<Out*>(vectors_ + Columns::place(col, row / Block::ROWS)) + row % Block::ROWS;
  }

  uint4* vectors_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
