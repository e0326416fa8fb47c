/// \file
/// How the transpositions in place access elements of any size and alignment: as raw elements, by words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transpose/problem.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Calls use(data) with raw elements of the best alignment that `data` has.
template <class T, class Use>
void withRawElements(T* data, Use use) {
  constexpr std::size_t WIDEST = widestWord<sizeof(T)>;
  constexpr std::size_t ALIGN = minAlignment<T>;
  if (ALIGN == WIDEST || alignedTo(data, WIDEST))
    use(reinterpret_cast<RawElement<sizeof(T), WIDEST>*>(data));
  else
    use(reinterpret_cast<RawElement<sizeof(T), ALIGN>*>(data));
}

// The bytes of a matrix.
struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// The ALIGNMENT of the functions below: that of elements, but not more than a word's.
template <class E>
inline constexpr unsigned wordAlignment = alignof(E) < 4 ? alignof(E) : 4;

// Whether the aligned words that contain these bytes, and the word after them, are inside the range.
__device__ inline bool isInside(std::uintptr_t address, std::size_t bytes, const ByteRange& range) {
  return address - address % 4 >= range.begin && address + bytes + 4 <= range.end;
}

// Loads 4 bytes from an address that is a multiple of ALIGNMENT; bytes outside of the range are 0. INSIDE promises that
// isInside() holds. The two aligned words that are read may contain bytes that other threads write meanwhile; those are
// shifted out.
template <unsigned ALIGNMENT, bool INSIDE>
__device__ inline unsigned loadWord(std::uintptr_t address, const ByteRange& range) {
  if (ALIGNMENT == 4 || INSIDE || isInside(address, 4, range)) {
    const unsigned misalignment = ALIGNMENT < 4 ? address % 4 : 0;
    const auto* words = reinterpret_cast<const unsigned*>(address - misalignment);
    return misalignment > 0 ? __funnelshift_r(words[0], words[1], 8 * misalignment) : words[0];
  }
  unsigned word = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 4; i += ALIGNMENT)
    if (address + i >= range.begin && address + i < range.end)
      word |= static_cast<unsigned>(*reinterpret_cast<const Word<ALIGNMENT>*>(address + i)) << 8 * i;
  return word;
}

// Stores an aligned word at `offset` of a row of `bytes` bytes, without the bytes that are not in the row. A word that
// begins before the row has a negative offset, modulo 2^32.
template <unsigned ALIGNMENT>
__device__ inline void storeWord(std::uintptr_t row, unsigned offset, unsigned bytes, unsigned word) {
  const std::uintptr_t address = row + static_cast<std::uintptr_t>(static_cast<int>(offset));
  if (ALIGNMENT == 4 ? offset < bytes : offset < bytes && bytes - offset >= 4)
    *reinterpret_cast<unsigned*>(address) = word;
  else if (ALIGNMENT < 4)
#pragma unroll 1
    for (unsigned i = 0; i < 4; i += ALIGNMENT)
      if (offset + i < bytes)
        *reinterpret_cast<Word<ALIGNMENT>*>(address + i) = static_cast<Word<ALIGNMENT>>(word >> 8 * i);
}

GPUOPT_DETAIL_END
