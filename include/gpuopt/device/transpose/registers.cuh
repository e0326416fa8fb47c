/// \file
/// Transposition in registers alone, for matrices with aligned rows that are in the L2 cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tile.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>

GPUOPT_DETAIL_BEGIN

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
  using Block = RegisterBlock<In, Out>;
  using Tile = RegisterTile<In, Out>;
  const auto region = tileRegion<Tile::ROWS, Tile::COLS>(problem, grid);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = (warp / Tile::WARPS_ACROSS * 8 + lane / 4) * Block::ROWS;
  const unsigned col = (warp % Tile::WARPS_ACROSS * 4 + lane % 4) * Block::COLS;
  const In* in = problem.in + region.in;
  Out* out = problem.out + region.out;
  const In* source = in + row * problem.inLd + col;
  waitForPreviousKernel();  // with addresses ready
  if (row + Block::ROWS <= region.rows && col + Block::COLS <= region.cols) {
    Block block;
    uint4 columns[Block::COLS];
    block.template load<false>(source, problem.inLd);
    block.transpose(problem.function, columns);
    Out* address = out + col * problem.outLd + row;
#pragma unroll
    for (unsigned c = 0; c < Block::COLS; ++c, address += problem.outLd) storeVector(address, columns[c]);
  }
  visitEdges<Block::ROWS, Block::COLS, Tile::COLS, Tile::THREADS>(
      region.rows, region.cols, threadIdx.x,
      [&](unsigned r, unsigned c) { out[c * problem.outLd + r] = problem.function(in[r * problem.inLd + c]); });
}

GPUOPT_DETAIL_END
