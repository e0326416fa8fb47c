/// \file
/// A tile of a matrix whose rows lie anywhere, on its way to rows anywhere else.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Bytes that belong to a matrix, or to a row.
struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Accesses to elements are by words, where their alignment allows it.
template <class E>
inline constexpr unsigned unitOf = alignof(E) < 4 ? alignof(E) : 4;

// Whether the aligned words that hold these bytes, and the one behind them, lie in the range.
__device__ inline bool isInside(std::uintptr_t address, std::size_t bytes, const ByteRange& range) {
  return address - address % 4 >= range.begin && address + bytes + 4 <= range.end;
}

// The four bytes from an address on, which is aligned to UNIT bytes, as far as they lie in the range; with
// INSIDE, isInside of them is known. The words that hold them may hold bytes that change meanwhile, but those
// are not used.
template <unsigned UNIT, bool INSIDE>
__device__ inline unsigned loadWord(std::uintptr_t address, const ByteRange& range) {
  if (UNIT == 4 || INSIDE || isInside(address, 4, range)) {
    const unsigned lead = UNIT < 4 ? address % 4 : 0;
    const auto* words = reinterpret_cast<const unsigned*>(address - lead);
    return lead > 0 ? __funnelshift_r(words[0], words[1], 8 * lead) : words[0];
  }
  unsigned word = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 4; i += UNIT)
    if (address + i >= range.begin && address + i < range.end)
      word |= static_cast<unsigned>(*reinterpret_cast<const Word<UNIT>*>(address + i)) << 8 * i;
  return word;
}

// Stores an aligned word `offset` bytes from the beginning of a row of `bytes` bytes, as far as it lies in
// the row; before its beginning, offsets are those of unsigned numbers below 0.
template <unsigned UNIT>
__device__ inline void storeWord(std::uintptr_t row, unsigned offset, unsigned bytes, unsigned word) {
  const std::uintptr_t address = row + static_cast<std::uintptr_t>(static_cast<int>(offset));
  if (UNIT == 4 ? offset < bytes : offset < bytes && bytes - offset >= 4)
    *reinterpret_cast<unsigned*>(address) = word;
  else if (UNIT < 4)
#pragma unroll 1
    for (unsigned i = 0; i < 4; i += UNIT)
      if (offset + i < bytes)
        *reinterpret_cast<Word<UNIT>*>(address + i) = static_cast<Word<UNIT>>(word >> 8 * i);
}

// A tile of elements of SIZE bytes, aligned to UNIT bytes (up to 4), whose rows lie anywhere and whose
// columns become rows anywhere. Global memory is read and written by words, whatever the alignment. In shared
// memory columns lie together: elements of one or two bytes are transposed in registers on the way there.
template <unsigned SIZE, unsigned UNIT, unsigned TILE_BYTES>
struct RowsTile {
  static constexpr unsigned side() {
    unsigned n = 128;
    while (n * n * SIZE > TILE_BYTES) n /= 2;
    return n;
  }
  static constexpr unsigned TILE = side();
  static constexpr unsigned THREADS = 256;
  static constexpr unsigned WORDS = TILE * SIZE / 4;  // of a row
  // Lanes that write along a row meet in no bank with elements of 1, 2, 4, 8, 12 and 16 bytes, and few do
  // with others: tests/device/transpose/tile_banks_test.cu.
  static constexpr unsigned PITCH =
      SIZE % 4 == 0 ? WORDS + (SIZE / 4 + 31 * WORDS) % 32 : (WORDS + TILE / 32) | 1;

  std::uintptr_t from[TILE];  // where the rows lie
  std::uintptr_t to[TILE];    // where the columns go
  unsigned words[TILE * PITCH];

  // Whether the tile is, and rows can be read without looking at the range: all threads have to say so, each
  // of one row.
  __device__ bool isWhole(unsigned row, unsigned rows, unsigned cols, const ByteRange& range) const {
    return rows == TILE && cols == TILE &&
           (UNIT == 4 || row >= TILE || isInside(from[row], TILE * SIZE, range));
  }

  __device__ void load(unsigned thread, unsigned rows, unsigned cols, const ByteRange& range, bool whole) {
    if (whole)
      load<true>(thread, TILE, TILE, range);
    else
      load<false>(thread, rows, cols, range);
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
            values[i][k] = loadWord<UNIT, IS_FULL>(from[row + k] + byte, range);
      }
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned line = (first + i * THREADS) / WORDS;
        const unsigned word = (first + i * THREADS) % WORDS;
        if (line < lines && (IS_FULL || word * 4 < end)) keep(line, word, values[i]);
      }
    }
  }

  __device__ void store(unsigned thread, unsigned rows, unsigned cols) const {
    constexpr unsigned STORES = WORDS + (UNIT < 4 ? 1 : 0);  // words that a column can touch
#pragma unroll 4
    for (unsigned i = thread; i < cols * STORES; i += THREADS) {
      const unsigned col = i / STORES;
      const unsigned word = i % STORES;
      const unsigned lead = UNIT < 4 ? to[col] % 4 : 0;
      const unsigned* const column = words + begin(col);
      unsigned value = word < WORDS ? column[word] : 0;
      if (UNIT < 4) value = __funnelshift_l(word > 0 ? column[word - 1] : 0, value, 8 * lead);
      storeWord<UNIT>(to[col], word * 4 - lead, rows * SIZE, value);
    }
  }

 private:
  static constexpr unsigned PACKED = SIZE < 3 ? 4 / SIZE : 1;  // elements of a word

  __device__ static unsigned begin(unsigned col) { return col * PITCH + (SIZE % 4 == 0 ? 0 : col / 32); }

  // Words of PACKED rows, one below the other.
  __device__ void keep(unsigned line, unsigned word, unsigned (&values)[PACKED]) {
    if constexpr (SIZE < 3) {
      transposeWords(values);
#pragma unroll
      for (unsigned k = 0; k < PACKED; ++k) words[begin(word * PACKED + k) + line] = values[k];
    } else {
      using Unit = Word<SIZE % 4 == 0 ? 4 : SIZE % 2 == 0 ? 2 : 1>;
#pragma unroll
      for (unsigned i = 0; i < 4; i += sizeof(Unit)) {
        const unsigned byte = word * 4 + i;
        auto* const column = reinterpret_cast<unsigned char*>(words + begin(byte / SIZE));
        *reinterpret_cast<Unit*>(column + line * SIZE + byte % SIZE) = static_cast<Unit>(values[0] >> 8 * i);
      }
    }
  }
};

// Rows or columns of a tile, of those that are left.
template <unsigned TILE>
__device__ inline unsigned tileCount(std::size_t left) {
  return left < TILE ? static_cast<unsigned>(left) : TILE;
}

// Calls use(data) with raw elements, as well aligned as they are.
template <class T, class Use>
void withRawElements(T* data, Use use) {
  constexpr std::size_t WIDEST = widestWord<sizeof(T)>;
  constexpr std::size_t ALIGN = leastAlignment<T>;
  if (ALIGN == WIDEST || alignedTo(data, WIDEST))
    use(reinterpret_cast<RawElement<sizeof(T), WIDEST>*>(data));
  else
    use(reinterpret_cast<RawElement<sizeof(T), ALIGN>*>(data));
}

}  // namespace detail
GPUOPT_NAMESPACE_END
