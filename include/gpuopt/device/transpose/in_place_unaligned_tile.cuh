/// \file
/// The tile of a pair whose rows may have any alignment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// A tile of elements of SIZE bytes in shared memory, stored column by column. Global memory is read and
// written by words, whatever the ALIGNMENT (up to 4) of its rows. Elements of 1 and 2 bytes are transposed in
// registers before they are stored.
template <unsigned SIZE, unsigned ALIGNMENT, unsigned MAX_BYTES>
struct UnalignedTile {
  static constexpr unsigned side() {
    unsigned n = 128;
    while (n * n * SIZE > MAX_BYTES) n /= 2;
    return n;
  }
  static constexpr unsigned TILE = side();
  static constexpr unsigned THREADS = 256;
  static constexpr unsigned WORDS = TILE * SIZE / 4;  // of a row
  // Lanes that write along a row have no bank conflicts with elements of 1, 2, 4, 8, 12 and 16 bytes, and few
  // with others: tests/device/transpose/tile_banks_test.cu.
  static constexpr unsigned PITCH =
      SIZE % 4 == 0 ? WORDS + (SIZE / 4 + 31 * WORDS) % 32 : (WORDS + TILE / 32) | 1;

  std::uintptr_t from[TILE];  // addresses of the rows
  std::uintptr_t to[TILE];    // addresses of the rows that the columns become
  unsigned words[TILE * PITCH];

  // Whether the tile is full and `row`, by words, stays inside the range. The tile may be loaded as full if
  // all threads agree, each of them for one row.
  __device__ bool isFull(unsigned row, unsigned rows, unsigned cols, const ByteRange& range) const {
    return rows == TILE && cols == TILE &&
           (ALIGNMENT == 4 || row >= TILE || isInside(from[row], TILE * SIZE, range));
  }

  template <bool IS_FULL>
  __device__ void load(unsigned thread, unsigned rows, unsigned cols, const ByteRange& range) {
    constexpr unsigned LOADS_IN_FLIGHT = 8 / PACKED;
    const unsigned lines = IS_FULL ? TILE / PACKED : (rows + PACKED - 1) / PACKED;
    const unsigned end = cols * SIZE;
#pragma unroll 1
    for (unsigned first = thread; first < lines * WORDS; first += LOADS_IN_FLIGHT * THREADS) {
      unsigned values[LOADS_IN_FLIGHT][PACKED];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned row = (first + i * THREADS) / WORDS * PACKED;
        const unsigned byte = (first + i * THREADS) % WORDS * 4;
#pragma unroll
        for (unsigned k = 0; k < PACKED; ++k)
          if (IS_FULL ? row < TILE : row + k < rows && byte < end)
            values[i][k] = loadWord<ALIGNMENT, IS_FULL>(from[row + k] + byte, range);
      }
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned line = (first + i * THREADS) / WORDS;
        const unsigned word = (first + i * THREADS) % WORDS;
        if (line < lines && (IS_FULL || word * 4 < end)) storeTransposed(line, word, values[i]);
      }
    }
  }

  __device__ void store(unsigned thread, unsigned rows, unsigned cols) const {
    constexpr unsigned STORES = WORDS + (ALIGNMENT < 4 ? 1 : 0);  // words that a column can touch
#pragma unroll 4
    for (unsigned i = thread; i < cols * STORES; i += THREADS) {
      const unsigned col = i / STORES;
      const unsigned word = i % STORES;
      const unsigned misalignment = ALIGNMENT < 4 ? to[col] % 4 : 0;
      const unsigned* const column = words + begin(col);
      unsigned value = word < WORDS ? column[word] : 0;
      if (ALIGNMENT < 4) value = __funnelshift_l(word > 0 ? column[word - 1] : 0, value, 8 * misalignment);
      storeWord<ALIGNMENT>(to[col], word * 4 - misalignment, rows * SIZE, value);
    }
  }

 private:
  static constexpr unsigned PACKED = SIZE < 3 ? 4 / SIZE : 1;  // elements of a word

  // The index of a column's first word.
  __device__ static unsigned begin(unsigned col) { return col * PITCH + (SIZE % 4 == 0 ? 0 : col / 32); }

  // Stores the same word of PACKED rows, those of `line`, to the columns of its elements.
  __device__ void storeTransposed(unsigned line, unsigned word, unsigned (&values)[PACKED]) {
    if constexpr (SIZE < 3) {
      transposeWords(values);
#pragma unroll
      for (unsigned k = 0; k < PACKED; ++k) words[begin(word * PACKED + k) + line] = values[k];
    } else {
      using Atom = Word<SIZE % 4 == 0 ? 4 : SIZE % 2 == 0 ? 2 : 1>;
#pragma unroll
      for (unsigned i = 0; i < 4; i += sizeof(Atom)) {
        const unsigned byte = word * 4 + i;
        auto* const column = reinterpret_cast<unsigned char*>(words + begin(byte / SIZE));
        *reinterpret_cast<Atom*>(column + line * SIZE + byte % SIZE) = static_cast<Atom>(values[0] >> 8 * i);
      }
    }
  }
};

// The same as a tile of a pair.
template <class E, unsigned MAX_BYTES>
class UnalignedPairTile {
  using Storage = UnalignedTile<sizeof(E), wordAlignment<E>, MAX_BYTES>;

 public:
  using Element = E;
  using Smaller = UnalignedPairTile<E, MAX_BYTES / 2>;
  static constexpr unsigned TILE = Storage::TILE;
  static constexpr unsigned THREADS = Storage::THREADS;
  static constexpr std::size_t BYTES = sizeof(Storage);

  // Every thread of the block calls: it holds a barrier.
  __device__ UnalignedPairTile(const Squares<E>& squares, const TileMove<E, TILE>& move, unsigned thread)
      : tile_(dynamicShared<Storage>()[move.isLower ? 1 : 0]),
        thread_(thread),
        rows_(move.rows),
        cols_(move.cols) {
    if (thread_ < TILE) {
      const auto matrix = reinterpret_cast<std::uintptr_t>(move.matrix);
      tile_.from[thread_] = matrix + ((move.row + thread_) * move.ld + move.col) * sizeof(E);
      tile_.to[thread_] = matrix + ((move.col + thread_) * move.ld + move.row) * sizeof(E);
    }
    range_ = squares.range();
    isFull_ = __syncthreads_and(tile_.isFull(thread_, rows_, cols_, range_)) != 0;
  }

  __device__ void load() const {
    if (isFull_)
      tile_.template load<true>(thread_, TILE, TILE, range_);
    else
      tile_.template load<false>(thread_, rows_, cols_, range_);
  }

  __device__ void store() const { tile_.store(thread_, rows_, cols_); }

 private:
  Storage& tile_;
  ByteRange range_;
  unsigned thread_;
  unsigned rows_;
  unsigned cols_;
  bool isFull_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
