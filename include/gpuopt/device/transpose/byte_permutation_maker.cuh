/// \file
/// Transposition of small matrices of bytes or halves that consist of squares of 4 x 4.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/fast_divide.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/run.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The shift for threads whose accesses are `distance` bytes apart; 31, which is none, if these are in
// different banks already.
inline unsigned squaresSwizzle(std::size_t distance, unsigned bit) {
  return distance % 64 == 0 ? swizzleShift(distance, bit, 2) : 31;
}

// How the squares of a block are divided among its threads.
struct BytePermutationShape : RunShape {
  unsigned across;     // squares side by side
  unsigned pairLines;  // lines of pairs of squares; the last pairs may be halves
  ShortDivisor byAcross;
  ShortDivisor byPairLines;
  unsigned inSwizzle;
  unsigned outSwizzle;

  // A warp reads along lines, up to 64 bytes of each, and stores across them.
  template <class Problem>
  BytePermutationShape(const Problem& problem, const RunSizes& sizes)
      : RunShape(problem, sizes),
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

// A thread reads four rows of a square from shared memory, and stores its four columns there as words.
// Neighbours take squares one below another, so that fewer stores of a warp conflict.
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
    const unsigned items = shape.byArea.divide(run.elements) * shape.pairLines * shape.across * 2;
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

}  // namespace detail
GPUOPT_NAMESPACE_END
