/// \file
/// When a permutation takes which kernel, and sizes of its tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Measured on an H200 and, tiles of runs, on an H100.
struct PermuteTuning {
  std::size_t smallElements = std::size_t{1} << 17;  // up to which words move one by one, through the L2 cache
  std::size_t keptBytes = 256;                       // runs that both tensors keep, from which on words move one by one
  std::size_t matrixTileRunBytes = 128;              // rows of both sides of a matrix
  unsigned matrixTileFill = 90;                      // per cent of its tiles' elements

  // The tiles of other permutations: rows of about these lengths are tried on both sides.
  std::size_t runBytes[6] = {128, 256, 384, 512, 768, 1024};
  std::size_t minTileBytes = std::size_t{24} << 10;
  std::size_t maxTileBytes = std::size_t{96} << 10;
  // A row ends before an axis that both tensors take, if it has this number of bytes or more: of a multiple of 16
  // bytes, and of any other number.
  std::size_t alignedRunBytes = 32;
  std::size_t unalignedRunBytes = 96;
  // The cost of a tile, in bytes: of a block, of a row, and more of a row that begins between 16-byte boundaries.
  double blockCost = 1000;
  double smallTileBytes = 20480;  // a block of such a tile costs twice as much
  double rowCost = 24;
  double misalignedInCost = 96;
  double misalignedOutCost = 40;
  std::size_t fewTiles = 12;  // along an axis that comes early in the grid
  double tailCost = 1;        // of the tensor's share that is under way at a time

  bool fillsSectors(std::size_t bytes) const {
    return bytes >= (bytes % 16 == 0 ? alignedRunBytes : unalignedRunBytes);
  }

  // Blocks that hide latency on a multiprocessor; fewer take longer in proportion. Smaller elements take more
  // instructions a byte: two blocks of halves take longer than three by up to a fifth (H200, 2026-11-28).
  static double residentBlocks(unsigned elementBytes) { return elementBytes == 1 ? 3 : elementBytes == 2 ? 2.2 : 2; }
};

GPUOPT_DETAIL_END
