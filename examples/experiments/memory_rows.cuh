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

  __host__ __device__ std::size_t items() const { return std::size_t{rows} * lines; }
};

/// Which way the warps go through the lines: along the rows, or down the columns.
enum class Walk { alongRows, downColumns };

/// Where the item begins that comes `number`th.
__host__ __device__ inline std::size_t startOf(FarRows matrix, Walk walk, std::size_t number) {
  const bool isDown = walk == Walk::downColumns;
  const std::size_t row = isDown ? number % matrix.rows : number / matrix.lines;
  const std::size_t line = isDown ? number / matrix.rows : number % matrix.lines;
  return row * matrix.pitch + line * lineWords;
}

inline constexpr unsigned linesOfWarp = 8;  ///< on their way together

/// sums[w]: the sum of the 8 lines that warp w reads.
__global__ void readFarRows(const unsigned* in, unsigned* sums, FarRows matrix, Walk walk) {
  const std::size_t warp = globalThread() / 32;
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < linesOfWarp; ++k) {
    const std::size_t number = warp * linesOfWarp + k;
    if (number < matrix.items()) sum += in[startOf(matrix, walk, number) + threadIdx.x % 32];
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
  for (std::size_t number = 0; number < matrix.items(); ++number)
    for (std::size_t word = 0; word < lineWords; ++word)
      sums[number / linesOfWarp] += in[startOf(matrix, walk, number) + word];
  return sums;
}

}  // namespace experiments
