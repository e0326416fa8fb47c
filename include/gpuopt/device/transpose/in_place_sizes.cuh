/// \file
/// Sizes of the tiles in place, and of the column shuffle, by numbers alone: the plan decides with them, and kernels
/// are compiled for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// A pair of tiles: rows and columns of a tile, the threads of both, and the shared memory of both.
struct PairTileSizes {
  unsigned side = 0;
  unsigned threads = 0;
  std::size_t sharedBytes = 0;
};
template <>
inline constexpr bool isPlan<PairTileSizes> = true;

template <class Tuning>
constexpr PairTileSizes vectorPairSizes(std::size_t elementBytes) {
  const unsigned side = Tuning::vectorTile(elementBytes);
  return {side, 2 * Tuning::vectorThreads(elementBytes), 2 * side * side * elementBytes};
}

inline constexpr unsigned wordTileThreads = 256;

// The largest power of two up to 128 whose square fits.
constexpr unsigned wordTileSide(std::size_t elementBytes, std::size_t maxBytes) {
  unsigned side = 128;
  while (side * side * elementBytes > maxBytes) side /= 2;
  return side;
}

// Words from column to column of a tile in shared memory. Lanes that write along a row have no bank conflicts with
// elements of 1, 2, 4, 8, 12 and 16 bytes, and few with others: tests/device/transpose/tile_banks_test.cu.
constexpr unsigned wordTilePitch(unsigned elementBytes, unsigned side) {
  const unsigned words = side * elementBytes / 4;
  return elementBytes % 4 == 0 ? words + (elementBytes / 4 + 31 * words) % 32 : (words + side / 32) | 1;
}

// The addresses of the rows on both sides, and the words.
constexpr std::size_t wordTileStorage(unsigned elementBytes, unsigned side) {
  return roundUp(side * (2 * sizeof(std::uintptr_t) + 4 * std::size_t{wordTilePitch(elementBytes, side)}),
                 sizeof(std::uintptr_t));
}

constexpr PairTileSizes wordPairSizes(std::size_t elementBytes, std::size_t maxBytes) {
  const unsigned side = wordTileSide(elementBytes, maxBytes);
  return {side, 2 * wordTileThreads, 2 * wordTileStorage(static_cast<unsigned>(elementBytes), side)};
}

// A region's offsets in the matrix, in bytes.
struct SegmentMove {
  std::size_t from;
  std::size_t to;
};

// How the column shuffle cuts segments into regions. A block moves the same region of all segments of a group.
struct ColumnShuffleSizes {
  unsigned wordBytes = 0;    // of the words that move
  unsigned alignment = 0;    // of the segments, up to a word
  unsigned laneBits = 0;     // 2^laneBits lanes move a region
  unsigned regionBytes = 0;  // the last one of a segment may have fewer
  unsigned regions = 0;      // of a segment
  std::size_t blocks = 0;
  std::size_t sharedBytes = 0;
};
template <>
inline constexpr bool isPlan<ColumnShuffleSizes> = true;

// Segments whose alignment is less than a word's touch one word more. Regions have at most maxRegionBytes.
inline ColumnShuffleSizes columnShuffleSizes(const SegmentGrid& grid, std::size_t elementBytes, unsigned alignment,
                                             std::size_t maxRegionBytes, std::size_t sharedLimit) {
  ColumnShuffleSizes sizes;
  sizes.wordBytes = alignment >= 16 ? 16 : 4;
  sizes.alignment = alignment >= 16 ? 16 : smallerOf(alignment, 4U);
  const std::size_t segments = std::size_t{grid.panels} * grid.group;
  const std::size_t fitting = smallerOf(columnShuffleSharedBytes, sharedLimit) / segments - sizeof(SegmentMove);
  const std::size_t max = smallerOf(fitting, maxRegionBytes);
  sizes.laneBits = 1;
  while ((2U << sizes.laneBits) <= columnShuffleThreads && (std::size_t{sizes.wordBytes} << sizes.laneBits << 1) <= max)
    ++sizes.laneBits;
  const unsigned bytes = sizes.wordBytes << sizes.laneBits;
  sizes.regionBytes = bytes - (sizes.alignment < sizes.wordBytes ? sizes.wordBytes : 0);
  sizes.regions = static_cast<unsigned>(ceilDivide(grid.height * elementBytes, sizes.regionBytes));
  sizes.blocks = std::size_t{sizes.regions} * grid.groups;
  sizes.sharedBytes = segments * (sizeof(SegmentMove) + bytes);
  return sizes;
}

GPUOPT_DETAIL_END
