/// \file
/// Transposes of tiles by a thread block through shared memory: transposeTile, and TransposeTile with its two halves.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/threads.cuh>
#include <gpuopt/block/tile_swizzle.cuh>
#include <gpuopt/block/tile_vector.cuh>
#include <gpuopt/core/box.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

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

// The function for elements in boxes, if they need them.
template <class In, class Out, class Function>
__device__ inline auto tileFunction(const Function& function) {
  if constexpr (needsBox<In> || needsBox<Out>)
    return OnBoxes<Function, Out>{function};
  else
    return function;
}

}  // namespace detail

/// A tile of a matrix that a thread block transposes through shared memory: load() reads rows of In, store() writes
/// columns as rows of Out. A kernel can do work of its own before (the function that load() applies), in between (get()
/// and put() after a barrier) and afterwards (get() instead of store()).
///
/// TILE is a power of two from 8 to 256, SIDE one up to TILE. The block has TILE x SIDE threads, 32 to 1024, in any
/// number of dimensions (threadRank() counts them), and all of them call load() and store(). `In` and `Out` are
/// trivially copyable. Both matrices are in device memory; no thread may write the input while the kernel runs, because
/// it may be read through the read-only cache. With ALIGNED the caller promises that the rows of both matrices begin at
/// 16-byte boundaries (address and leading dimension); the sizes of both types then are powers of two up to 16, and
/// TILE elements of either fill a vector.
///
/// The caller puts __syncthreads() between load() and store(), and before the storage is used again:
///
///     __shared__ gpuopt::TransposeTile<float, float, 64, 4>::Storage storage;
///     const gpuopt::TransposeTile<float, float, 64, 4> tile(storage);
///     tile.load(in, inLd);
///     __syncthreads();
///     tile.store(out, outLd);
///
/// Cost: TILE * TILE * sizeof(Out) bytes of shared memory, no bank conflicts. With ALIGNED all global accesses are
/// vectors of 16 bytes; threads idle where the block has more of them than the tile has 16-byte squares (TILE < SIDE *
/// V * V for V elements of a vector). Technique: threads transpose squares of vectors in registers and exchange the
/// vectors through shared memory, with an XOR swizzle instead of padding, which would break their alignment; without
/// ALIGNED, single words with the same swizzle.
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
  static_assert(!ALIGNED || detail::movesVectors<In, Out, TILE>,
                "gpuopt::TransposeTile: ALIGNED needs elements of 1, 2, 4, 8 or 16 bytes, TILE of which fill a "
                "16-byte vector");
  static_assert(sizeof(Out) * TILE * TILE <= 227 * 1024,
                "gpuopt::TransposeTile: TILE x TILE elements exceed the 227 KB of shared memory of a block");

 public:
  /// The shared memory of a tile. Above 48 KB it must be dynamic: see dynamicShared.
  using Storage = detail::TileStorage<detail::Boxed<Out>, TILE>;

  /// Every thread of the block calls, with the same storage in shared memory.
  __device__ explicit TransposeTile(Storage& storage) : tile_(storage, static_cast<unsigned>(threadRank())) {
    detail::requireThreads("gpuopt::TransposeTile", TILE * SIDE);
  }

  /// Sets the element at row r and column c of the tile to function(in[r * ld + c]), for r < rows and c < cols, both up
  /// to TILE and the same in all threads.
  template <class Function = Identity>
  __device__ void load(const In* in, std::size_t ld, unsigned rows = TILE, unsigned cols = TILE,
                       Function function = {}) const {
    const auto map = detail::tileFunction<In, Out>(function);
    if (rows == TILE && cols == TILE)
      tile_.template load<true>(detail::boxes(in), ld, TILE, TILE, map);
    else
      tile_.template load<false>(detail::boxes(in), ld, rows, cols, map);
  }

  /// Writes the element at row r and column c of the tile to out[c * ld + r], for r < rows and c < cols, the same
  /// counts as in load().
  __device__ void store(Out* out, std::size_t ld, unsigned rows = TILE, unsigned cols = TILE) const {
    if (rows == TILE && cols == TILE)
      tile_.template store<true>(detail::boxes(out), ld, TILE, TILE);
    else
      tile_.template store<false>(detail::boxes(out), ld, rows, cols);
  }

  /// The element at row `row` and column `col` of the tile. Any thread may call.
  __device__ Out get(unsigned row, unsigned col) const { return detail::unbox(tile_.get(row, col)); }

  /// Replaces the element at row `row` and column `col` by `value`.
  __device__ void put(unsigned row, unsigned col, const Out& value) const {
    tile_.put(row, col, detail::Boxed<Out>(value));
  }

 private:
  using BoxedIn = detail::Boxed<In>;
  using BoxedOut = detail::Boxed<Out>;
  std::conditional_t<ALIGNED, detail::VectorTile<BoxedIn, BoxedOut, TILE, TILE, TILE * SIDE>,
                     detail::ElementTile<BoxedIn, BoxedOut, TILE, SIDE>>
      tile_;
};

/// Transposes a tile: out[c * outLd + r] = function(in[r * inLd + c]) for r < rows and c < cols, both up to TILE and
/// the same in all threads. Both matrices are in device memory and do not overlap. All TILE x SIDE threads of the block
/// call; TransposeTile says what TILE, SIDE and the types can be. In and out need no alignment beyond that of their
/// types: 16-byte vectors are used if the rows of both begin at 16-byte boundaries, which is tested at run time.
/// TransposeTile with ALIGNED decides it at compile time.
///
/// Cost: one barrier, one access to shared memory each way.
///
/// \param storage the caller's shared memory, TransposeTile<In, Out, TILE, SIDE>::Storage; it may be used again after a
/// barrier
template <int TILE, int SIDE, class In, class Out, class Function = Identity>
__device__ inline void transposeTile(const In* in, std::size_t inLd, Out* out, std::size_t outLd, unsigned rows,
                                     unsigned cols, Function function,
                                     detail::TileStorage<detail::Boxed<Out>, TILE>& storage) {
  const auto move = [&](const auto& tile) {
    tile.load(in, inLd, rows, cols, function);
    __syncthreads();
    tile.store(out, outLd, rows, cols);
  };
  if constexpr (detail::movesVectors<In, Out, TILE>)
    if (detail::rowsBeginAt<16>(in, inLd) && detail::rowsBeginAt<16>(out, outLd))
      return move(TransposeTile<In, Out, TILE, SIDE, true>(storage));
  move(TransposeTile<In, Out, TILE, SIDE>(storage));
}

/// The same with shared memory of its own, up to 48 KB. It may be called again at once: it begins with a barrier, so
/// that no call overwrites what the last one still reads.
template <int TILE, int SIDE, class In, class Out, class Function = Identity>
__device__ inline void transposeTile(const In* in, std::size_t inLd, Out* out, std::size_t outLd, unsigned rows = TILE,
                                     unsigned cols = TILE, Function function = {}) {
  static_assert(sizeof(Out) * TILE * TILE <= 48 * 1024,
                "gpuopt::transposeTile: TILE x TILE elements exceed 48 KB: pass dynamic shared memory");
  __shared__ detail::TileStorage<detail::Boxed<Out>, TILE> storage;
  __syncthreads();
  transposeTile<TILE, SIDE>(in, inLd, out, outLd, rows, cols, function, storage);
}

GPUOPT_NAMESPACE_END
