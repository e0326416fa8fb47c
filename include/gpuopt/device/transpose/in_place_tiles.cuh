/// \file
/// The tiles of a pair: by 16-byte vectors where all rows begin at 16-byte boundaries, by words at any alignment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/block/tile_vector.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/device/transpose/in_place_sizes.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// THREADS threads move TILE x TILE elements. Unlike VectorTile it reads the matrix that the kernel writes, so its loads
// must not go through the read-only cache.
template <class E, unsigned TILE_, unsigned THREADS_>
class VectorPairTile {
  using Square = RegisterSquare<E, E>;
  static constexpr unsigned SIDE = Square::ROWS;                     // elements of a vector
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

  __device__ void load() const { return isFull_ ? load<true>(from_, TILE, TILE) : load<false>(from_, rows_, cols_); }

  __device__ void store() const { return isFull_ ? store<true>(to_, TILE, TILE) : store<false>(to_, rows_, cols_); }

 private:
  template <bool IS_FULL>
  __device__ void load(const E* in, unsigned rows, unsigned cols) const {
    Square squares[SQUARES];
#pragma unroll
    for (unsigned i = 0; i < SQUARES; ++i) {
      const unsigned row = (thread_ + i * THREADS) / VECTORS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % VECTORS * SIDE;
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols))
#pragma unroll
        for (unsigned r = 0; r < SIDE; ++r)
          squares[i].rows[r] = *reinterpret_cast<const uint4*>(in + (row + r) * ld_ + col);
    }
#pragma unroll
    for (unsigned i = 0; i < SQUARES; ++i) {
      const unsigned row = (thread_ + i * THREADS) / VECTORS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % VECTORS * SIDE;
      uint4 columns[SIDE];
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols)) {
        squares[i].transpose(Identity{}, columns);
#pragma unroll
        for (unsigned c = 0; c < SIDE; ++c) vectors_[Columns::index(col + c, row / SIDE)] = columns[c];
      }
    }
    if (!IS_FULL)
      visitEdges<SIDE, SIDE, TILE, THREADS>(rows, cols, thread_, [&](unsigned r, unsigned c) {
        reinterpret_cast<E*>(vectors_ + Columns::index(c, r / SIDE))[r % SIDE] = in[r * ld_ + c];
      });
  }

  template <bool IS_FULL>
  __device__ void store(E* out, unsigned rows, unsigned cols) const {
#pragma unroll IS_FULL ? 8 : 1
    for (unsigned i = thread_; i < TILE * VECTORS; i += THREADS) {
      const unsigned col = i / VECTORS;
      const unsigned row = i % VECTORS * SIDE;
      const uint4* vector = vectors_ + Columns::index(col, i % VECTORS);
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

// THREADS threads move a tile of at most MAX_BYTES by words, whatever the alignment of its rows. In shared memory it is
// stored column by column. Elements of 1 and 2 bytes are transposed in registers before they are stored.
template <class E, unsigned MAX_BYTES>
class WordPairTile {
  static constexpr unsigned SIZE = sizeof(E);
  static constexpr unsigned ALIGNMENT = wordAlignment<E>;
  static constexpr unsigned PACKED = SIZE < 3 ? 4 / SIZE : 1;  // elements of a word

 public:
  using Element = E;
  using Smaller = WordPairTile<E, MAX_BYTES / 2>;
  static constexpr unsigned TILE = wordTileSide(SIZE, MAX_BYTES);
  static constexpr unsigned THREADS = wordTileThreads;
  static constexpr unsigned WORDS = TILE * SIZE / 4;  // of a row
  static constexpr unsigned PITCH = wordTilePitch(SIZE, TILE);

 private:
  struct Storage {
    std::uintptr_t from[TILE];  // addresses of the rows
    std::uintptr_t to[TILE];    // addresses of the rows that the columns become
    unsigned words[TILE * PITCH];
  };

 public:
  static constexpr std::size_t BYTES = sizeof(Storage);
  static_assert(BYTES == wordTileStorage(SIZE, TILE));

  // Every thread of the block calls: it holds a barrier.
  __device__ WordPairTile(const Squares<E>& squares, const TileMove<E, TILE>& move, unsigned thread)
      : tile_(dynamicShared<Storage>()[move.isLower ? 1 : 0]), thread_(thread), rows_(move.rows), cols_(move.cols) {
    if (thread_ < TILE) {
      const auto matrix = reinterpret_cast<std::uintptr_t>(move.matrix);
      tile_.from[thread_] = matrix + ((move.row + thread_) * move.ld + move.col) * SIZE;
      tile_.to[thread_] = matrix + ((move.col + thread_) * move.ld + move.row) * SIZE;
    }
    range_ = squares.range();
    // Full tiles whose rows, by words, stay inside the range; each thread checks one row.
    const bool isInside =
        ALIGNMENT == 4 || thread_ >= TILE || detail::isInside(tile_.from[thread_], TILE * SIZE, range_);
    isFull_ = __syncthreads_and(move.isFull() && isInside) != 0;
  }

  __device__ void load() const { return isFull_ ? load<true>() : load<false>(); }

  __device__ void store() const {
    constexpr unsigned STORES = WORDS + (ALIGNMENT < 4 ? 1 : 0);  // words that a column can touch
#pragma unroll 4
    for (unsigned i = thread_; i < cols_ * STORES; i += THREADS) {
      const unsigned col = i / STORES;
      const unsigned word = i % STORES;
      const unsigned misalignment = ALIGNMENT < 4 ? tile_.to[col] % 4 : 0;
      const unsigned* const column = tile_.words + begin(col);
      unsigned value = word < WORDS ? column[word] : 0;
      if (ALIGNMENT < 4) value = __funnelshift_l(word > 0 ? column[word - 1] : 0, value, 8 * misalignment);
      storeWord<ALIGNMENT>(tile_.to[col], word * 4 - misalignment, rows_ * SIZE, value);
    }
  }

 private:
  template <bool IS_FULL>
  __device__ void load() const {
    constexpr unsigned LOADS_IN_FLIGHT = 8 / PACKED;
    const unsigned lines = IS_FULL ? TILE / PACKED : (rows_ + PACKED - 1) / PACKED;
    const unsigned end = cols_ * SIZE;
#pragma unroll 1
    for (unsigned first = thread_; first < lines * WORDS; first += LOADS_IN_FLIGHT * THREADS) {
      unsigned values[LOADS_IN_FLIGHT][PACKED];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned row = (first + i * THREADS) / WORDS * PACKED;
        const unsigned byte = (first + i * THREADS) % WORDS * 4;
#pragma unroll
        for (unsigned k = 0; k < PACKED; ++k)
          if (IS_FULL ? row < TILE : row + k < rows_ && byte < end)
            values[i][k] = loadWord<ALIGNMENT, IS_FULL>(tile_.from[row + k] + byte, range_);
      }
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned line = (first + i * THREADS) / WORDS;
        const unsigned word = (first + i * THREADS) % WORDS;
        if (line < lines && (IS_FULL || word * 4 < end)) storeTransposed(line, word, values[i]);
      }
    }
  }

  // The index of a column's first word.
  __device__ static unsigned begin(unsigned col) { return col * PITCH + (SIZE % 4 == 0 ? 0 : col / 32); }

  // Stores the same word of PACKED rows, those of `line`, to the columns of its elements.
  __device__ void storeTransposed(unsigned line, unsigned word, unsigned (&values)[PACKED]) const {
    if constexpr (SIZE < 3) {
      transposeWords(values);
#pragma unroll
      for (unsigned k = 0; k < PACKED; ++k) tile_.words[begin(word * PACKED + k) + line] = values[k];
    } else {
      using Atom = Word<SIZE % 4 == 0 ? 4 : SIZE % 2 == 0 ? 2 : 1>;
#pragma unroll
      for (unsigned i = 0; i < 4; i += sizeof(Atom)) {
        const unsigned byte = word * 4 + i;
        auto* const column = reinterpret_cast<unsigned char*>(tile_.words + begin(byte / SIZE));
        *reinterpret_cast<Atom*>(column + line * SIZE + byte % SIZE) = static_cast<Atom>(values[0] >> 8 * i);
      }
    }
  }

  Storage& tile_;
  ByteRange range_;
  unsigned thread_;
  unsigned rows_;
  unsigned cols_;
  bool isFull_;
};

GPUOPT_DETAIL_END
