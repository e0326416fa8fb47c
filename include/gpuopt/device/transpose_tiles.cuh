/// \file
/// Transposition of matrices whose rows begin at 16-byte boundaries: 16-byte accesses on both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/grid.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <stdexcept>
#include <type_traits>

namespace gpuopt {

/// How matrices with aligned rows are cut into tiles. Pass a type derived from this one to change a value.
/// SIZE is that of an element in bytes; where a function changes it, that of the smaller one, but not below
/// half of the larger one, and not 1 where bytes become wider.
///
/// Measured on an H200, 2026-11-21, ratio to the best copy, 256 MiB to 4 GiB, for 1 / 2 / 4 / 8 / 16 bytes:
/// rows that begin at 256-byte boundaries 0.96 / 0.97 / 0.97 / 0.97 / 0.96 (0.92 to 0.95 where rows are 128
/// or 256 KiB apart), at 128-byte ones 0.93 / 0.94 / 0.95 / 0.96 / 0.96, at 32-byte ones 0.92 / 0.93 / 0.94 /
/// 0.95 / 0.95, at 16-byte ones, which leave half of a sector to the neighbouring tile, 0.87 / 0.90 / 0.91 /
/// 0.92 / 0.94. The order of tiles counts for more than their size: columns of tiles side by side cost 0.01
/// to 0.03, tiles along rows of the input 0.03 to 0.08.
struct TransposeTilesPolicy {
  /// Rows and columns of a tile. Half as many cost 0.04; twice as many are 0.01 quicker at 16-byte
  /// boundaries, and slower on small matrices.
  template <std::size_t SIZE>
  static constexpr int TILE = SIZE == 1   ? 256
                              : SIZE == 2 ? 128
                              : SIZE == 4 ? 64
                                          : 32;
  /// TILE x SIDE threads move it: one square of vectors each (two for 16 bytes).
  template <std::size_t SIZE>
  static constexpr int SIDE = SIZE == 1   ? 1
                              : SIZE == 2 ? 2
                              : SIZE == 4 ? 4
                              : SIZE == 8 ? 8
                                          : 16;
  /// Threads of a multiprocessor that registers must suffice for. Too few registers cost up to 0.1, too many
  /// up to 0.3.
  template <std::size_t SIZE>
  static constexpr int THREADS = SIZE == 1   ? 512
                                 : SIZE == 2 ? 768
                                 : SIZE == 4 ? 1280
                                 : SIZE == 8 ? 1536
                                             : 2048;
  /// Matrices up to so many bytes, all of a batch together, stay in registers: 1024^2 floats in the L2 cache
  /// and a graph 2.14 us, by tiles 2.28, a copy 1.97; 8 MiB of bytes 3.7 us, by tiles 5.5.
  template <std::size_t SIZE>
  static constexpr std::size_t registerBytes = std::size_t{SIZE <= 2 ? 16 : 4} << 20;
};

namespace detail {

// The tiles of a batch of matrices. blockIdx.x counts those along a row of the output: what they leave half
// written of a sector is completed soon. y and z together count the rest.
struct TileGrid {
  unsigned across;  // tiles along a row of the input
  unsigned lines;   // the same of the whole batch
};

// A tile's part of the problem.
struct TilePart {
  std::size_t in;   // its first element
  std::size_t out;  // where that goes
  unsigned rows;    // none if there is no such tile
  unsigned cols;
};

template <unsigned ROWS, unsigned COLS, class Problem>
__device__ inline TilePart tilePart(const Problem& problem, TileGrid grid) {
  const unsigned line = blockIdx.z * gridDim.y + blockIdx.y;
  if (line >= grid.lines) return {0, 0, 0, 0};
  const unsigned matrix = problem.batch > 1 ? line / grid.across : 0;
  const std::size_t row = std::size_t{blockIdx.x} * ROWS;
  const std::size_t col = std::size_t{line - matrix * grid.across} * COLS;
  return {matrix * problem.inStride + row * problem.inLd + col,
          matrix * problem.outStride + col * problem.outLd + row,
          problem.rows - row < ROWS ? static_cast<unsigned>(problem.rows - row) : ROWS,
          problem.cols - col < COLS ? static_cast<unsigned>(problem.cols - col) : COLS};
}

template <int TILE, int SIDE, int BLOCKS, bool ALIGNED, class In, class Out, class Function>
__global__ void __launch_bounds__(TILE* SIDE, smallerOf<int>(BLOCKS, RESIDENT_THREADS / (TILE * SIDE)))
    transposeTilesKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Tile = TransposeTile<In, Out, TILE, SIDE, ALIGNED>;
  waitForPreviousKernel();
  const auto part = tilePart<TILE, TILE>(problem, grid);
  if (part.rows == 0) return;
  const Tile tile(*dynamicShared<typename Tile::Storage>());
  tile.load(problem.in + part.in, problem.inLd, part.rows, part.cols, problem.function);
  __syncthreads();
  tile.store(problem.out + part.out, problem.outLd, part.rows, part.cols);
}

// How the threads of a block lie over blocks of registers: warps of 8 x 4, so that each writes rows of 128
// bytes. The fewer vectors a thread has, the more threads: blocks start one by one.
template <class In, class Out>
struct RegisterThreads {
  static constexpr unsigned SIZE = sizeof(In) < sizeof(Out) ? sizeof(In) : sizeof(Out);
  static constexpr unsigned WARPS_DOWN = SIZE < 8 ? 1 : 2;
  static constexpr unsigned WARPS_ACROSS = SIZE < 16 ? 2 : 4;
  static constexpr unsigned COUNT = 32 * WARPS_DOWN * WARPS_ACROSS;
  static constexpr unsigned ROWS = 8 * WARPS_DOWN * RegisterBlock<In, Out>::ROWS;
  static constexpr unsigned COLS = 4 * WARPS_ACROSS * RegisterBlock<In, Out>::COLS;
};

// Matrices that lie in the L2 cache: what shared memory costs in latency would be more than what it gains.
template <class In, class Out, class Function>
__global__ void __launch_bounds__(RegisterThreads<In, Out>::COUNT)
    transposeRegistersKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Threads = RegisterThreads<In, Out>;
  using Block = RegisterBlock<In, Out>;
  waitForPreviousKernel();
  const auto part = tilePart<Threads::ROWS, Threads::COLS>(problem, grid);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = (warp / Threads::WARPS_ACROSS * 8 + lane / 4) * Block::ROWS;
  const unsigned col = (warp % Threads::WARPS_ACROSS * 4 + lane % 4) * Block::COLS;
  const In* in = problem.in + part.in;
  Out* out = problem.out + part.out;
  if (row + Block::ROWS <= part.rows && col + Block::COLS <= part.cols) {
    Block block;
    uint4 columns[Block::COLS];
    block.template load<false>(in + row * problem.inLd + col, problem.inLd);
    block.transpose(problem.function, columns);
    Out* address = out + col * problem.outLd + row;
#pragma unroll
    for (unsigned c = 0; c < Block::COLS; ++c, address += problem.outLd) storeVector(address, columns[c]);
  }
  visitEdges<Block::ROWS, Block::COLS, Threads::COLS, Threads::COUNT>(
      part.rows, part.cols, threadIdx.x, [&](unsigned r, unsigned c) {
        out[c * problem.outLd + r] = problem.function(in[r * problem.inLd + c]);
      });
}

template <class In, class Out>
inline constexpr bool tilesTake = fillsVectors<sizeof(In)>&& fillsVectors<sizeof(Out)>;

// The SIZE of the policy. Bytes that become wider need the smaller tile: shared memory holds what they
// become.
template <std::size_t IN, std::size_t OUT>
inline constexpr std::size_t tileSize = largerOf(largerOf(IN, OUT) / (IN == OUT ? 1 : 2),
                                                 IN < OUT ? largerOf(IN, std::size_t{2}) : OUT);

// Blocks that a multiprocessor shall hold. More than half of its memory for tiles would leave too little for
// loads on their way (floats by tiles of 128: 0.92 instead of 0.97), and changes of the size need more
// registers.
template <class Policy, class In, class Out>
inline constexpr int residentTiles = [] {
  constexpr std::size_t SIZE = tileSize<sizeof(In), sizeof(Out)>;
  constexpr std::size_t REGISTERS = sizeof(In) == sizeof(Out) ? SIZE : smallerOf(SIZE, std::size_t{2});
  constexpr int TILE = Policy::template TILE<SIZE>;
  constexpr int byRegisters = Policy::template THREADS<REGISTERS> / (TILE * Policy::template SIDE<SIZE>);
  constexpr int byMemory = static_cast<int>((std::size_t{128} << 10) / sizeof(TileStorage<Out, TILE>));
  return clampTo(byRegisters, 1, largerOf(byMemory, 1));
}();

template <class Kernel, class Problem>
void launchTiles(Kernel kernel, int block, std::size_t sharedBytes, std::size_t rows, std::size_t cols,
                 const Problem& problem, cudaStream_t stream) {
  constexpr std::size_t MOST = 65535;
  const std::size_t across = ceilDivide(problem.cols, cols);
  const std::size_t lines = across * problem.batch;
  if (lines > MOST * MOST) throw std::invalid_argument("gpuopt::transpose: the input needs too many blocks");
  LaunchConfig config = gridConfig(block, ceilDivide(problem.rows, rows), stream, "gpuopt::transpose");
  config.grid.z = static_cast<unsigned>(ceilDivide(lines, MOST));
  config.grid.y = static_cast<unsigned>(ceilDivide(lines, config.grid.z));
  config.sharedBytes = sharedBytes;
  launch(kernel, config, problem, TileGrid{static_cast<unsigned>(across), static_cast<unsigned>(lines)});
}

template <class Policy = TransposeTilesPolicy, class In, class Out, class Function>
bool tilesFits(const TransposeProblem<In, Out, Function>& problem) {
  if constexpr (tilesTake<In, Out>)
    return rowsAlignedTo(problem, 16);
  else
    return false;
}

// Whether tiles would be empty for the most part, as in batches of matrices smaller than a tile.
template <class Problem>
bool wastesTiles(const Problem& problem, std::size_t tile) {
  const auto covered = [tile](std::size_t count) { return ceilDivide(count, tile) * tile; };
  return covered(problem.rows) * covered(problem.cols) >= 2 * problem.rows * problem.cols;
}

template <class Policy = TransposeTilesPolicy, class In, class Out, class Function>
void launchTransposeTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (tilesTake<In, Out>) {
    constexpr std::size_t SIZE = tileSize<sizeof(In), sizeof(Out)>;
    constexpr int TILE = Policy::template TILE<SIZE>;
    constexpr int SIDE = Policy::template SIDE<SIZE>;
    constexpr int BLOCKS = residentTiles<Policy, In, Out>;
    using Threads = RegisterThreads<In, Out>;
    if (problem.rows * problem.cols * problem.batch * largerOf(sizeof(In), sizeof(Out)) <=
            Policy::template registerBytes<SIZE> ||
        wastesTiles(problem, TILE))
      launchTiles(transposeRegistersKernel<In, Out, Function>, Threads::COUNT, 0, Threads::ROWS,
                  Threads::COLS, problem, stream);
    else
      launchTiles(transposeTilesKernel<TILE, SIDE, BLOCKS, true, In, Out, Function>, TILE * SIDE,
                  sizeof(TileStorage<Out, TILE>), TILE, TILE, problem, stream);
  }
}

}  // namespace detail
}  // namespace gpuopt
