/// \file
/// Reads down a matrix whose rows are far apart: which memory channels and banks they meet depends on the distance.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned lineWords = 32, memoryRowsBlock = 256;

/// `rows` rows with `pitch` words from one to the next, of which `lines` lines are read.
struct FarRows {
  unsigned rows, lines;
  std::size_t pitch;

  __host__ __device__ unsigned items() const { return rows * lines; }
};

/// Which way the warps go through the lines: along the rows, or down the columns.
enum class Walk { alongRows, downColumns };

struct RowAndLine {
  unsigned row, line;
};

/// The line with a number in the order of the walk.
__host__ __device__ inline RowAndLine lineAt(FarRows matrix, Walk walk, unsigned number) {
  if (walk == Walk::alongRows) return {number / matrix.lines, number % matrix.lines};
  return {number % matrix.rows, number / matrix.rows};
}

/// The line that comes after another one.
__host__ __device__ inline RowAndLine lineAfter(FarRows matrix, Walk walk, RowAndLine at) {
  if (walk == Walk::alongRows)
    return at.line + 1 < matrix.lines ? RowAndLine{at.row, at.line + 1} : RowAndLine{at.row + 1, 0};
  return at.row + 1 < matrix.rows ? RowAndLine{at.row + 1, at.line} : RowAndLine{0, at.line + 1};
}

inline constexpr unsigned linesOfWarp = 8;  ///< on their way together

/// sums[w]: the sum of the 8 lines that warp w reads.
__global__ void readFarRows(const unsigned* in, unsigned* sums, FarRows matrix, Walk walk) {
  const auto warp = static_cast<unsigned>(globalThread() / 32);
  RowAndLine at = lineAt(matrix, walk, warp * linesOfWarp);
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < linesOfWarp; ++k) {
    if (warp * linesOfWarp + k < matrix.items())
      sum += in[at.row * matrix.pitch + at.line * lineWords + threadIdx.x % 32];
    at = lineAfter(matrix, walk, at);
  }
  sum = gpuopt::warpReduce(sum, gpuopt::Plus{});
  if (threadIdx.x % 32 == 0 && warp * linesOfWarp < matrix.items()) sums[warp] = sum;
}

inline void launchFarRows(const unsigned* in, unsigned* sums, FarRows matrix, Walk walk) {
  gpuopt::launch(readFarRows, gridFor(32 * ceilDivide(matrix.items(), linesOfWarp), memoryRowsBlock), in, sums, matrix,
                 walk);
}

inline std::vector<unsigned> farRowsOnHost(const std::vector<unsigned>& in, FarRows matrix, Walk walk) {
  std::vector<unsigned> sums(ceilDivide(matrix.items(), linesOfWarp), 0);
  for (unsigned number = 0; number < matrix.items(); ++number)
    for (unsigned word = 0; word < lineWords; ++word) {
      const RowAndLine at = lineAt(matrix, walk, number);
      sums[number / linesOfWarp] += in[at.row * matrix.pitch + at.line * lineWords + word];
    }
  return sums;
}

}  // namespace experiments
