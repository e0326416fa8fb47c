/// \file
/// The tile that moves by 16-byte vectors, in global and in shared memory: each thread transposes squares of vectors in
/// registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/thread/transpose.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Elements that a thread loads as vectors along rows, transposes, and returns as vectors along columns, with a function
// applied to each.
template <class In, class Out>
struct RegisterSquare {
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
  using Square = RegisterSquare<In, Out>;
  static constexpr unsigned VECTORS = ROWS / Square::ROWS;  // of a column
  static constexpr unsigned SQUARES = COLS / Square::COLS;  // side by side
  using Columns = SwizzledColumns<16, VECTORS, Square::COLS, SQUARES>;
  // A thread loads LOADS squares, LOAD_STEP rows apart, 8 vectors at once: more would cost too many registers.
  static constexpr unsigned LOAD_STEP = THREADS / SQUARES * Square::ROWS;
  static constexpr unsigned LOADS = largerOf(1U, ROWS / LOAD_STEP);
  static constexpr unsigned LOADS_IN_FLIGHT = smallerOf(LOADS, largerOf(1U, 8 / Square::ROWS));
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
      loadSquares<true, false>(in, ld, rows, cols, function);
    else
      loadSquares<IS_FULL, true>(in, ld, rows, cols, function);
  }

  template <bool IS_FULL>
  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    const unsigned index = thread_ % VECTORS;
    const unsigned col = thread_ / VECTORS;
    Out* address = out + col * ld + index * Square::ROWS;
#pragma unroll IS_FULL ? 4 : 1
    for (unsigned done = 0; done < STORES; done += STORES_IN_FLIGHT) {
      uint4 vectors[STORES_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < STORES_IN_FLIGHT; ++i)
        if (STORE_STEP <= COLS || col < COLS) vectors[i] = vector(col + (done + i) * STORE_STEP, index);
#pragma unroll
      for (unsigned i = 0; i < STORES_IN_FLIGHT; ++i, address += STORE_STEP * ld)
        if ((STORE_STEP <= COLS || col < COLS) &&
            (IS_FULL || (col + (done + i) * STORE_STEP < cols && (index + 1) * Square::ROWS <= rows)))
          storeVector(address, vectors[i]);
    }
    if (!IS_FULL) storeEdge(out, ld, rows, cols);
  }

  __device__ Out get(unsigned row, unsigned col) const { return *at(row, col); }
  __device__ void put(unsigned row, unsigned col, const Out& value) const { *at(row, col) = value; }

  __device__ const uint4& vector(unsigned col, unsigned index) const { return vectors_[Columns::index(col, index)]; }

 private:
  template <bool IS_FULL, bool PREFETCH, class Function>
  __device__ void loadSquares(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    const unsigned col = thread_ % SQUARES * Square::COLS;
    const unsigned row = thread_ / SQUARES * Square::ROWS;
    const auto isInside = [&](unsigned i) {
      return (LOAD_STEP <= ROWS || row < ROWS) &&
             (IS_FULL || (row + i * LOAD_STEP + Square::ROWS <= rows && col + Square::COLS <= cols));
    };
    const In* address = in + row * ld + col;
    for (unsigned done = 0; done < LOADS; done += LOADS_IN_FLIGHT) {
      Square squares[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += LOAD_STEP * ld)
        if (isInside(done + i)) squares[i].template load<PREFETCH>(address, ld);
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (isInside(done + i))
          storeTransposed(squares[i], row / Square::ROWS + (done + i) * (LOAD_STEP / Square::ROWS), col, function);
    }
    if (!IS_FULL)
      visitEdges<Square::ROWS, Square::COLS, COLS, THREADS>(
          rows, cols, thread_, [&](unsigned r, unsigned c) { put(r, c, function(in[r * ld + c])); });
  }

  template <class Function>
  __device__ void storeTransposed(const Square& square, unsigned index, unsigned col, Function function) const {
    uint4 columns[Square::COLS];
    square.transpose(function, columns);
#pragma unroll
    for (unsigned c = 0; c < Square::COLS; ++c) vectors_[Columns::index(col + c, index)] = columns[c];
  }

  // The last elements of each column, which do not fill a vector.
  __device__ void storeEdge(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    for (unsigned i = thread_; i < cols * Square::ROWS; i += THREADS) {
      const unsigned r = rows / Square::ROWS * Square::ROWS + i % Square::ROWS;
      if (r < rows) out[i / Square::ROWS * ld + r] = get(r, i / Square::ROWS);
    }
  }

  __device__ Out* at(unsigned row, unsigned col) const {
    return reinterpret_cast<Out*>(vectors_ + Columns::index(col, row / Square::ROWS)) + row % Square::ROWS;
  }

  uint4* vectors_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
