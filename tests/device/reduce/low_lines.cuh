/// Policies under which small matrices reach every kernel of rows and columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/tuning.cuh>

#include <cstddef>

namespace gpuopt::test {

/// Groups of lanes take rows of less than 256 bytes, a warp below 1 KiB, a block or several beyond.
struct LowRows : detail::ReduceRowsPolicy {
  static constexpr int BLOCK = 64;
  static constexpr int SHORT_BLOCK = 64;
  static constexpr int VECTORS = 2;
  static constexpr int BLOCK_VECTORS = 1;
  static constexpr std::size_t stagedBytes = 4 << 10;
  static constexpr std::size_t warpRowBytes = 256;
  static constexpr std::size_t blockRowBytes = 1 << 10;
  static constexpr std::size_t slowWarpRowBytes = 512;
  static constexpr std::size_t slowBlockRowBytes = 2 << 10;
  static constexpr std::size_t slowWarpRows = 16;
  static constexpr std::size_t splitBlocks = 32;
  static constexpr std::size_t splitBytes = 768;
};

/// Several tiles, splits, and groups of splits; unaligned rows are read by vectors.
struct LowColumns : detail::ReduceColumnsPolicy {
  static constexpr int BLOCK = 128;
  static constexpr int FLAT_BLOCK = 256;
  static constexpr int VECTORS = 2;
  static constexpr unsigned tileSteps = 4;
  static constexpr unsigned elementTileSteps = 16;
  static constexpr unsigned shiftedTileSteps = 5;
  static constexpr std::size_t shiftedColumns = 2;
  static constexpr std::size_t flatColumns = 24;
  static constexpr std::size_t groupedResults = 64;
  static constexpr std::size_t sharedBytes = 16 << 10;
};

}  // namespace gpuopt::test
