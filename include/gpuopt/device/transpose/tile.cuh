/// \file
/// The kernels that transpose tile by tile, through shared memory or in registers alone, the grid of tiles, and the
/// tiles of matrices whose rows begin at 16-byte boundaries.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The tiles of a batch of matrices. blockIdx.x counts tiles along a row of the output, so that two tiles that share a
// sector of it run close together. blockIdx.y and z count the columns of tiles.
struct TileGrid {
  unsigned columns;     // of tiles in a matrix
  unsigned allColumns;  // in the batch
  unsigned regionBits;  // blocks take columns from 2^regionBits regions of the matrix in turn

  __host__ __device__ unsigned column(unsigned turn) const {
    const unsigned region = turn & ((1U << regionBits) - 1);
    const unsigned longer = columns & ((1U << regionBits) - 1);  // regions with a column more
    return (columns >> regionBits) * region + (region < longer ? region : longer) + (turn >> regionBits);
  }
};

// A tile's region of the problem.
struct TileRegion {
  std::size_t in;   // offset of its first element
  std::size_t out;  // offset of the element that this one becomes
  unsigned rows;    // 0 if the block has no tile
  unsigned cols;
};

template <unsigned ROWS, unsigned COLS, class Problem>
__device__ inline TileRegion tileRegion(const Problem& problem, TileGrid grid) {
  const unsigned column = blockIdx.z * gridDim.y + blockIdx.y;
  if (column >= grid.allColumns) return {0, 0, 0, 0};
  const unsigned matrix = problem.batch > 1 ? column / grid.columns : 0;
  const std::size_t row = std::size_t{blockIdx.x} * ROWS;
  const std::size_t col = std::size_t{grid.column(column - matrix * grid.columns)} * COLS;
  return {matrix * problem.inStride + row * problem.inLd + col, matrix * problem.outStride + col * problem.outLd + row,
          problem.rows - row < ROWS ? static_cast<unsigned>(problem.rows - row) : ROWS,
          problem.cols - col < COLS ? static_cast<unsigned>(problem.cols - col) : COLS};
}

// A Tile says its ROWS, COLS, THREADS and Storage, and the BLOCKS that a multiprocessor should hold. Its two halves ask
// separately whether the tile is full: one branch around both would cost up to 12 registers.
template <class Tile, class Problem>
GPUOPT_KERNEL void __launch_bounds__(Tile::THREADS, smallerOf<int>(Tile::BLOCKS, RESIDENT_THREADS / Tile::THREADS))
    transposeTileKernel(const Problem problem, const TileGrid grid) {
  waitForPreviousKernel();
  const auto region = tileRegion<Tile::ROWS, Tile::COLS>(problem, grid);
  if (region.rows == 0) return;
  const Tile tile(*dynamicShared<typename Tile::Storage>());
  tile.load(problem.in + region.in, problem.inLd, region.rows, region.cols, problem.function);
  __syncthreads();
  tile.store(problem.out + region.out, problem.outLd, region.rows, region.cols);
}

template <class In, class Out, int TILE, int SIDE>
class SquareTile : public TransposeTile<In, Out, TILE, SIDE, true> {
 public:
  static constexpr unsigned ROWS = TILE;
  static constexpr unsigned COLS = TILE;
  static constexpr unsigned THREADS = TILE * SIDE;
  using typename TransposeTile<In, Out, TILE, SIDE, true>::Storage;
  static constexpr int BLOCKS = residentTiles<sizeof(In)>(THREADS, sizeof(Storage));
  using TransposeTile<In, Out, TILE, SIDE, true>::TransposeTile;
};

// For functions that change the size of an element: rows of the tile have the same number of bytes on both sides.
template <class In, class Out, unsigned ROWS_, unsigned COLS_, unsigned THREADS_>
class RectangleTile {
 public:
  static constexpr unsigned ROWS = ROWS_;
  static constexpr unsigned COLS = COLS_;
  static constexpr unsigned THREADS = THREADS_;
  static constexpr int BLOCKS = residentCastTiles(THREADS);
  using Storage = TileStorage<Out, ROWS, COLS>;

  __device__ explicit RectangleTile(Storage& storage) : tile_(storage, threadIdx.x) {}

  template <class Function>
  __device__ void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, Function function) const {
    if (rows == ROWS && cols == COLS)
      tile_.template load<true>(in, ld, ROWS, COLS, function);
    else
      tile_.template load<false>(in, ld, rows, cols, function);
  }

  __device__ void store(Out* out, std::size_t ld, unsigned rows, unsigned cols) const {
    if (rows == ROWS && cols == COLS)
      tile_.template store<true>(out, ld, ROWS, COLS);
    else
      tile_.template store<false>(out, ld, rows, cols);
  }

 private:
  VectorTile<In, Out, ROWS, COLS, THREADS> tile_;
};

template <class In, class Out>
struct RegisterTile {
  static constexpr TransposeTileShape shape = registerTileShape(sizeof(In), sizeof(Out));
  static constexpr unsigned ROWS = shape.rows;
  static constexpr unsigned COLS = shape.cols;
  static constexpr unsigned THREADS = shape.threads;
  static constexpr unsigned WARPS_ACROSS = registerWarps(smallerOf(sizeof(In), sizeof(Out))).across;
};

// In the L2 cache the latency of shared memory costs more than its wider rows gain.
template <class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(RegisterTile<In, Out>::THREADS)
    transposeRegistersKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Square = RegisterSquare<In, Out>;
  using Tile = RegisterTile<In, Out>;
  const auto region = tileRegion<Tile::ROWS, Tile::COLS>(problem, grid);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = (warp / Tile::WARPS_ACROSS * 8 + lane / 4) * Square::ROWS;
  const unsigned col = (warp % Tile::WARPS_ACROSS * 4 + lane % 4) * Square::COLS;
  const In* in = problem.in + region.in;
  Out* out = problem.out + region.out;
  const In* source = in + row * problem.inLd + col;
  waitForPreviousKernel();  // with addresses ready
  if (row + Square::ROWS <= region.rows && col + Square::COLS <= region.cols) {
    Square square;
    uint4 columns[Square::COLS];
    square.template load<false>(source, problem.inLd);
    square.transpose(problem.function, columns);
    Out* address = out + col * problem.outLd + row;
#pragma unroll
    for (unsigned c = 0; c < Square::COLS; ++c, address += problem.outLd) storeVector(address, columns[c]);
  }
  visitEdges<Square::ROWS, Square::COLS, Tile::COLS, Tile::THREADS>(
      region.rows, region.cols, threadIdx.x,
      [&](unsigned r, unsigned c) { out[c * problem.outLd + r] = problem.function(in[r * problem.inLd + c]); });
}

GPUOPT_DETAIL_END
