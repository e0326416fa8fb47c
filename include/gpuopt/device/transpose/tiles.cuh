/// \file
/// Transposition of matrices whose rows begin at 16-byte boundaries: 16-byte accesses on both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/shifted.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <stdexcept>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How matrices with aligned rows are cut into tiles. Pass a type derived from this one to change a value.
/// SIZE is that of an element in bytes; where a function changes it, that of the smaller one.
///
/// Measured on an H200, 2026-11-22, ratio to the best copy, 256 MiB to 4 GiB, for 1 / 2 / 4 / 8 / 16 bytes:
/// rows that begin at 256-byte boundaries 0.96 / 0.97 / 0.97 / 0.97 / 0.96, at 128-byte ones 0.93 / 0.94 /
/// 0.95 / 0.96 / 0.96, at 32-byte ones 0.92 / 0.93 / 0.94 / 0.95 / 0.95, at 16-byte ones 0.925 / 0.925 / 0.94
/// / 0.935 by shifted tiles (by others, which leave half of a sector to the neighbouring tile, 0.88 / 0.90 /
/// 0.905 / 0.915) and 0.94 for 16 bytes. The order of tiles counts for more than their size: columns of tiles
/// side by side cost 0.01 to 0.03, tiles along rows of the input 0.03 to 0.08. Stores that ask the L2 cache
/// to keep their lines (evict_last) gain up to 0.02 in a single call and lose as much in a row of calls.
///
/// A function that changes the size, 16384^2 / 65536 x 4096, mean of the times of moving either type alone
/// over the time: byte to float 0.965 / 0.952 (by tiles of 128 x 128 0.96 / 0.885), half to float 0.98 /
/// 0.98, byte to half 0.98 (0.965), float to double 0.99, float to byte 1.045 (1.04), byte to double 0.95 (by
/// 64 x 64 0.97). Elementwise widening casts, which transpose nothing, reach 0.96 to 1.00: more writes than
/// reads are less than DRAM gives to a copy.
struct TransposeTilesPolicy {
  /// Rows and columns of a tile. Half as many cost 0.04; twice as many are 0.01 quicker at 16-byte
  /// boundaries, and slower on small matrices. Where a function changes the size, a tile has rows by the SIZE
  /// of the output and columns by that of the input: pieces of 256 bytes on both sides.
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
  /// The same where rows of the output begin at odd multiples of 16 bytes, half a sector: the last vector of
  /// each column is then read twice. Tiles of 32 cost 8-byte elements 0.01. Elements of 16 bytes lose 0.01 by
  /// shifted tiles, and take the others.
  template <std::size_t SIZE>
  static constexpr int SHIFTED_TILE = SIZE < 8 ? TILE<SIZE> : 64;
  /// SHIFTED_TILE x SHIFTED_SIDE threads, and a warp, move it.
  template <std::size_t SIZE>
  static constexpr int SHIFTED_SIDE = SIZE < 8 ? SIDE<SIZE> : 8;
  /// Shifted tiles are taken if so many lie between others, above and below, and are not cut on their right.
  /// 960 of them are quicker than unshifted ones, 240 slower (4112^2 bytes 0.87 instead of 0.89, in a graph
  /// 0.60 instead of 0.67), as is a batch without any (272 x 1008 bytes, 512 times: 0.80 instead of 0.83).
  static constexpr std::size_t shiftedTiles = 900;
  /// Where 2^k times so many bytes, k = 1 to 3, are the largest power of two that divides the distance of
  /// rows of the input, blocks take columns of tiles from 2^k regions of the matrix in turn. For distances of
  /// 128 / 256 / 512 KiB that is 0.97 / 0.967 / 0.96 instead of 0.92 / 0.933 / 0.952 (384 KiB: as 128, 768
  /// KiB: as 256; other numbers of regions and other distances lose up to 0.03), if there are 256 rows to a
  /// region.
  static constexpr std::size_t regionBytes = std::size_t{64} << 10;
  /// Threads of a multiprocessor that registers must suffice for; where a function changes the size, those
  /// for 2 bytes. Too few registers cost up to 0.1, too many up to 0.3.
  template <std::size_t SIZE>
  static constexpr int THREADS = SIZE == 1   ? 640
                                 : SIZE == 2 ? 768
                                 : SIZE == 4 ? 1280
                                 : SIZE == 8 ? 1536
                                             : 2048;
  /// Matrices up to so many bytes, all of a batch together, stay in registers (single ones that are smaller
  /// still: see TransposeSmallPolicy): 1024^2 floats in the L2 cache and a graph 2.14 us, by tiles 2.28, a
  /// copy 1.97; 8 MiB of bytes 3.7 us, by tiles 5.5.
  template <std::size_t SIZE>
  static constexpr std::size_t registerBytes = std::size_t{SIZE <= 2 ? 16 : 4} << 20;
};

namespace detail {

// The tiles of a batch of matrices. blockIdx.x counts those along a row of the output: what they leave half
// written of a sector is completed soon. y and z together count the rest.
struct TileGrid {
  unsigned across;      // tiles along a row of the input
  unsigned lines;       // the same of the whole batch
  unsigned regionBits;  // columns of tiles come from 2^regionBits regions in turn

  __host__ __device__ unsigned column(unsigned turn) const {
    const unsigned region = turn & ((1U << regionBits) - 1);
    const unsigned longer = across & ((1U << regionBits) - 1);  // regions with a column more
    return (across >> regionBits) * region + (region < longer ? region : longer) + (turn >> regionBits);
  }
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
  const std::size_t col = std::size_t{grid.column(line - matrix * grid.across)} * COLS;
  return {matrix * problem.inStride + row * problem.inLd + col,
          matrix * problem.outStride + col * problem.outLd + row,
          problem.rows - row < ROWS ? static_cast<unsigned>(problem.rows - row) : ROWS,
          problem.cols - col < COLS ? static_cast<unsigned>(problem.cols - col) : COLS};
}

template <int TILE, int SIDE, int BLOCKS, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(TILE* SIDE, smallerOf<int>(BLOCKS, RESIDENT_THREADS / (TILE * SIDE)))
    transposeTilesKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Tile = TransposeTile<In, Out, TILE, SIDE, true>;
  waitForPreviousKernel();
  const auto part = tilePart<TILE, TILE>(problem, grid);
  if (part.rows == 0) return;
  const Tile tile(*dynamicShared<typename Tile::Storage>());
  tile.load(problem.in + part.in, problem.inLd, part.rows, part.cols, problem.function);
  __syncthreads();
  tile.store(problem.out + part.out, problem.outLd, part.rows, part.cols);
}

template <int ROWS, int COLS, int THREADS, int BLOCKS, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(THREADS, smallerOf<int>(BLOCKS, RESIDENT_THREADS / THREADS))
    transposeCastKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Tile = VectorTile<In, Out, ROWS, COLS, THREADS>;
  waitForPreviousKernel();
  const auto part = tilePart<ROWS, COLS>(problem, grid);
  if (part.rows == 0) return;
  const Tile tile(*dynamicShared<typename Tile::Storage>(), threadIdx.x);
  const auto move = [&](auto whole) {
    constexpr bool IS_FULL = decltype(whole)::value;
    tile.template load<IS_FULL>(problem.in + part.in, problem.inLd, part.rows, part.cols, problem.function);
    __syncthreads();
    tile.template store<IS_FULL>(problem.out + part.out, problem.outLd, part.rows, part.cols);
  };
  if (part.rows == ROWS && part.cols == COLS)
    move(std::true_type{});
  else
    move(std::false_type{});
}

template <class Tile, int BLOCKS, class T>
GPUOPT_KERNEL void __launch_bounds__(Tile::THREADS, smallerOf<int>(BLOCKS, RESIDENT_THREADS / Tile::THREADS))
    transposeShiftedKernel(const TransposeProblem<T, T, Identity> problem, const TileGrid grid) {
  waitForPreviousKernel();
  const auto part = tilePart<Tile::SIZE, Tile::SIZE>(problem, grid);
  if (part.rows == 0) return;
  const Tile tile(*dynamicShared<typename Tile::Storage>());
  tile.load(problem.in + part.in, problem.inLd, part.rows, part.cols);
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
GPUOPT_KERNEL void __launch_bounds__(RegisterThreads<In, Out>::COUNT)
    transposeRegistersKernel(const TransposeProblem<In, Out, Function> problem, const TileGrid grid) {
  using Threads = RegisterThreads<In, Out>;
  using Block = RegisterBlock<In, Out>;
  const auto part = tilePart<Threads::ROWS, Threads::COLS>(problem, grid);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = (warp / Threads::WARPS_ACROSS * 8 + lane / 4) * Block::ROWS;
  const unsigned col = (warp % Threads::WARPS_ACROSS * 4 + lane % 4) * Block::COLS;
  const In* in = problem.in + part.in;
  Out* out = problem.out + part.out;
  const In* source = in + row * problem.inLd + col;
  waitForPreviousKernel();  // with addresses ready
  if (row + Block::ROWS <= part.rows && col + Block::COLS <= part.cols) {
    Block block;
    uint4 columns[Block::COLS];
    block.template load<false>(source, problem.inLd);
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

// Blocks of so many threads and bytes of shared memory that a multiprocessor shall hold. Tiles in much more
// than half of its memory would leave too little for loads on their way (floats by tiles of 128: 0.92 instead
// of 0.97).
template <class Policy, class T>
constexpr int residentTiles(int threads, std::size_t bytes) {
  const int byMemory = static_cast<int>((std::size_t{144} << 10) / bytes);
  return clampTo(Policy::template THREADS<sizeof(T)> / threads, 1, largerOf(byMemory, 1));
}

// Log2 of the regions that columns of tiles come from. If half of each row is left out, regions lie half as
// far apart, and two of them cost 0.01 instead of gaining 0.05; nor do few rows gain (512 of 512 KiB: 0.958
// instead of 0.967).
template <class Policy, class Problem>
unsigned regionBits(const Problem& problem) {
  const std::size_t power = powerOfTwoIn(problem.inLd * sizeof(*problem.in));
  unsigned bits = 0;
  while (bits < 4 && Policy::regionBytes << bits < power) ++bits;
  const bool fillsRows = problem.inLd - problem.cols <= problem.inLd / 8;
  return bits < 4 && problem.rows >= std::size_t{256} << bits && fillsRows ? bits : 0;
}

template <class Policy = TransposeTilesPolicy, class Kernel, class Problem>
GPUOPT_HIDDEN void launchTiles(Kernel kernel, int block, std::size_t sharedBytes, std::size_t rows,
                               std::size_t cols, const Problem& problem, cudaStream_t stream) {
  constexpr std::size_t MOST = 65535;
  const std::size_t across = ceilDivide(problem.cols, cols);
  const std::size_t lines = across * problem.batch;
  if (lines > MOST * MOST) throw std::invalid_argument("gpuopt::transpose: the input needs too many blocks");
  LaunchConfig config = gridConfig(block, ceilDivide(problem.rows, rows), stream, "gpuopt::transpose");
  config.grid.z = static_cast<unsigned>(ceilDivide(lines, MOST));
  config.grid.y = static_cast<unsigned>(ceilDivide(lines, config.grid.z));
  config.sharedBytes = sharedBytes;
  launch(kernel, config, problem,
         TileGrid{static_cast<unsigned>(across), static_cast<unsigned>(lines), regionBits<Policy>(problem)});
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
bool wastesTiles(const Problem& problem, std::size_t rows, std::size_t cols) {
  return roundUp(problem.rows, rows) * roundUp(problem.cols, cols) >= 2 * problem.rows * problem.cols;
}

// A block of registers for each thread: what the results need in shared memory leaves room for three blocks.
template <class Policy, class In, class Out, class Function>
void launchCastTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  constexpr std::size_t SIZE = smallerOf(sizeof(In), sizeof(Out));
  constexpr int ROWS = Policy::template TILE<sizeof(Out)>;
  constexpr int COLS = Policy::template TILE<sizeof(In)>;
  constexpr int THREADS = Policy::template TILE<SIZE> * Policy::template SIDE<SIZE>;
  constexpr int BLOCKS = largerOf(Policy::template THREADS<2> / THREADS, 1);
  launchTiles<Policy>(transposeCastKernel<ROWS, COLS, THREADS, BLOCKS, In, Out, Function>, THREADS,
                      sizeof(TileStorage<Out, ROWS, COLS>), ROWS, COLS, problem, stream);
}

template <class Policy, class In, class Out, class Function>
void launchWholeTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  constexpr int TILE = Policy::template TILE<sizeof(In)>;
  constexpr int SIDE = Policy::template SIDE<sizeof(In)>;
  constexpr std::size_t BYTES = sizeof(TileStorage<Out, TILE>);
  constexpr int BLOCKS = residentTiles<Policy, In>(TILE * SIDE, BYTES);
  launchTiles<Policy>(transposeTilesKernel<TILE, SIDE, BLOCKS, In, Out, Function>, TILE * SIDE, BYTES, TILE,
                      TILE, problem, stream);
}

template <class Policy, class T>
void launchShiftedTiles(const TransposeProblem<T, T, Identity>& problem, cudaStream_t stream) {
  using Tile =
      ShiftedTile<T, Policy::template SHIFTED_TILE<sizeof(T)>, Policy::template SHIFTED_SIDE<sizeof(T)>>;
  constexpr std::size_t BYTES = sizeof(typename Tile::Storage);
  constexpr int BLOCKS = residentTiles<Policy, T>(Tile::THREADS, BYTES);
  launchTiles<Policy>(transposeShiftedKernel<Tile, BLOCKS, T>, Tile::THREADS, BYTES, Tile::SIZE, Tile::SIZE,
                      problem, stream);
}

// Whether rows of the output begin within sectors, and at least so many shifted tiles are whole and lie
// between others. They need more shared memory than the unshifted.
template <class Problem>
bool shiftsTiles(const Problem& problem, std::size_t tile, std::size_t least) {
  const std::size_t between = largerOf(ceilDivide(problem.rows, tile), std::size_t{2}) - 2;
  return outAlignment(problem, 32) < 32 && between * (problem.cols / tile) * problem.batch >= least &&
         givesBlocksMuchMemory();
}

template <class Policy = TransposeTilesPolicy, class In, class Out, class Function>
void launchTransposeTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (tilesTake<In, Out>) {
    constexpr std::size_t SIZE = smallerOf(sizeof(In), sizeof(Out));
    constexpr std::size_t WIDER = largerOf(sizeof(In), sizeof(Out));
    if (problem.rows * problem.cols * problem.batch * WIDER <= Policy::template registerBytes<SIZE> ||
        wastesTiles(problem, Policy::template TILE<sizeof(Out)>, Policy::template TILE<sizeof(In)>)) {
      using Threads = RegisterThreads<In, Out>;
      return launchTiles(transposeRegistersKernel<In, Out, Function>, Threads::COUNT, 0, Threads::ROWS,
                         Threads::COLS, problem, stream);
    }
    if constexpr (std::is_same_v<Function, Identity> && sizeof(In) < 16)
      if (shiftsTiles(problem, Policy::template SHIFTED_TILE<SIZE>, Policy::shiftedTiles))
        return launchShiftedTiles<Policy>(problem, stream);
    if constexpr (sizeof(In) == sizeof(Out))
      launchWholeTiles<Policy>(problem, stream);
    else
      launchCastTiles<Policy>(problem, stream);
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
