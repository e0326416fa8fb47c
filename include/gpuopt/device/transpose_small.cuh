/// \file
/// Transposition of small matrices whose rows begin anywhere, element by element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/device/transpose_tiles.cuh>
#include <gpuopt/host/integers.cuh>

#include <cstddef>
#include <type_traits>

namespace gpuopt {

/// How a matrix without aligned rows is cut into tiles as long as it lies in the L2 cache: many blocks that
/// start at once and soon end count for more there than what each moves in a second. Pass a type derived from
/// this one to change a value.
///
/// Measured on an H200, 2026-11-22, hot, in a graph, microseconds more than the best copy takes (1.1 to 2.1),
/// at 509 x 509: elements of 1 byte 0.55, 2 bytes 0.52, 4 bytes 0.37, 8 bytes 0.40, 16 bytes 0.59, where the
/// kernel of larger matrices took 3.8, 3.1, 2.1, 1.3 and 1.0. At 4 MiB, trial kernels of such tiles, and that
/// kernel: 1 byte 4.4 and 5.2, 4 bytes 0.84 and 2.2. Half as many threads cost up to 0.34, tiles of 64 rows
/// up to 0.29. Elements of other sizes have not been measured.
struct TransposeSmallPolicy {
  /// Matrices up to so many bytes, those of the larger one of the two sides. Of elements that are not read at
  /// once, fewer by the number of reads.
  static constexpr std::size_t bytes = std::size_t{4} << 20;
  /// Rows and columns of a tile; SIZE is that of the larger one of both elements in bytes, up to 16.
  template <std::size_t SIZE>
  static constexpr int TILE = SIZE <= 8 ? 32 : 16;
  /// TILE x SIDE threads move it.
  template <std::size_t SIZE>
  static constexpr int SIDE = SIZE <= 8 ? 8 : 16;
  /// Threads of a multiprocessor that registers must suffice for: 1024^2 floats start at once.
  static constexpr int THREADS = 2048;
};

namespace detail {

// Elements lie in registers and are put together there.
template <class T>
inline constexpr bool smallTakes = sizeof(T) <= 16 && std::is_default_constructible_v<T>;

// Bytes of an element, times the reads that it takes.
template <class T>
inline constexpr std::size_t readCost = sizeof(T) * (sizeof(T) / alignof(T));

template <class Policy = TransposeSmallPolicy, class In, class Out, class Function>
bool smallFits(const TransposeProblem<In, Out, Function>& problem) {
  return smallTakes<In> && smallTakes<Out> && problem.batch == 1 &&
         problem.rows * problem.cols <= Policy::bytes / largerOf(readCost<In>, readCost<Out>);
}

template <class Policy = TransposeSmallPolicy, class In, class Out, class Function>
void launchTransposeSmall(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (smallTakes<In> && smallTakes<Out>) {
    constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
    constexpr int TILE = Policy::template TILE<SIZE>;
    constexpr int SIDE = Policy::template SIDE<SIZE>;
    launchTiles(transposeTilesKernel<TILE, SIDE, Policy::THREADS / (TILE * SIDE), false, In, Out, Function>,
                TILE * SIDE, sizeof(TileStorage<Out, TILE>), TILE, TILE, problem, stream);
  }
}

}  // namespace detail
}  // namespace gpuopt
