/// \file
/// Transposition of small matrices, element by element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/copy.cuh>
#include <gpuopt/device/transpose/narrow.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tiles.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Which matrices are small, and how they are cut into tiles. In the L2 cache, what a kernel costs besides
/// moving counts for most: many small blocks of short code that all start at once are quickest there. Pass a
/// type derived from this one to change a value. SIZE is that of the larger one of both elements in bytes, up
/// to 16, where nothing else is said.
///
/// Measured on an H200, 2026-11-22, hot, in a graph, microseconds more than the best copy takes (1.0 to 5.3):
///
///     side                       64    256    509    512   1021   1024
///     1 byte                  -0.12  -0.09   0.02   0.00   0.59      -
///     2 bytes                 -0.12  -0.12   0.02  -0.06   0.54      -
///     4 bytes                 -0.14  -0.13   0.08  -0.12   0.58  -0.07
///     8 bytes                 -0.08  -0.12   0.13  -0.05   0.69   0.13
///     16 bytes                -0.15  -0.14  -0.04  -0.17   1.08   0.39
///
/// up to 512 the kernels of larger matrices took 0.07 to 0.38 with aligned rows, and with others 2.1 to 4.0
/// for 1 and 2 bytes, 1.3 to 2.9 for 4 and 8, 0.7 to 1.0 for 16. Below 0 the copy loses to the early launch,
/// which it does not have. Cold, 1024^2 elements of 8 and 16 bytes took 0.97 and 0.94 of the copy's time.
struct TransposeSmallPolicy {
  /// Matrices of up to so many elements, divided by the reads that an element takes. H200, 2026-11-22, cold,
  /// microseconds more than the copy by these tiles, and by those of larger matrices: 1 byte, 2045^2 3.4 and
  /// 4.4, 2894^2 6.3 and 1.8; 2 bytes, 1447^2 1.5 and 2.0, 2045^2 3.2 and 1.7; 4 bytes, 1447^2 1.5 and 1.4,
  /// 2045^2 3.5 and 2.3; 8 bytes, 2045^2 2.8 and 2.3, but hot 1.4 and 1.8.
  template <std::size_t SIZE>
  static constexpr std::size_t elements = std::size_t{SIZE == 2 || SIZE == 4 ? 2 : 4} << 20;
  /// The same, not divided, where all rows begin at 16-byte boundaries; SIZE is that of the smaller one of
  /// both elements. Vectors move several bytes and halves at a time: 1024^2 bytes 0.25 us over the copy
  /// instead of 0.55, elements of 3 bytes 0.9 instead of 1.9.
  template <std::size_t SIZE>
  static constexpr std::size_t alignedElements = SIZE < 4 ? std::size_t{1} << 19 : elements<SIZE>;
  /// The same for matrices of few rows or columns, which have a kernel of their own; counted are the elements
  /// of all tiles, as if they were full. 3 x 5000, 8 x 8192, 31 x 7943, both ways, 1 to 16 bytes: up to 0.03
  /// us over the copy, that kernel 0.6 to 4.0.
  static constexpr std::size_t narrowElements = std::size_t{1} << 18;
  /// Rows and columns of a tile. 1 to 8 bytes: tiles of 64 cost up to 0.29 us. 16 bytes: tiles of 32 cost
  /// 0.3.
  template <std::size_t SIZE>
  static constexpr int TILE = SIZE < 16 ? 32 : 16;
  /// Rows of a tile of matrices of more elements than `tallElements`: 1024^2 double complex cold 0.92 of the
  /// copy's time by one wave of such blocks, with 16 rows 0.98.
  static constexpr int TALL = 32;
  static constexpr std::size_t tallElements = std::size_t{1} << 19;  ///< see TALL
  /// Threads that move a tile: half as many cost up to 0.15 us.
  template <std::size_t SIZE>
  static constexpr int THREADS = SIZE < 16 ? 256 : 128;
};

namespace detail {

// Reads and registers that an element takes at least.
template <class In, class Out>
inline constexpr std::size_t smallReads = largerOf(sizeof(In) / alignof(In), sizeof(Out) / alignof(Out));

// Elements lie in registers, several of a thread.
template <class In, class Out>
inline constexpr bool smallTakes = largerOf(sizeof(In), sizeof(Out)) <= 16 &&
                                   smallReads<In, Out> <= 8 && std::is_default_constructible_v<Out>;

// A tile's results in shared memory, column by column. Columns begin in different banks.
template <class T, unsigned ROWS, unsigned COLS>
struct SmallTile {
  static constexpr unsigned PITCH = ROWS + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);

  alignas(16) unsigned char bytes[sizeof(T) * COLS * PITCH];

  __device__ T& at(unsigned row, unsigned col) { return reinterpret_cast<T*>(bytes)[col * PITCH + row]; }
};

template <int ROWS, int COLS, int THREADS, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(THREADS, RESIDENT_THREADS / THREADS / (smallReads<In, Out> <= 4 ? 1 : 2))
    transposeSmallKernel(const TransposeProblem<In, Out, Function> problem) {
  constexpr unsigned DOWN = THREADS / COLS;    // rows that the threads load at a time
  constexpr unsigned ACROSS = THREADS / ROWS;  // columns that they store
  constexpr unsigned COUNT = ROWS / DOWN;
  __shared__ SmallTile<Out, ROWS, COLS> storage;
  auto& tile = keepAddress(storage);
  const auto rows = static_cast<unsigned>(problem.rows) - blockIdx.x * ROWS;
  const auto cols = static_cast<unsigned>(problem.cols) - blockIdx.y * COLS;

  const unsigned row = threadIdx.x / COLS;
  const unsigned col = threadIdx.x % COLS;
  const In* in = problem.in + std::size_t{blockIdx.x * ROWS + row} * problem.inLd + blockIdx.y * COLS + col;
  Out results[COUNT];
  waitForPreviousKernel();  // with addresses ready
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i, in += DOWN * problem.inLd)
    if (row + i * DOWN < rows && col < cols) results[i] = problem.function(*in);
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i) tile.at(row + i * DOWN, col) = results[i];
  __syncthreads();

  const unsigned outRow = threadIdx.x % ROWS;
  const unsigned outCol = threadIdx.x / ROWS;
  Out* out =
      problem.out + std::size_t{blockIdx.y * COLS + outCol} * problem.outLd + blockIdx.x * ROWS + outRow;
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i, out += ACROSS * problem.outLd)
    if (outRow < rows && outCol + i * ACROSS < cols) *out = tile.at(outRow, outCol + i * ACROSS);
}

// Whether so few elements are better divided among many blocks than left to the kernel for such matrices.
template <class Policy, class In, class Out, class Function>
bool hasFewElements(const TransposeProblem<In, Out, Function>& problem) {
  constexpr std::size_t SMALLER = smallerOf(sizeof(In), sizeof(Out));
  constexpr std::size_t LARGER = largerOf(sizeof(In), sizeof(Out));
  constexpr std::size_t TILE = 32;
  const std::size_t elements = problem.rows * problem.cols;
  if (narrowFits(problem))
    return roundUp(problem.rows, TILE) * roundUp(problem.cols, TILE) * smallReads<In, Out> <=
           Policy::narrowElements;
  if (tilesFits(problem) || triplesFit(problem)) return elements <= Policy::template alignedElements<SMALLER>;
  return elements * smallReads<In, Out> <= Policy::template elements<LARGER>;
}

template <class Policy = TransposeSmallPolicy, class In, class Out, class Function>
bool smallFits(const TransposeProblem<In, Out, Function>& problem) {
  constexpr std::size_t MOST = 65535;  // blocks along y
  if constexpr (smallTakes<In, Out>)
    return problem.batch == 1 && !isCopy(problem) && problem.cols <= MOST * 16 &&
           hasFewElements<Policy>(problem);
  else
    return false;
}

template <int ROWS, int COLS, int THREADS, class In, class Out, class Function>
void launchSmallTiles(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  LaunchConfig config =
      gridConfig(THREADS, ceilDivide(problem.rows, std::size_t{ROWS}), stream, "gpuopt::transpose");
  config.grid.y = static_cast<unsigned>(ceilDivide(problem.cols, std::size_t{COLS}));
  launch(transposeSmallKernel<ROWS, COLS, THREADS, In, Out, Function>, config, problem);
}

template <class Policy = TransposeSmallPolicy, class In, class Out, class Function>
void launchTransposeSmall(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (smallTakes<In, Out>) {
    constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
    constexpr int TILE = Policy::template TILE<SIZE>;
    constexpr int THREADS = Policy::template THREADS<SIZE>;
    if (problem.rows * problem.cols <= Policy::tallElements)
      launchSmallTiles<TILE, TILE, THREADS>(problem, stream);
    else
      launchSmallTiles<Policy::TALL, TILE, THREADS>(problem, stream);
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
