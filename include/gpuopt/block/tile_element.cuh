/// \file
/// The tile that moves element by element, whatever their size and alignment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/core/word.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// In shared memory elements are split into words: first the first word of every element, then the second one of every
// element, and so on. Words of 1 or 2 bytes stand for elements whose size is no multiple of 4.
template <class In, class Out, int TILE, int SIDE>
class ElementTile {
 public:
  __device__ ElementTile(TileStorage<Out, TILE>& storage, unsigned thread)
      : words_(reinterpret_cast<Word*>(storage.bytes)), thread_(thread) {}

  template <bool IS_FULL, class Function>
  __device__ void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    constexpr unsigned LOADS_IN_FLIGHT = sizeof(In) > 16 ? 1 : TILE / SIDE < 8 ? TILE / SIDE : 8;
    const unsigned col = thread_ % TILE;
    if (!IS_FULL && col >= cols) return;
#pragma unroll 1
    for (unsigned first = thread_ / TILE; first < (IS_FULL ? TILE : rows); first += LOADS_IN_FLIGHT * SIDE) {
      In values[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (IS_FULL || first + i * SIDE < rows) values[i] = in[(first + i * SIDE) * ld + col];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (IS_FULL || first + i * SIDE < rows) put(first + i * SIDE, col, function(values[i]));
    }
  }

  template <bool IS_FULL>
  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    const unsigned row = thread_ % TILE;
    if (!IS_FULL && row >= rows) return;
#pragma unroll 16 < sizeof(Out) ? 1 : 8
    for (unsigned col = thread_ / TILE; col < (IS_FULL ? TILE : cols); col += SIDE) out[col * ld + row] = get(row, col);
  }

  __device__ void put(unsigned row, unsigned col, const Out& value) const {
    Word words[WORDS];
    __builtin_memcpy(words, &value, sizeof(Out));
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w) words_[index(row, col) + w * TILE * TILE] = words[w];
  }

  __device__ Out get(unsigned row, unsigned col) const {
    Word words[WORDS];
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w) words[w] = words_[index(row, col) + w * TILE * TILE];
    Out value;
    __builtin_memcpy(static_cast<void*>(&value), words, sizeof(Out));
    return value;
  }

 private:
  using Word = detail::Word<smallerOf<std::size_t>(widestWord<sizeof(Out)>, 4)>;
  static constexpr unsigned WORDS = sizeof(Out) / sizeof(Word);
  static constexpr unsigned PACKED = 4 / sizeof(Word);  // words of a bank
  using Columns = SwizzledColumns<4, TILE / PACKED, 1, TILE>;

  __device__ static unsigned index(unsigned row, unsigned col) {
    return Columns::index(col, row / PACKED) * PACKED + row % PACKED;
  }

  Word* words_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
