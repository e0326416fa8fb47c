/// \file
/// The grid of a permutation's tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/permute/problem.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The blocks of a grid: tiles along the axes of the output, the first of them neighbours.
struct PermuteGrid {
  unsigned rank;
  struct Axis {
    Divisor tiles;
    std::ptrdiff_t in;  // bytes from tile to tile
    std::ptrdiff_t out;
  } axis[permuteRank];
};

// An axis that the tiles cut: the last of them is shorter.
struct PermuteCut {
  unsigned axis;    // of the grid; permuteRank if there is none
  unsigned length;  // of the tile's part
  unsigned last;    // of the last tile's part
};

// The tile of a block: bytes from the first elements of both tensors, and whether it is the last along a cut axis.
struct PermuteTileIndex {
  std::ptrdiff_t in = 0;
  std::ptrdiff_t out = 0;
  bool isInLast = false;
  bool isOutLast = false;
  bool isPartLast = false;
};

__device__ inline PermuteTileIndex permuteTileIndex(const PermuteGrid& grid, const PermuteCut& inCut,
                                                    const PermuteCut& outCut, const PermuteCut& partCut) {
  PermuteTileIndex tile;
  unsigned rest = blockIdx.x;
  for (unsigned k = 0; k < grid.rank; ++k) {
    const unsigned quotient = grid.axis[k].tiles.divide(rest);
    const unsigned index = rest - quotient * grid.axis[k].tiles.divisor;
    rest = quotient;
    tile.in += index * grid.axis[k].in;
    tile.out += index * grid.axis[k].out;
    const bool isLast = index + 1 == grid.axis[k].tiles.divisor;
    tile.isInLast |= isLast && k == inCut.axis;
    tile.isOutLast |= isLast && k == outCut.axis;
    tile.isPartLast |= isLast && k == partCut.axis;
  }
  return tile;
}

GPUOPT_DETAIL_END
