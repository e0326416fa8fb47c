/// \file
/// The elements at one end of a 16-byte vector, in few stores.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/vector.cuh>

GPUOPT_DETAIL_BEGIN

// Word i of a vector. Selections keep the vector in registers.
__device__ inline unsigned wordOfVector(const uint4& v, unsigned i) {
  const unsigned low = (i & 1) != 0 ? v.y : v.x;
  const unsigned high = (i & 1) != 0 ? v.w : v.z;
  return (i & 2) != 0 ? high : low;
}

// The elements begin / ELEMENT to end / ELEMENT of a vector, which are neither its first nor its last ones.
template <unsigned ELEMENT>
__device__ inline void storeMiddle(unsigned char* address, const uint4& v, unsigned begin, unsigned end) {
#pragma unroll 1
  for (unsigned i = begin; i < end; i += ELEMENT)
    storeWord<ELEMENT>(address + i, static_cast<Word<ELEMENT>>(wordOfVector(v, i / 4) >> i % 4 * 8));
}

// Stores bytes begin..end, fewer than 16, of a vector that begins at `address`, a 16-byte boundary. They are elements
// of ELEMENT bytes: 1, 2, 4 or 8. The first or the last ones of a vector take at most one store each of 8, 4, 2 and 1
// bytes; those that have others on both sides are stored one by one.
template <unsigned ELEMENT>
__device__ inline void storeVectorPart(unsigned char* address, const uint4& v, unsigned begin, unsigned end) {
  const bool isFirst = begin == 0;
  if constexpr (ELEMENT <= 4)
    if (!isFirst && end != 16) return storeMiddle<ELEMENT>(address, v, begin, end);
  // Stores to the first bytes are in descending order of their sizes, those to the last bytes in ascending order: so
  // each begins at a multiple of its size.
  const unsigned bytes = end - begin;
  if ((bytes & 8) != 0) storeWord<8>(address + (isFirst ? 0 : 8), isFirst ? uint2{v.x, v.y} : uint2{v.z, v.w});
  if constexpr (ELEMENT <= 4) {
    const unsigned at = isFirst ? bytes & 8 : 12 - (bytes & 8);
    if ((bytes & 4) != 0) storeWord<4>(address + at, wordOfVector(v, at / 4));
  }
  if constexpr (ELEMENT <= 2) {
    const unsigned word = wordOfVector(v, isFirst ? bytes / 4 : 3 - bytes / 4);
    const unsigned half = isFirst ? bytes & 12 : 14 - (bytes & 12);
    if ((bytes & 2) != 0) storeWord<2>(address + half, static_cast<Word<2>>(word >> half % 4 * 8));
    const unsigned at = isFirst ? bytes & 14 : 15 - (bytes & 14);
    if (ELEMENT == 1 && (bytes & 1) != 0) storeWord<1>(address + at, static_cast<Word<1>>(word >> at % 4 * 8));
  }
}

GPUOPT_DETAIL_END
