/// \file
/// The square of elements that one thread transposes in registers, and the edges that no full square covers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/thread/transpose.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Elements that a thread loads as vectors along rows, transposes, and returns as vectors along columns, with a function
// applied to each.
template <class In, class Out>
struct RegisterBlock {
  static constexpr unsigned ROWS = 16 / sizeof(Out);
  static constexpr unsigned COLS = 16 / sizeof(In);

  uint4 rows[ROWS];

  // PREFETCH asks L2 for 256 bytes instead of 128. It pays where rows of a tile are shorter than that or not aligned to
  // it, because the neighbouring tile soon reads the rest: floats in rows aligned to 32 bytes reach 0.94 of a copy
  // instead of 0.90. Elsewhere it costs 0.005 (benchmarks/results/transpose_in_place_tuning.csv).
  template <bool PREFETCH>
  __device__ void load(const In* in, std::size_t ld) {
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r, in += ld) rows[r] = loadRowVector<PREFETCH>(in);
  }

  template <class Function>
  __device__ void transpose(Function function, uint4 (&columns)[COLS]) const {
    if constexpr (std::is_same_v<Function, Identity>) {
      static_assert(sizeof(In) == sizeof(Out));
      __builtin_memcpy(columns, rows, sizeof(rows));
      transposeVectors<sizeof(Out)>(columns);
    } else {
      In elements[ROWS][COLS];
      __builtin_memcpy(static_cast<void*>(elements), rows, sizeof(rows));
#pragma unroll
      for (unsigned c = 0; c < COLS; ++c) columns[c] = mappedColumn(function, elements, c);
    }
  }

 private:
  // Packs results of 1 and 2 bytes by byte permutations: assembling the vector byte by byte takes the compiler twice
  // the instructions.
  template <class Function>
  __device__ static uint4 mappedColumn(Function function, const In (&elements)[ROWS][COLS], unsigned col) {
    constexpr unsigned PACKED = sizeof(Out) < 4 ? 4 / sizeof(Out) : 1;  // results of a word
    constexpr unsigned WORDS = sizeof(Out) < 4 ? 1 : sizeof(Out) / 4;   // words of a result
    unsigned words[ROWS / PACKED][WORDS];
#pragma unroll
    for (unsigned r = 0; r < ROWS; r += PACKED) {
      unsigned results[PACKED][WORDS] = {};
#pragma unroll
      for (unsigned i = 0; i < PACKED; ++i) {
        const Out value = function(elements[r + i][col]);
        __builtin_memcpy(results[i], &value, sizeof(Out));
      }
      if constexpr (PACKED == 4)
        words[r / 4][0] = __byte_perm(__byte_perm(results[0][0], results[1][0], 0x0040),
                                      __byte_perm(results[2][0], results[3][0], 0x0040), 0x5410);
      else if constexpr (PACKED == 2)
        words[r / 2][0] = __byte_perm(results[0][0], results[1][0], 0x5410);
      else
        __builtin_memcpy(words[r], results[0], sizeof(Out));
    }
    uint4 column;
    __builtin_memcpy(&column, words, sizeof(column));
    return column;
  }
};

// Visits the elements of a tile of rows x cols elements that no full square of ROWS x COLS covers, at its right and
// lower edge: one by one, with THREADS threads.
template <unsigned ROWS, unsigned COLS, unsigned TILE_COLS, unsigned THREADS, class Visit>
__device__ inline void visitEdges(unsigned rows, unsigned cols, unsigned thread, Visit visit) {
  const unsigned fullRows = rows / ROWS * ROWS;
  const unsigned fullCols = cols / COLS * COLS;
  if (fullCols < cols)
    for (unsigned i = thread; i < rows * COLS; i += THREADS)
      if (fullCols + i % COLS < cols) visit(i / COLS, fullCols + i % COLS);
  for (unsigned i = thread; i < (rows - fullRows) * TILE_COLS; i += THREADS)
    if (i % TILE_COLS < fullCols) visit(fullRows + i / TILE_COLS, i % TILE_COLS);
}

GPUOPT_DETAIL_END
