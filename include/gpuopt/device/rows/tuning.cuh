/// \file
/// Tuning of the kernels that move rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// --- gatherRows and scatterRows

// Measured on an H200, rows of 128; 200; 512 bytes in random order, shares of a copy: 0.93; 0.79; 0.98 with blocks of
// 128 threads, 0.90; 0.71; 0.95 with 256, 0.86; 0.61; 0.91 with 512. Words in flight per thread: of 16 bytes 0.98 with
// 4, 0.88 with 8 at 512 bytes; of 8 bytes 0.79 with 4, 0.81 with 8 at 200 bytes.
inline constexpr unsigned moveRowsBlock = 128;
constexpr unsigned moveRowsLoads(std::size_t wordBytes) { return wordBytes >= 16 ? 4 : 8; }
// Few words spread over all multiprocessors.
inline constexpr unsigned moveFewRowsLoads = 1;
// Without it, ptxas saves registers and loads wait for each other.
constexpr int moveRowsBlocksPerSm(unsigned loads) { return loads > 4 ? 6 : 8; }

struct MoveRowsTuning {
  std::size_t fewWords = std::size_t{1} << 17;  // up to which a thread moves one word
  // From which on rows that small words divide are shifted. Gathers of rows of 130; 202; 2002 bytes: 0.33; 0.45; 0.83
  // of a copy, and 0.35; 0.36; 0.36 by words of 2 bytes. Scatters of rows of 202; 260; 1001 bytes: 0.21; 0.33; 0.51,
  // and 0.30; 0.41; 0.20 by words.
  std::size_t shiftedGatherBytes = 192;
  std::size_t shiftedScatterBytes = 512;
  std::size_t shiftedWordBytes = 4;  // the largest of these words
};

// Rows that only small words divide, moved by vectors and shifts: of 2002 bytes 0.79 with 1, 0.83 with 2, 0.71 with 4.
inline constexpr unsigned shiftedRowsLoads = 2;
inline constexpr int shiftedRowsBlocksPerSm = 8;

// --- combineRows

// Measured on an H200, eight rows of 256; 2048; 14336 bytes of bf16, shares of a copy: 1.00; 0.99; 0.99 with blocks of
// 128 threads, 6 a multiprocessor, and 0.99; 0.98; 0.97 with 256, 3. Four rows in flight: 0.98.
inline constexpr int combineRowsBlock = 128;
inline constexpr unsigned combineRowsLoads = 8;  // rows in flight per thread
inline constexpr int combineRowsBlocksPerSm = 6;

// --- addRows

// Measured on an H100, 2026-11-27, floats, cold. Buckets of rows, by their remainder: prime numbers, so that rows of
// any regular pattern spread, by which a Divisor divides all numbers of 32 bits. 2^16 indices: 28 us with 131, 42 with
// 1013; 2^22: 902 and 733.
inline constexpr int groupRowsBlock = 512;
inline constexpr unsigned groupRowsBuckets = 131;
inline constexpr unsigned groupRowsManyBuckets = 1013;
// The digits that blocks rank by buckets, and what remains by quotients; items of a thread. No others were tried.
inline constexpr unsigned groupRowsDigits = 1024;
inline constexpr unsigned fillBucketsItems = 8;
inline constexpr unsigned sortBucketsDigitBits = 9;
inline constexpr unsigned sortBucketsDigits = 1U << sortBucketsDigitBits;
inline constexpr unsigned sortBucketsItems = 16;
// Regions whose positions blocks count and move: the most of them, and the fewest positions of one.
inline constexpr unsigned groupRowsRegions = 528;
inline constexpr unsigned groupRowsMinRegion = 1024;

// Rows in flight per thread. 2^22 rows of 256 bytes, eight to each: 733 us with 4, 758 with 8 rows and 6 blocks.
inline constexpr unsigned addedRowsLoads = 4;
inline constexpr int addedRowsBlocksPerSm = 9;
// Long lists, of which each block adds a panel of columns: rows in flight per thread. H100, 2026-11-28: 65536 rows of
// 256 bytes, 4096 to each, take 0.08 of the time that a thread for each pack takes, all to one 0.065.
inline constexpr unsigned longListLoads = 4;
inline constexpr unsigned longListPanel = 64;  // bytes of a row

// Few rows, of which each block selects those of its own. Blocks, a prime number; threads; indices and rows in flight
// per thread. 4096 rows of 256 bytes in a graph: 2.97 us with 512 threads and 8 indices, 3.38 with 256 and 16.
inline constexpr int addFewRowsBlock = 512;
inline constexpr unsigned addFewRowsBuckets = 131;
inline constexpr unsigned addFewRowsItems = 8;
inline constexpr unsigned addFewRowsLoads = 8;
// Positions from which on the block adds a list together, the bytes of a row that it loads, and loads of a thread: 4096
// rows of 256 bytes to one take 83 us instead of 322 (H100, 2026-11-28). No other values were tried.
inline constexpr unsigned addFewRowsLong = 64;
inline constexpr unsigned addFewRowsPanel = 256;
inline constexpr unsigned addFewRowsLongLoads = 2;
inline constexpr std::size_t fewIndicesLimit = 8192;  // for which a block has memory

struct AddRowsTuning {
  std::size_t maxIndices = std::size_t{1} << 24;  // that are grouped at a time, which bounds the scratch memory
  // Up to which blocks select their own: 8192 take 4.5 us in a graph, 12.9 if grouped, but 80 KiB of shared memory.
  std::size_t fewIndices = 6144;
  std::size_t fewPacks = 256;  // of a row, for each block along it
  // Packs of the rows for one row of the output, on average, from which on indices are grouped, since one block would
  // add them: 4096 rows of 256 bytes to one, to four, to sixteen 82.8, 24.2, 9.7 us selected, 42.0, 18.5, 13.3 grouped
  // (H200, 2026-11-28).
  std::size_t fewAddedPacks = 16384;
  std::size_t manyIndices = std::size_t{1} << 20;  // from which on there are many buckets
  std::size_t longList = 128;                      // positions from which on a block sums a list, or
  std::size_t longListShare = 32768;               // from 1 / 32768 of all packs: one thread would take longer than all
  std::size_t longBlocks = 1056;                   // at most, which sum long lists
  std::size_t slotsBytes = std::size_t{1} << 28;   // of rows, from which on they are listed in slots, if
  std::size_t slotsRowBytes = 64;                  // a row has as many, and
  std::size_t maxListed = std::size_t{1} << 23;    // indices that are listed at a time
  std::size_t slotsMinShare = 4;                   // each row of the output gets from as many rows on average
  std::size_t slotsMaxShare = 128;                 // up to as many in any order, or
  std::size_t orderedMaxShare = 10;                // in order, if
  std::size_t orderedRowBytes = 1024;              // a row has as many at most
  std::size_t restBlocks = 264;                    // which add rows without a slot
};

// Many rows, listed in slots: buckets at most, and the slots of a bucket's rows. Packs in flight per thread; slots of a
// row whose positions are sorted in registers. H100, 2026-11-28, 2^22 rows of 256 bytes, eight to each: 70 us list
// them, 189 us if each position goes to its slot at once; 552 us with the addition, in order 584, 1183 and 743 without
// slots. In order, rows of 2048 bytes take 513 us, 508 without slots; 64 MiB of rows 56 by atomics, 52 without.
inline constexpr int listRowsBlock = 512;
inline constexpr unsigned listRowsItems = 16;
inline constexpr int listBucketsPerSm = 3;  // blocks that shared memory has room for
inline constexpr unsigned slotBuckets = 1024;
inline constexpr unsigned bucketSlots = 1U << 14;
inline constexpr int addSlotsBlock = 128;
inline constexpr int addSlotsBlocksPerSm = 6;
inline constexpr unsigned addSlotsLoads = 8;
inline constexpr unsigned orderedSlots = 16;

// Packs of the atomic form in flight per thread. No other values were tried.
inline constexpr int addRowsBlock = 128;
inline constexpr unsigned addRowsLoads = 4;

GPUOPT_DETAIL_END
