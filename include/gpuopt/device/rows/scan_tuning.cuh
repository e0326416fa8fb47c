/// \file
/// Numbers that scans of rows and columns are tuned by.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Threads of a block that scans rows; of one that shares a row with more than 31 others.
inline constexpr int scanRowsThreads = 256;
inline constexpr int scanLongRowsThreads = 1024;
// Words of 16 bytes that a thread has in flight, for rows of up to `scanFewWords` words and for longer ones.
inline constexpr int scanFewSteps = 2;
inline constexpr int scanRowsSteps = 4;
inline constexpr std::size_t scanFewWords = 512;

// A tile of columns: threads, and rows of each. The small one is for matrices with few tiles.
struct ScanColumnsTile {
  int threads, rows;
};
inline constexpr ScanColumnsTile scanColumnsTile{512, 16};
inline constexpr ScanColumnsTile scanSmallColumnsTile{256, 2};
// Threads along a row, each with a word of 16 bytes, or with an element.
inline constexpr int scanColumnsLanes = 16;
inline constexpr int scanColumnsScalarLanes = 64;

// A block that takes all rows of a few columns: threads, and rows of each, at most; threads along a row as above. Of
// two words, which fill a sector.
inline constexpr ScanColumnsTile scanShortColumns{256, 8};
inline constexpr ScanColumnsTile scanTallColumns{512, 8};
inline constexpr int scanShortColumnsLanes = 2;
inline constexpr int scanShortColumnsScalarLanes = 8;

// Tiles that pass their totals directly.
inline constexpr unsigned scanGroup = 32;

// Marked words: the counters of a workspace, of which the last two count blocks; or its memory for partial results,
// which is zeroed before and whose end counts the readers of slots.
inline constexpr unsigned scanFewSlotWords = static_cast<unsigned>(workspaceCounters / 2 - 1);
inline constexpr unsigned scanArrivals = 16384;
inline constexpr unsigned scanManySlotWords =
    static_cast<unsigned>((workspaceCapacity - scanArrivals * sizeof(unsigned)) / 8);

struct ScanTuning {
  unsigned shiftedWords = 16;    // the least words of rows that are not aligned, if they are read by words
  unsigned sharedFrom = 2;       // the tiles that one block takes of a row, where rows are few:
  unsigned fewPerProcessor = 2;  // fewer for each multiprocessor
  unsigned fewTiles = 1;         // tiles of columns for each multiprocessor below which they are small
  unsigned fewStrips = 16;       // strips of columns below which tiles form groups
  std::size_t shortBytes = std::size_t{32} << 20;  // of short columns, up to which a block takes all rows of some
  unsigned groupTiles = 32;                        // tiles beside and below each other that then form a group, at least
};

GPUOPT_DETAIL_END
