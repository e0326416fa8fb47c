/// \file
/// The kernel that transposes tile by tile through shared memory, and the grid of tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/problem.cuh>
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

// A Tile says its ROWS, COLS, THREADS and Storage, and the BLOCKS that a multiprocessor shall hold. Its two halves ask
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

GPUOPT_DETAIL_END
