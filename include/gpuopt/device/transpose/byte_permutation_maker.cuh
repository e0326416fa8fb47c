/// \file
/// Runs of small matrices of 1- or 2-byte elements, as 4 x 4 squares transposed by byte permutation.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/run.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The shift for threads that access squares `distance` bytes apart; 31, no swizzle, if these have no conflict.
inline unsigned squaresSwizzle(std::size_t distance, unsigned bit) {
  return distance % 64 == 0 ? swizzleShift(distance, bit, 2) : 31;
}

// How the squares of a run are divided among the threads.
struct BytePermutationShape : RunShape {
  unsigned squares;   // side by side
  unsigned pairRows;  // rows of pairs, two squares one above the other; the last row may have upper ones only
  ShortDivisor bySquares;
  ShortDivisor byPairRows;
  unsigned inSwizzle;
  unsigned outSwizzle;

  // A warp reads up to 64 bytes along a row, and stores along columns.
  template <class Problem>
  BytePermutationShape(const Problem& problem, const RunSizes& sizes)
      : RunShape(problem, sizes),
        squares(cols / 4),
        pairRows((rows / 4 + 1) / 2),
        bySquares(squares),
        byPairRows(pairRows),
        inSwizzle(squaresSwizzle(4 * problem.cols * sizeof(*problem.in), 6)),
        outSwizzle(squaresSwizzle(4 * problem.rows * sizeof(*problem.in), 4)) {}
};

// Replaces the four rows of a square by its four columns.
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

// A thread reads the four rows of a square from shared memory and stores its four columns there. Two neighbours take
// squares one above the other: their stores are adjacent, so a warp has fewer bank conflicts.
template <class T>
struct BytePermutationMaker {
  using Shape = BytePermutationShape;
  using Row = std::conditional_t<sizeof(T) == 1, unsigned, uint2>;
  static constexpr int BLOCK = 512;
  static constexpr int BLOCKS = RESIDENT_THREADS / BLOCK;
  static constexpr bool STAGES_OUTPUT = true;

  SwizzledBytes input;
  SwizzledBytes output;

  __device__ explicit BytePermutationMaker(const Shape& shape)
      : input{&keepAddress(*dynamicShared<unsigned char>()), {shape.inSwizzle, Swizzle::VECTORS}},
        output{input.bytes + shape.inBytes, {shape.outSwizzle, Swizzle::VECTORS}} {}

  __device__ unsigned outputOrigin(const void* out) const { return misalignment(out); }

  __device__ void make(const MatrixRun<T, T>& run, const Shape& shape, Identity) const {
    constexpr unsigned SIZE = sizeof(T);
    const unsigned inOrigin = misalignment(run.in);
    const unsigned outOrigin = misalignment(run.out);
    const unsigned count = shape.byArea.divide(run.elements) * shape.pairRows * shape.squares * 2;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const unsigned pairRow = shape.bySquares.divide(i / 2);  // in the run
      const unsigned col = 4 * (i / 2 - pairRow * shape.squares);
      const unsigned matrix = shape.byPairRows.divide(pairRow);
      const unsigned row = 4 * ((pairRow - matrix * shape.pairRows) * 2 + i % 2);
      if (row >= shape.rows) continue;
      Row square[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned element = matrix * shape.area + (row + k) * shape.cols + col;
        square[k] = *reinterpret_cast<const Row*>(input.at(inOrigin + element * SIZE));
      }
      transposeSquare(square);
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned element = matrix * shape.area + (col + k) * shape.rows + row;
        *reinterpret_cast<Row*>(output.at(outOrigin + element * SIZE)) = square[k];
      }
    }
  }
};

GPUOPT_DETAIL_END
