/// \file
/// Transposition in registers alone, for matrices with aligned rows that are in the L2 cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tile.cuh>
#include <gpuopt/grid/dependency.cuh>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// How the threads of a block cover its tile: warps of 8 x 4 threads, so that each writes rows of 128 bytes.
// The fewer vectors a thread has, the more threads: blocks start one by one.
template <class In, class Out>
struct RegisterThreads {
  static constexpr unsigned SIZE = sizeof(In) < sizeof(Out) ? sizeof(In) : sizeof(Out);
  static constexpr unsigned WARPS_DOWN = SIZE < 8 ? 1 : 2;
  static constexpr unsigned WARPS_ACROSS = SIZE < 16 ? 2 : 4;
  static constexpr unsigned COUNT = 32 * WARPS_DOWN * WARPS_ACROSS;
  static constexpr unsigned ROWS = 8 * WARPS_DOWN * RegisterBlock<In, Out>::ROWS;
  static constexpr unsigned COLS = 4 * WARPS_ACROSS * RegisterBlock<In, Out>::COLS;
};

// In the L2 cache the latency of shared memory costs more than its wider rows gain.
template <class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(RegisterThreads<In, Out>::COUNT)
    transposeRegistersKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Threads = RegisterThreads<In, Out>;
  using Block = RegisterBlock<In, Out>;
  const auto region = tileRegion<Threads::ROWS, Threads::COLS>(problem, grid);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = (warp / Threads::WARPS_ACROSS * 8 + lane / 4) * Block::ROWS;
  const unsigned col = (warp % Threads::WARPS_ACROSS * 4 + lane % 4) * Block::COLS;
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
  visitEdges<Block::ROWS, Block::COLS, Threads::COLS, Threads::COUNT>(
      region.rows, region.cols, threadIdx.x, [&](unsigned r, unsigned c) {
        out[c * problem.outLd + r] = problem.function(in[r * problem.inLd + c]);
      });
}

}  // namespace detail
GPUOPT_NAMESPACE_END
