/// A policy under which arrays of a few kilobytes reach every kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/tuning.cuh>

#include <cstddef>

namespace gpuopt::test {

/// One block up to 8 KiB or less, several blocks of one tile up to 64 KiB, then five blocks that loop: over
/// tiles dealt out in turn up to 192 KiB, over contiguous chunks beyond.
struct LowBoundaries : ReducePolicy {
  static constexpr int BLOCK = 256;
  static constexpr int VECTORS = 2;
  static constexpr int TILE_ELEMENTS = 8;
  static constexpr std::size_t tileBytes = 64 << 10;
  static constexpr std::size_t streamedBytes = 192 << 10;
  static constexpr int tileThreads(std::size_t bytes) { return bytes <= 8 << 10 ? 192 : 256; }
  static constexpr unsigned loopBlocks(std::size_t) { return 5; }
};

}  // namespace gpuopt::test
