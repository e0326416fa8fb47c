/// \file
/// Transposition of small matrices of bytes or halves that consist of squares of 4 x 4.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose/batch_part.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The shift that brings the lowest bit of the distance between threads' places to `bit` of the address, where
// it tells banks apart. Threads whose distance is small already lie in different ones.
inline unsigned squaresSwizzle(std::size_t distance, unsigned bit) {
  constexpr unsigned NONE = 31;
  if (distance % 64 != 0) return NONE;
  unsigned swizzle = 2;
  while (distance % (std::size_t{2} << (swizzle + bit)) == 0) ++swizzle;
  return swizzle;
}

// How the squares of a block are divided among its threads.
struct SquaresShape : BatchShape {
  unsigned across;     // squares side by side
  unsigned pairLines;  // lines of pairs of squares; the last pairs may be halves
  ShortDivisor byAcross;
  ShortDivisor byPairLines;
  unsigned inSwizzle;
  unsigned outSwizzle;

  // A warp reads along lines, up to 64 bytes of each, and stores across them.
  template <class Problem>
  SquaresShape(const Problem& problem, std::size_t perBlock)
      : BatchShape(problem, perBlock),
        across(cols / 4),
        pairLines((rows / 4 + 1) / 2),
        byAcross(across),
        byPairLines(pairLines),
        inSwizzle(squaresSwizzle(4 * problem.cols * sizeof(*problem.in), 6)),
        outSwizzle(squaresSwizzle(4 * problem.rows * sizeof(*problem.in), 4)) {}
};

// Four rows of a square become its four columns.
__device__ inline void transposeSquare(unsigned (&rows)[4]) { transposeBytes(rows); }

__device__ inline void transposeSquare(uint2 (&rows)[4]) {
  unsigned squares[2][2][2] = {{{rows[0].x, rows[1].x}, {rows[0].y, rows[1].y}},
                               {{rows[2].x, rows[3].x}, {rows[2].y, rows[3].y}}};
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) transposeHalves(squares[i][j]);
#pragma unroll
  for (int k = 0; k < 4; ++k) rows[k] = make_uint2(squares[0][k / 2][k % 2], squares[1][k / 2][k % 2]);
}

// Elements of one and two bytes that only move.
template <class In, class Out, class Function>
inline constexpr bool squaresTake =
    std::is_same_v<In, Out>&& std::is_same_v<Function, Identity>&& isWord<In> && sizeof(In) <= 2;

constexpr unsigned SQUARES_BLOCK = 512;  // most threads of a block

// A thread reads four rows of a square from shared memory, and stores its four columns there as words.
// Neighbours take squares one below another, so that fewer stores of a warp meet in a bank.
template <class T>
GPUOPT_KERNEL void __launch_bounds__(SQUARES_BLOCK, RESIDENT_THREADS / SQUARES_BLOCK)
    transposeSquaresKernel(const T* in, T* out, const SquaresShape shape) {
  using Row = std::conditional_t<sizeof(T) == 1, unsigned, uint2>;
  constexpr unsigned SIZE = sizeof(T);
  waitForPreviousKernel();
  unsigned char* const shared = &keepAddress(*dynamicShared<unsigned char>());
  const BatchPart<T, T> part(in, out, shape);
  const SwizzledBytes<true> staged{shared, shape.inSwizzle};
  const SwizzledBytes<true> made{shared + shape.inBytes, shape.outSwizzle};
  part.stage(staged);

  const unsigned inOrigin = placeOf(part.in);
  const unsigned outOrigin = placeOf(part.out);
  const unsigned items = shape.byArea.divide(part.elements) * shape.pairLines * shape.across * 2;
  for (unsigned i = threadIdx.x; i < items; i += blockDim.x) {
    const unsigned line = shape.byAcross.divide(i / 2);
    const unsigned col = 4 * (i / 2 - line * shape.across);
    const unsigned matrix = shape.byPairLines.divide(line);
    const unsigned row = 4 * ((line - matrix * shape.pairLines) * 2 + i % 2);
    if (row >= shape.rows) continue;
    Row square[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned element = matrix * shape.area + (row + k) * shape.cols + col;
      square[k] = *reinterpret_cast<const Row*>(staged.at(inOrigin + element * SIZE));
    }
    transposeSquare(square);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned element = matrix * shape.area + (col + k) * shape.rows + row;
      *reinterpret_cast<Row*>(made.at(outOrigin + element * SIZE)) = square[k];
    }
  }
  __syncthreads();
  unstageBytes(made, outOrigin, reinterpret_cast<unsigned char*>(part.out), part.elements * SIZE);
}

// All squares are whole, and their rows aligned.
template <class Policy, class In, class Out, class Function>
bool squaresFit(const TransposeProblem<In, Out, Function>& problem) {
  return squaresTake<In, Out, Function> && problem.rows >= Policy::squaresSide &&
         problem.cols >= Policy::squaresSide && problem.rows % 4 == 0 && problem.cols % 4 == 0 &&
         rowsAlignedTo(problem, 4 * sizeof(In));
}

}  // namespace detail
GPUOPT_NAMESPACE_END
