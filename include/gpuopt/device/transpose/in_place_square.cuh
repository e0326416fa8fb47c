/// \file
/// Transposition of square matrices in place, by pairs of tiles that change places.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/rows_tile.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How square matrices are transposed in place. Pass a type derived from this one to change a value.
///
/// Measured on an H200, 2026-11-22, ratios to the best copy of as many bytes, with rows at 32-byte
/// boundaries: 4, 8 and 16 bytes 0.93, batches of 1024^2 0.98; DRAM moves no more than the matrix twice
/// (ncu). That is what DRAM gives: pairs of tiles that change places without being transposed cost the same,
/// tiles that change places with neighbours 0.98, and writes of pieces of 256 bytes to 256 KiB scattered over
/// 512 MiB 0.945, over 8 MiB 0.99. Others: 4 bytes 0.78, 8 bytes 0.75, 16 bytes 0.83, 2 bytes 0.41, 1 byte
/// 0.37.
struct SquarePolicy {
  /// Rows and columns of the tiles of a square matrix whose rows begin at 16-byte boundaries, by SIZE, the
  /// bytes of an element. Half of them cost 5 to 9 %, with 8 bytes 12 % where rows do not begin at 32-byte
  /// boundaries and nothing where they do; with 16 bytes nothing.
  template <std::size_t SIZE>
  static constexpr int TILE = SIZE == 1   ? 256
                              : SIZE == 2 ? 128
                              : SIZE <= 8 ? 64
                                          : 32;
  /// Threads that move one of a pair of tiles, by SIZE. Twice as many cost up to 4 %.
  template <std::size_t SIZE>
  static constexpr int THREADS = SIZE == 1 || SIZE == 8 ? 256 : 128;
  /// Tiles are walked in squares of so many by as many, a power of two. 1 cost 10 to 22 % where rows begin
  /// anywhere, and 16 cost 3 %.
  static constexpr unsigned group = 4;
  /// Where rows of vectors of elements of 4 bytes and more begin at 32-byte boundaries, squares gain nothing
  /// (bytes 0.01 to 0.05, halves nothing). The pairs of a matrix are then cut into so many equal parts that
  /// are walked side by side: rows 128 KiB apart meet in the same banks of DRAM, and those of distant tiles
  /// in others. By 4 parts / 1, and by 1 in squares of 4 x 4: 8 bytes at 16384 0.932 / 0.913, 0.91; 16 bytes
  /// at 8192 0.931 / 0.908, 0.904 (2 parts 0.903, 8 parts 0.930, 16 parts 0.926); 4 bytes, and rows 64
  /// elements longer, within 0.003.
  static constexpr unsigned parts = 4;
  /// Bytes of a tile of a square matrix with other rows: half as much cost 20 % with 8-byte elements.
  static constexpr unsigned squareTileBytes = 32 << 10;
};

namespace detail {

// The upper one of two tiles that change places, row <= col; on the diagonal there is only one.
struct TilePair {
  std::size_t matrix;
  std::size_t row;
  std::size_t col;
};

// How the tiles of a matrix are walked. In squares of `group` x `group`, a power of two, what a tile leaves
// half written of a sector is completed soon, in both of the matrix's halves.
struct TileOrder {
  unsigned group;
  unsigned parts;  // of the order that are walked side by side
};

struct TileTriangle {
  unsigned tiles;  // side by side
  unsigned group;
  unsigned groups;  // side by side
  unsigned parts;
  std::size_t blocks;  // of a matrix

  TileTriangle(std::size_t n, std::size_t tile, TileOrder order)
      : tiles(static_cast<unsigned>(ceilDivide(n, tile))), group(order.group), parts(order.parts) {
    while (group > 1 && group * 4 > tiles) group /= 2;
    groups = static_cast<unsigned>(ceilDivide(tiles, group));
    const std::size_t lines = ceilDivide(groups, 2);
    blocks = lines * (groups + 1 - groups % 2) * group * group;
  }

  // The pairs of groups without gaps: the triangle below the diagonal of a matrix of half as many rows, where
  // pairs would come twice, takes the pairs of the other half.
  __device__ TilePair pair() const {
    const unsigned matrix = blockIdx.x / static_cast<unsigned>(blocks);
    const unsigned number = dealt(blockIdx.x - matrix * static_cast<unsigned>(blocks));
    const unsigned odd = groups % 2;
    const unsigned width = groups + 1 - odd;
    const unsigned inner = number % (group * group);
    const unsigned outer = number / (group * group);
    const unsigned x = outer % width;
    const unsigned y = outer / width;
    const bool upper = x + odd > y;
    const unsigned row = upper ? y : groups - 1 + odd - y;
    const unsigned col = upper ? x + odd - 1 : groups - 1 - x;
    return {matrix, row * group + inner / group, col * group + inner % group};
  }

  // Groups on the diagonal have pairs that come twice, those at the edge some outside of the matrix.
  __device__ bool has(const TilePair& pair) const { return pair.row <= pair.col && pair.col < tiles; }

 private:
  // Takes one of each part in turn. The first parts are longer by one, if they are not all the same.
  __device__ unsigned dealt(unsigned number) const {
    const unsigned length = static_cast<unsigned>(blocks) / parts;
    const unsigned longer = static_cast<unsigned>(blocks) % parts;
    const unsigned part = number % parts;
    return part * length + (part < longer ? part : longer) + number / parts;
  }
};

// Matrices of n x n elements.
template <class E>
struct SquareShape {
  E* data;
  std::size_t n;
  std::size_t ld;
  std::size_t stride;
  std::size_t batch;

  __device__ ByteRange range() const {
    const auto end = reinterpret_cast<std::uintptr_t>(data + (batch - 1) * stride + (n - 1) * ld + n);
    return {reinterpret_cast<std::uintptr_t>(data), end};
  }
};

template <class E>
struct Squares : SquareShape<E> {
  TileTriangle triangle;
};

// What one half of a block does: it moves the tile at (row, col) to (col, row).
template <int TILE>
struct TileMove {
  std::size_t row;
  std::size_t col;
  unsigned rows;
  unsigned cols;

  template <class E>
  __device__ TileMove(const SquareShape<E>& squares, const TilePair& pair, bool lower)
      : row((lower ? pair.col : pair.row) * TILE),
        col((lower ? pair.row : pair.col) * TILE),
        rows(tileCount<TILE>(squares.n - row)),
        cols(tileCount<TILE>(squares.n - col)) {}
};

// A tile on its way through shared memory, moved by THREADS threads. Other than VectorTile it reads what the
// same kernel writes, though not before: its loads must not be of the read-only kind.
template <class E, int TILE, int THREADS>
class PairTile {
  using Block = RegisterBlock<E, E>;
  static constexpr unsigned SIDE = Block::ROWS;   // elements of a vector
  static constexpr unsigned UNITS = TILE / SIDE;  // vectors of a row
  static constexpr unsigned EACH = UNITS * UNITS / THREADS;
  using Columns = SwizzledColumns<16, UNITS, SIDE, UNITS>;
  static_assert(UNITS * UNITS % THREADS == 0);

 public:
  __device__ PairTile(uint4* vectors, unsigned thread) : vectors_(vectors), thread_(thread) {}

  template <bool IS_FULL>
  __device__ void load(const E* in, std::size_t ld, unsigned rows, unsigned cols) const {
    Block blocks[EACH];
#pragma unroll
    for (unsigned i = 0; i < EACH; ++i) {
      const unsigned row = (thread_ + i * THREADS) / UNITS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % UNITS * SIDE;
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols))
#pragma unroll
        for (unsigned r = 0; r < SIDE; ++r)
          blocks[i].rows[r] = *reinterpret_cast<const uint4*>(in + (row + r) * ld + col);
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; ++i) {
      const unsigned row = (thread_ + i * THREADS) / UNITS * SIDE;
      const unsigned col = (thread_ + i * THREADS) % UNITS * SIDE;
      uint4 columns[SIDE];
      if (IS_FULL || (row + SIDE <= rows && col + SIDE <= cols)) {
        blocks[i].transpose(Identity{}, columns);
#pragma unroll
        for (unsigned c = 0; c < SIDE; ++c) vectors_[Columns::place(col + c, row / SIDE)] = columns[c];
      }
    }
    if (!IS_FULL)
      visitEdges<SIDE, SIDE, TILE, THREADS>(rows, cols, thread_, [&](unsigned r, unsigned c) {
        reinterpret_cast<E*>(vectors_ + Columns::place(c, r / SIDE))[r % SIDE] = in[r * ld + c];
      });
  }

  template <bool IS_FULL>
  __device__ void store(E* out, std::size_t ld, unsigned rows, unsigned cols) const {
#pragma unroll IS_FULL ? 8 : 1
    for (unsigned i = thread_; i < TILE * UNITS; i += THREADS) {
      const unsigned col = i / UNITS;
      const unsigned row = i % UNITS * SIDE;
      const uint4* vector = vectors_ + Columns::place(col, i % UNITS);
      E* const place = out + col * ld + row;
      if (IS_FULL || (col < cols && row + SIDE <= rows))
        *reinterpret_cast<uint4*>(place) = *vector;
      else if (col < cols)
        for (unsigned r = 0; row + r < rows; ++r) place[r] = reinterpret_cast<const E*>(vector)[r];
    }
  }

 private:
  uint4* vectors_;
  unsigned thread_;
};

// Rows begin at 16-byte boundaries. One half of the block moves one tile of a pair, the other half the other.
template <class E, int TILE, int THREADS>
GPUOPT_KERNEL void __launch_bounds__(2 * THREADS) transposePairsKernel(const Squares<E> squares) {
  overlapPreviousKernel();
  const bool lower = threadIdx.x >= THREADS;
  const TilePair pair = squares.triangle.pair();
  if (!squares.triangle.has(pair)) return;
  const TileMove<TILE> move(squares, pair, lower);
  const bool idle = lower && pair.row == pair.col;
  const bool whole = move.rows == TILE && move.cols == TILE;
  E* const data = squares.data + pair.matrix * squares.stride;
  const E* const from = data + move.row * squares.ld + move.col;
  E* const to = data + move.col * squares.ld + move.row;
  const PairTile<E, TILE, THREADS> tile(dynamicShared<uint4>() + (lower ? TILE * TILE * sizeof(E) / 16 : 0),
                                        threadIdx.x % THREADS);
  if (!idle) {
    if (whole)
      tile.template load<true>(from, squares.ld, TILE, TILE);
    else
      tile.template load<false>(from, squares.ld, move.rows, move.cols);
  }
  __syncthreads();
  if (idle) return;
  if (whole)
    tile.template store<true>(to, squares.ld, TILE, TILE);
  else
    tile.template store<false>(to, squares.ld, move.rows, move.cols);
}

// Pairs of tiles of any alignment.
template <class E, class Tile>
GPUOPT_KERNEL void __launch_bounds__(2 * Tile::THREADS) transposeRowPairsKernel(const Squares<E> squares) {
  overlapPreviousKernel();
  const bool lower = threadIdx.x >= Tile::THREADS;
  const unsigned thread = threadIdx.x % Tile::THREADS;
  const TilePair pair = squares.triangle.pair();
  if (!squares.triangle.has(pair)) return;
  const TileMove<Tile::TILE> move(squares, pair, lower);
  Tile& tile = dynamicShared<Tile>()[lower ? 1 : 0];
  if (thread < Tile::TILE) {
    const auto data = reinterpret_cast<std::uintptr_t>(squares.data + pair.matrix * squares.stride);
    tile.from[thread] = data + ((move.row + thread) * squares.ld + move.col) * sizeof(E);
    tile.to[thread] = data + ((move.col + thread) * squares.ld + move.row) * sizeof(E);
  }
  const ByteRange range = squares.range();
  const bool whole = __syncthreads_and(tile.isWhole(thread, move.rows, move.cols, range)) != 0;
  const bool idle = lower && pair.row == pair.col;
  if (!idle) tile.load(thread, move.rows, move.cols, range, whole);
  __syncthreads();
  if (!idle) tile.store(thread, move.rows, move.cols);
}

// Every device gives a block so much shared memory.
inline constexpr std::size_t commonShared = 64 << 10;

template <class Kernel, class E>
GPUOPT_HIDDEN void launchPairs(Kernel kernel, unsigned block, std::size_t sharedBytes,
                               const Squares<E>& squares, cudaStream_t stream) {
  LaunchConfig config = gridConfig(static_cast<int>(block), squares.triangle.blocks * squares.batch, stream,
                                   "gpuopt::transposeInPlace");
  config.sharedBytes = sharedBytes;
  launch(kernel, config, squares);
}

// Tiles half as large where the device has less shared memory.
template <int TILE, int THREADS, class E>
void launchVectorPairs(const SquareShape<E>& shape, TileOrder order, cudaStream_t stream) {
  constexpr std::size_t SHARED = 2 * TILE * TILE * sizeof(E);
  if constexpr (SHARED > commonShared)
    if (sharedLimit() < SHARED) return launchVectorPairs<TILE / 2, THREADS / 4>(shape, order, stream);
  launchPairs(transposePairsKernel<E, TILE, THREADS>, 2 * THREADS, SHARED,
              Squares<E>{shape, {shape.n, TILE, order}}, stream);
}

template <unsigned TILE_BYTES, class E>
void launchRowPairs(const SquareShape<E>& shape, TileOrder order, cudaStream_t stream) {
  using Tile = RowsTile<sizeof(E), unitOf<E>, TILE_BYTES>;
  constexpr std::size_t SHARED = 2 * sizeof(Tile);
  if constexpr (SHARED > commonShared)
    if (sharedLimit() < SHARED) return launchRowPairs<TILE_BYTES / 2>(shape, order, stream);
  launchPairs(transposeRowPairsKernel<E, Tile>, 2 * Tile::THREADS, SHARED,
              Squares<E>{shape, {shape.n, Tile::TILE, order}}, stream);
}

// `batch` matrices of n x n elements. n and batch are not 0.
template <class Policy = SquarePolicy, class T>
void launchTransposeSquareInPlace(T* data, std::size_t n, std::size_t ld, std::size_t batch,
                                  std::size_t stride, cudaStream_t stream) {
  withRawElements(data, [&](auto* elements) {
    using E = std::remove_pointer_t<decltype(elements)>;
    const SquareShape<E> shape{elements, n, ld, stride, batch};
    const auto rowsBeginAt = [&](std::size_t bytes) {
      return rowsAlignedTo(elements, ld, batch, stride, bytes);
    };
    const TileOrder inSquares{Policy::group, 1};
    const TileOrder inParts{1, Policy::parts};
    if constexpr (fillsVectors<sizeof(E)> && alignof(E) == sizeof(E))
      if (rowsBeginAt(16))
        return launchVectorPairs<Policy::template TILE<sizeof(E)>, Policy::template THREADS<sizeof(E)>>(
            shape, sizeof(E) >= 4 && rowsBeginAt(32) ? inParts : inSquares, stream);
    launchRowPairs<Policy::squareTileBytes>(shape, inSquares, stream);
  });
}

}  // namespace detail
GPUOPT_NAMESPACE_END
