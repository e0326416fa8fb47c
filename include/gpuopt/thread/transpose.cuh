/// \file
/// Transposes in the registers of one thread: 4 x 4 bytes, 2 x 2 halves, V x V elements of 16-byte vectors.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

GPUOPT_NAMESPACE_BEGIN

/// Transposes 4 x 4 bytes: byte j of words[i] becomes byte i of words[j]. Any thread may call, independently of the
/// others. Cost: 8 byte permutations.
__device__ inline void transposeBytes(unsigned (&words)[4]) {
  const unsigned low01 = __byte_perm(words[0], words[1], 0x5140);
  const unsigned low23 = __byte_perm(words[2], words[3], 0x5140);
  const unsigned high01 = __byte_perm(words[0], words[1], 0x7362);
  const unsigned high23 = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low01, low23, 0x5410);
  words[1] = __byte_perm(low01, low23, 0x7632);
  words[2] = __byte_perm(high01, high23, 0x5410);
  words[3] = __byte_perm(high01, high23, 0x7632);
}

/// Transposes 2 x 2 halves: half j of words[i] becomes half i of words[j]. Any thread may call, independently of the
/// others. Cost: 2 byte permutations.
__device__ inline void transposeHalves(unsigned (&words)[2]) {
  const unsigned low = __byte_perm(words[0], words[1], 0x5410);
  words[1] = __byte_perm(words[0], words[1], 0x7632);
  words[0] = low;
}

namespace detail {

// Transposes the PACKED x PACKED elements of PACKED words.
__device__ inline void transposeWords(unsigned (&)[1]) {}
__device__ inline void transposeWords(unsigned (&words)[2]) { transposeHalves(words); }
__device__ inline void transposeWords(unsigned (&words)[4]) { transposeBytes(words); }

}  // namespace detail

/// Transposes the V x V elements of V = 16 / SIZE vectors, of SIZE bytes each: element j of vectors[i] becomes element
/// i of vectors[j]. SIZE is 1, 2, 4, 8 or 16. Any thread may call, independently of the others.
///
/// Cost: 128 byte permutations for SIZE 1, 32 for SIZE 2; none from 4 on, where the compiler renames registers.
template <int SIZE>
__device__ inline void transposeVectors(uint4 (&vectors)[16 / SIZE]) {
  static_assert(SIZE == 1 || SIZE == 2 || SIZE == 4 || SIZE == 8 || SIZE == 16,
                "gpuopt::transposeVectors: SIZE must be 1, 2, 4, 8 or 16 bytes");
  constexpr int V = 16 / SIZE;
  constexpr int PACKED = SIZE < 4 ? 4 / SIZE : 1;  // elements of a word
  constexpr int SPREAD = SIZE < 4 ? 1 : SIZE / 4;  // words of an element
  unsigned before[V][4];
  unsigned after[V][4];
  __builtin_memcpy(before, vectors, sizeof(before));
#pragma unroll
  for (int r = 0; r < V; r += PACKED)
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      unsigned square[PACKED];
#pragma unroll
      for (int i = 0; i < PACKED; ++i) square[i] = before[r + i][w];
      detail::transposeWords(square);
#pragma unroll
      for (int i = 0; i < PACKED; ++i) after[w / SPREAD * PACKED + i][r / PACKED * SPREAD + w % SPREAD] = square[i];
    }
  __builtin_memcpy(vectors, after, sizeof(after));
}

GPUOPT_NAMESPACE_END
