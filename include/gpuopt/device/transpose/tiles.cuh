/// \file
/// Transposition of matrices whose rows begin at 16-byte boundaries: 16-byte accesses on both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/aligned_tile.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/registers.cuh>
#include <gpuopt/device/transpose/sector_tile.cuh>
#include <gpuopt/device/transpose/three_byte_tile.cuh>
#include <gpuopt/device/transpose/tile.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

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
  launch(kernel, config, problem,
         TileGrid{static_cast<unsigned>(across), static_cast<unsigned>(lines), regionBits<Policy>(problem)});
}

template <class Policy, class Tile, int BLOCKS, class Problem>
void launchTile(const Problem& problem, cudaStream_t stream) {
  launchTiles<Policy>(transposeTileKernel<Tile, BLOCKS, Problem>, static_cast<int>(Tile::THREADS),
                      sizeof(typename Tile::Storage), Tile::ROWS, Tile::COLS, problem, stream);
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
  launchTile<Policy, RectangleTile<In, Out, ROWS, COLS, THREADS>, BLOCKS>(problem, stream);
}

template <class Policy, class In, class Out, class Function>
void launchWholeTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  constexpr int TILE = Policy::template TILE<sizeof(In)>;
  constexpr int SIDE = Policy::template SIDE<sizeof(In)>;
  constexpr int BLOCKS = residentTiles<Policy, In>(TILE * SIDE, sizeof(TileStorage<Out, TILE>));
  launchTile<Policy, SquareTile<In, Out, TILE, SIDE>, BLOCKS>(problem, stream);
}

template <class Policy, class T>
void launchShiftedTiles(const TransposeProblem<T, T, Identity>& problem, cudaStream_t stream) {
  using Tile =
      SectorTile<T, Policy::template SHIFTED_TILE<sizeof(T)>, Policy::template SHIFTED_SIDE<sizeof(T)>>;
  constexpr int BLOCKS = residentTiles<Policy, T>(Tile::THREADS, sizeof(typename Tile::Storage));
  launchTile<Policy, Tile, BLOCKS>(problem, stream);
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

template <class Problem>
inline constexpr bool triplesTake =
    std::is_same_v<Problem, TransposeProblem<ThreeByteElement, ThreeByteElement, Identity>>;

template <class Problem>
bool triplesFit(const Problem& problem) {
  return triplesTake<Problem> && rowsAlignedTo(problem, 16);
}

template <class Problem>
void launchTransposeTriples(const Problem& problem, cudaStream_t stream) {
  if constexpr (triplesTake<Problem>)
    launchTile<TransposeTilesPolicy, ThreeByteTile, ThreeByteTile::BLOCKS>(problem, stream);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
