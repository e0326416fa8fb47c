/// \file
/// Transposes of tiles by a thread block through shared memory: transposeTile and its two halves.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/threads.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/thread/transpose.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/warp/reduce.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

template <std::size_t SIZE>
inline constexpr bool fillsVectors = SIZE == 1 || SIZE == 2 || SIZE == 4 || SIZE == 8 || SIZE == 16;

template <unsigned A, unsigned B>
inline constexpr unsigned largerUnsigned = A < B ? B : A;

// Where the units of a tile lie in shared memory: column by column, UNITS to the column. Lines of all banks
// are permuted by exclusive or, so that the threads of a warp meet in no bank, neither where neighbouring
// ones write neighbouring groups of GROUP columns, GROUPS of them side by side, nor where they read along a
// column.
template <unsigned UNIT_BYTES, unsigned UNITS, unsigned GROUP, unsigned GROUPS>
struct SwizzledColumns {
  static constexpr unsigned LINE = 128 / UNIT_BYTES;
  static constexpr unsigned PERIOD = largerUnsigned<GROUP, LINE / UNITS>;  // columns permuted alike
  static constexpr unsigned SPREAD = largerUnsigned<1, LINE / GROUPS>;

  __host__ __device__ static constexpr unsigned place(unsigned column, unsigned unit) {
    const unsigned mask = column / PERIOD * SPREAD % LINE;
    return UNITS < LINE ? (column * UNITS + unit) ^ mask : column * UNITS + (unit ^ mask);
  }
};

// Elements that a thread reads as vectors along rows and hands on as vectors along columns, changed by a
// function on the way.
template <class In, class Out>
struct RegisterBlock {
  static constexpr unsigned ROWS = 16 / sizeof(Out);
  static constexpr unsigned COLS = 16 / sizeof(In);

  uint4 rows[ROWS];

  // AHEAD is for rows that are shorter than 256 bytes or do not all begin at such boundaries: memory is
  // quickest in pieces of 256 bytes, and what a tile leaves of one is soon wanted by its neighbour. It costs
  // 0.005 of the speed elsewhere, and raises 0.90 to 0.94 (floats, rows that begin at 32-byte boundaries;
  // H200, 2026-11-21).
  template <bool AHEAD>
  __device__ void load(const In* in, std::size_t ld) {
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r, in += ld) rows[r] = loadRowVector<AHEAD>(in);
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
      for (unsigned c = 0; c < COLS; ++c) columns[c] = changedColumn(function, elements, c);
    }
  }

 private:
  // The results are put together as words: byte by byte, the compiler needs twice the instructions.
  template <class Function>
  __device__ static uint4 changedColumn(Function function, const In (&elements)[ROWS][COLS], unsigned col) {
    constexpr unsigned PACKED = sizeof(Out) < 4 ? 4 / sizeof(Out) : 1;
    constexpr unsigned WORDS = sizeof(Out) < 4 ? 1 : sizeof(Out) / 4;
    unsigned words[ROWS / PACKED][WORDS];
#pragma unroll
    for (unsigned r = 0; r < ROWS; r += PACKED) {
      unsigned parts[PACKED][WORDS] = {};
#pragma unroll
      for (unsigned i = 0; i < PACKED; ++i) {
        const Out value = function(elements[r + i][col]);
        __builtin_memcpy(parts[i], &value, sizeof(Out));
      }
      if constexpr (PACKED == 4)
        words[r / 4][0] = __byte_perm(__byte_perm(parts[0][0], parts[1][0], 0x0040),
                                      __byte_perm(parts[2][0], parts[3][0], 0x0040), 0x5410);
      else if constexpr (PACKED == 2)
        words[r / 2][0] = __byte_perm(parts[0][0], parts[1][0], 0x5410);
      else
        __builtin_memcpy(words[r], parts[0], sizeof(Out));
    }
    uint4 column;
    __builtin_memcpy(&column, words, sizeof(column));
    return column;
  }
};

template <unsigned BYTES, class T>
__device__ inline bool rowsStartAt(const T* rows, std::size_t ld) {
  return (reinterpret_cast<std::uintptr_t>(rows) | ld * sizeof(T)) % BYTES == 0;
}

// What whole blocks of registers leave of a tile of rows x cols elements: less than a block's width at the
// right, less than its height at the bottom. THREADS threads visit the elements one by one.
template <unsigned ROWS, unsigned COLS, unsigned TILE_COLS, unsigned THREADS, class Visit>
__device__ inline void visitEdges(unsigned rows, unsigned cols, unsigned thread, Visit visit) {
  const unsigned wholeRows = rows / ROWS * ROWS;
  const unsigned wholeCols = cols / COLS * COLS;
  if (wholeCols < cols)
    for (unsigned i = thread; i < rows * COLS; i += THREADS)
      if (wholeCols + i % COLS < cols) visit(i / COLS, wholeCols + i % COLS);
  for (unsigned i = thread; i < (rows - wholeRows) * TILE_COLS; i += THREADS)
    if (i % TILE_COLS < wholeCols) visit(wholeRows + i / TILE_COLS, i % TILE_COLS);
}

template <class Out, int ROWS, int COLS = ROWS>
struct TileStorage {
  alignas(alignof(Out) > 16 ? alignof(Out) : 16) unsigned char bytes[sizeof(Out) * ROWS * COLS];
};

// ROWS x COLS elements that THREADS threads move by 16-byte vectors, in global and in shared memory.
template <class In, class Out, unsigned ROWS, unsigned COLS, unsigned THREADS>
class VectorTile {
  using Block = RegisterBlock<In, Out>;
  static constexpr unsigned UNITS = ROWS / Block::ROWS;   // vectors of a column
  static constexpr unsigned ACROSS = COLS / Block::COLS;  // blocks side by side
  using Columns = SwizzledColumns<16, UNITS, Block::COLS, ACROSS>;

 public:
  using Storage = TileStorage<Out, ROWS, COLS>;

  __device__ VectorTile(Storage& storage, unsigned thread)
      : vectors_(reinterpret_cast<uint4*>(storage.bytes)), thread_(thread) {}

  template <bool IS_FULL, class Function>
  __device__ void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    if (IS_FULL && COLS * sizeof(In) >= 256 && rowsStartAt<256>(in, ld))
      loadBlocks<true, false>(in, ld, rows, cols, function);
    else
      loadBlocks<IS_FULL, true>(in, ld, rows, cols, function);
  }

  template <bool IS_FULL>
  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    constexpr unsigned STEP = THREADS / UNITS;  // columns from one vector of a thread to the next
    constexpr unsigned COUNT = largerUnsigned<1, COLS / STEP>;
    const unsigned unit = thread_ % UNITS;
    const unsigned col = thread_ / UNITS;
    constexpr unsigned LOADS_IN_FLIGHT = COUNT < 4 ? COUNT : 4;
    Out* address = out + col * ld + unit * Block::ROWS;
#pragma unroll IS_FULL ? 4 : 1
    for (unsigned done = 0; done < COUNT; done += LOADS_IN_FLIGHT) {
      uint4 vectors[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (STEP <= COLS || col < COLS) vectors[i] = vectors_[Columns::place(col + (done + i) * STEP, unit)];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += STEP * ld)
        if ((STEP <= COLS || col < COLS) &&
            (IS_FULL || (col + (done + i) * STEP < cols && (unit + 1) * Block::ROWS <= rows)))
          storeVector(address, vectors[i]);
    }
    if (!IS_FULL)
      for (unsigned i = thread_; i < cols * Block::ROWS; i += THREADS) {
        const unsigned r = rows / Block::ROWS * Block::ROWS + i % Block::ROWS;
        if (r < rows) out[i / Block::ROWS * ld + r] = get(r, i / Block::ROWS);
      }
  }

  __device__ Out get(unsigned row, unsigned col) const { return *at(row, col); }
  __device__ void put(unsigned row, unsigned col, const Out& value) const { *at(row, col) = value; }

  // Vector `unit` of a column.
  __device__ const uint4& vector(unsigned col, unsigned unit) const {
    return vectors_[Columns::place(col, unit)];
  }

 private:
  template <bool IS_FULL, bool AHEAD, class Function>
  __device__ void loadBlocks(const In* in, std::size_t ld, unsigned rows, unsigned cols,
                             Function function) const {
    constexpr unsigned STEP = THREADS / ACROSS * Block::ROWS;  // rows from one block of a thread to the next
    constexpr unsigned COUNT = largerUnsigned<1, ROWS / STEP>;
    // As many at a time as there are registers for.
    constexpr unsigned LOADS_IN_FLIGHT = Block::ROWS >= 8          ? 1
                                         : COUNT * Block::ROWS < 8 ? COUNT
                                                                   : 8 / Block::ROWS;
    const unsigned col = thread_ % ACROSS * Block::COLS;
    const unsigned row = thread_ / ACROSS * Block::ROWS;
    const auto takes = [&](unsigned i) {
      return (STEP <= ROWS || row < ROWS) &&
             (IS_FULL || (row + i * STEP + Block::ROWS <= rows && col + Block::COLS <= cols));
    };
    const In* address = in + row * ld + col;
    for (unsigned done = 0; done < COUNT; done += LOADS_IN_FLIGHT) {
      Block blocks[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i, address += STEP * ld)
        if (takes(done + i)) blocks[i].template load<AHEAD>(address, ld);
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (takes(done + i))
          keep(blocks[i], row / Block::ROWS + (done + i) * (STEP / Block::ROWS), col, function);
    }
    if (!IS_FULL)
      visitEdges<Block::ROWS, Block::COLS, COLS, THREADS>(
          rows, cols, thread_, [&](unsigned r, unsigned c) { put(r, c, function(in[r * ld + c])); });
  }

  template <class Function>
  __device__ void keep(const Block& block, unsigned unit, unsigned col, Function function) const {
    uint4 columns[Block::COLS];
    block.transpose(function, columns);
#pragma unroll
    for (unsigned c = 0; c < Block::COLS; ++c) vectors_[Columns::place(col + c, unit)] = columns[c];
  }

  __device__ Out* at(unsigned row, unsigned col) const {
    return reinterpret_cast<Out*>(vectors_ + Columns::place(col, row / Block::ROWS)) + row % Block::ROWS;
  }

  uint4* vectors_;
  unsigned thread_;
};

// Moves elements of any size and alignment, in shared memory by words: the first word of all elements, then
// the second, and so on.
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
    for (unsigned col = thread_ / TILE; col < (IS_FULL ? TILE : cols); col += SIDE)
      out[col * ld + row] = get(row, col);
  }

  __device__ void put(unsigned row, unsigned col, const Out& value) const {
    Word words[WORDS];
    __builtin_memcpy(words, &value, sizeof(Out));
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w) words_[place(row, col) + w * TILE * TILE] = words[w];
  }

  __device__ Out get(unsigned row, unsigned col) const {
    Word words[WORDS];
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w) words[w] = words_[place(row, col) + w * TILE * TILE];
    Out value;
    __builtin_memcpy(static_cast<void*>(&value), words, sizeof(Out));
    return value;
  }

 private:
  using Word = std::conditional_t<sizeof(Out) % 4 == 0, unsigned,
                                  std::conditional_t<sizeof(Out) % 2 == 0, unsigned short, unsigned char>>;
  static constexpr unsigned THREADS = TILE * SIDE;
  static constexpr unsigned WORDS = sizeof(Out) / sizeof(Word);
  static constexpr unsigned PACKED = 4 / sizeof(Word);  // words of a bank
  using Columns = SwizzledColumns<4, TILE / PACKED, 1, TILE>;

  __device__ static unsigned place(unsigned row, unsigned col) {
    return Columns::place(col, row / PACKED) * PACKED + row % PACKED;
  }

  Word* words_;
  unsigned thread_;
};

template <class T, int TILE>
inline constexpr bool fillsRows = fillsVectors<sizeof(T)> && (TILE * sizeof(T) >= 16);

template <class In, class Out, int TILE>
inline constexpr bool movesVectors = fillsRows<In, TILE>&& fillsRows<Out, TILE>;

}  // namespace detail

/// A tile of a matrix on its way through shared memory: load() brings rows of In into it, store() writes
/// columns as rows of Out. Work can be put before (the function that load() applies), between (get() and
/// put() after a barrier), and behind (get() in the place of store()).
///
/// TILE is a power of two from 8 to 256, SIDE one up to TILE; TILE x SIDE threads, 32 to 1024, make the
/// block, in any number of dimensions (threadRank() counts them), and all of them call load() and store().
/// `In` and `Out` are trivially copyable. Both matrices lie in device memory; no thread writes the input
/// while the kernel runs, for it may be read through the read-only cache. With ALIGNED the caller promises
/// that the rows of both matrices begin at 16-byte boundaries (address and leading dimension); the sizes of
/// both types then are powers of two up to 16, and TILE elements of either fill a vector.
///
/// The caller puts __syncthreads() between load() and store(), and before the storage is used again:
///
///     __shared__ gpuopt::TransposeTile<float, float, 64, 4>::Storage storage;
///     const gpuopt::TransposeTile<float, float, 64, 4> tile(storage);
///     tile.load(in, inLd);
///     __syncthreads();
///     tile.store(out, outLd);
///
/// Cost: TILE * TILE * sizeof(Out) bytes of shared memory, no bank conflicts. With ALIGNED all global
/// accesses are vectors of 16 bytes; threads idle where there are more of them than 16-byte squares in the
/// tile (TILE < SIDE * V * V for V elements of a vector). Technique: squares of vectors are transposed in
/// registers and cross shared memory as vectors, whose places are permuted by exclusive or (no padding: it
/// would break their alignment); without ALIGNED, the same permutation of words.
template <class In, class Out, int TILE, int SIDE, bool ALIGNED = false>
class TransposeTile {
  static_assert(TILE >= 8 && TILE <= 256 && detail::isPowerOfTwo<TILE>,
                "gpuopt::TransposeTile: TILE must be a power of two from 8 to 256");
  static_assert(SIDE >= 1 && SIDE <= TILE && detail::isPowerOfTwo<SIDE>,
                "gpuopt::TransposeTile: SIDE must be a power of two from 1 to TILE");
  static_assert(TILE * SIDE >= 32 && TILE * SIDE <= 1024,
                "gpuopt::TransposeTile: a block has TILE x SIDE threads, which must be 32 to 1024");
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>,
                "gpuopt::TransposeTile: the elements must be trivially copyable");
  static_assert(
      !ALIGNED || detail::movesVectors<In, Out, TILE>,
      "gpuopt::TransposeTile: ALIGNED needs elements of 1, 2, 4, 8 or 16 bytes, TILE of which fill a "
      "16-byte vector");
  static_assert(sizeof(Out) * TILE * TILE <= 227 * 1024,
                "gpuopt::TransposeTile: TILE x TILE elements exceed the 227 KB of shared memory of a block");

 public:
  /// The shared memory of a tile. Above 48 KB it has to be dynamic: see dynamicShared.
  using Storage = detail::TileStorage<Out, TILE>;

  /// Every thread of the block calls, with the same storage in shared memory.
  __device__ explicit TransposeTile(Storage& storage) : tile_(storage, static_cast<unsigned>(threadRank())) {
    detail::requireThreads("gpuopt::TransposeTile", TILE * SIDE);
  }

  /// Reads the element at row r and column c of the tile from in[r * ld + c], for r < rows and c < cols (both
  /// up to TILE, the same in all threads), and keeps function(element).
  template <class Function = Identity>
  __device__ void load(const In* in, std::size_t ld, unsigned rows = TILE, unsigned cols = TILE,
                       Function function = {}) const {
    if (rows == TILE && cols == TILE)
      tile_.template load<true>(in, ld, TILE, TILE, function);
    else
      tile_.template load<false>(in, ld, rows, cols, function);
  }

  /// Writes the element at row r and column c of the tile to out[c * ld + r], for r < rows and c < cols: the
  /// counts are those of load().
  __device__ void store(Out* out, std::size_t ld, unsigned rows = TILE, unsigned cols = TILE) const {
    if (rows == TILE && cols == TILE)
      tile_.template store<true>(out, ld, TILE, TILE);
    else
      tile_.template store<false>(out, ld, rows, cols);
  }

  /// The element at row `row` and column `col` of the tile. Any thread may call.
  __device__ Out get(unsigned row, unsigned col) const { return tile_.get(row, col); }

  /// Replaces that element, at `row` and `col`, by `value`.
  __device__ void put(unsigned row, unsigned col, const Out& value) const { tile_.put(row, col, value); }

 private:
  std::conditional_t<ALIGNED, detail::VectorTile<In, Out, TILE, TILE, TILE * SIDE>,
                     detail::ElementTile<In, Out, TILE, SIDE>>
      tile_;
};

/// Transposes a tile: out[c * outLd + r] = function(in[r * inLd + c]) for r < rows and c < cols, both up to
/// TILE and the same in all threads. Matrices lie in device memory and do not overlap. TILE x SIDE threads,
/// all of the block, call; see TransposeTile for what TILE, SIDE and the types can be. In and out need no
/// alignment but that of their types: 16-byte vectors are used where the rows of both begin at 16-byte
/// boundaries, which is decided at run time. TransposeTile with ALIGNED decides it at compile time.
///
/// Cost: one barrier, one access to shared memory each way.
///
/// \param storage shared memory of the caller, TransposeTile<In, Out, TILE, SIDE>::Storage; use it again only
/// after a barrier
template <int TILE, int SIDE, class In, class Out, class Function = Identity>
__device__ inline void transposeTile(const In* in, std::size_t inLd, Out* out, std::size_t outLd,
                                     unsigned rows, unsigned cols, Function function,
                                     detail::TileStorage<Out, TILE>& storage) {
  const auto move = [&](const auto& tile) {
    tile.load(in, inLd, rows, cols, function);
    __syncthreads();
    tile.store(out, outLd, rows, cols);
  };
  if constexpr (detail::movesVectors<In, Out, TILE>)
    if (detail::rowsStartAt<16>(in, inLd) && detail::rowsStartAt<16>(out, outLd))
      return move(TransposeTile<In, Out, TILE, SIDE, true>(storage));
  move(TransposeTile<In, Out, TILE, SIDE>(storage));
}

/// The same with shared memory of its own, up to 48 KB; it may be called again at once: a barrier at its
/// start keeps one call from overwriting what the last one still reads.
template <int TILE, int SIDE, class In, class Out, class Function = Identity>
__device__ inline void transposeTile(const In* in, std::size_t inLd, Out* out, std::size_t outLd,
                                     unsigned rows = TILE, unsigned cols = TILE, Function function = {}) {
  static_assert(sizeof(Out) * TILE * TILE <= 48 * 1024,
                "gpuopt::transposeTile: TILE x TILE elements exceed 48 KB: pass dynamic shared memory");
  __shared__ detail::TileStorage<Out, TILE> storage;
  __syncthreads();
  transposeTile<TILE, SIDE>(in, inLd, out, outLd, rows, cols, function, storage);
}

GPUOPT_NAMESPACE_END
