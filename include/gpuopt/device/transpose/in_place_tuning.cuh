/// \file
/// Tuning of the transpositions in place: tile shapes, orders of tiles, scratch memory. The measurements of each
/// constant are in benchmarks/results/transpose_in_place_tuning.csv. Other devices, not measured, take those of sm_90.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/device/transpose/staged.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Every device lets a block have this much shared memory.
inline constexpr std::size_t commonShared = 64 << 10;

// Square matrices, by the bytes of an element.
struct SquareTuningSm90 {
  // Rows and columns of a tile whose rows begin at 16-byte boundaries.
  static constexpr unsigned vectorTile(std::size_t bytes) {
    return bytes == 1 ? 256 : bytes == 2 ? 128 : bytes <= 8 ? 64 : 32;
  }
  // Threads that move it.
  static constexpr unsigned vectorThreads(std::size_t bytes) { return bytes == 1 || bytes == 8 ? 256 : 128; }
  // The size limit of a tile with other rows.
  static constexpr unsigned wordTileBytes = 32 << 10;

  // Blocks in squares of 4 x 4 tiles: what one block leaves half written of a sector, another one completes while it is
  // still in L2.
  static constexpr TileOrder sectorOrder{4, 1};
  // Where no sector is shared, blocks from four regions of the matrix in turn: rows 128 KiB apart are in the same DRAM
  // banks, distant tiles in others.
  static constexpr TileOrder bankOrder{1, 4};
  // The smallest elements that take bankOrder: an H100 loses by it with 4 bytes, and an H200 gains with 8 and 16.
  static constexpr std::size_t minBankOrderSize = 8;
};

// Rectangular matrices.
struct RectangleTuningSm90 {
  // Scratch memory: a matrix up to this size takes as much as it has itself, a larger one takes this much, or a
  // scratchFraction-th of itself if that is more.
  static constexpr std::size_t scratchBytes = std::size_t{32} << 20;
  static constexpr std::size_t scratchFraction = 32;
  // Most bytes of a segment that a block of the column shuffle moves.
  static constexpr std::size_t regionBytes = 1 << 10;
  // The tile of the panels, by the SIZE of an element in bytes.
  template <std::size_t SIZE>
  static constexpr auto tile() {
    return StagedTileOf<SIZE, SIZE, false>{};
  }
};

// The limits of the column shuffle, which hold on every device: its threads, the shared memory of a block, and the
// segments that it can take.
inline constexpr unsigned columnShuffleThreads = 256;
inline constexpr std::size_t columnShuffleSharedBytes = std::size_t{68} << 10;
inline constexpr std::size_t maxGroupSegments = 1024;

// More panels leave a smaller remainder, but are more launches: up to maxPanels, as long as the remainder has more than
// a 64th of the rows.
inline constexpr std::size_t maxPanels = 64;
inline constexpr std::size_t toleratedRemainderFraction = 64;

GPUOPT_DETAIL_END
