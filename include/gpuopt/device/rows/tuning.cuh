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

// No other values were tried; benchmarks/results/h100/rows_bench.csv has what these reach. A block of the counting
// passes ranks a tile of 4096 indices; 9 bits at a time make two passes of up to 2^18 rows, and one thread for each
// digit.
inline constexpr int groupRowsBlock = 512;
inline constexpr unsigned groupRowsItems = 8;
inline constexpr unsigned groupRowsDigitBits = 9;

// Indices that are grouped at a time, which bounds the scratch memory: 16 bytes each.
struct AddRowsTuning {
  std::size_t mostIndices = std::size_t{1} << 24;
};

// Packs of the atomic form in flight per thread. No other values were tried.
inline constexpr int addRowsBlock = 128;
inline constexpr unsigned addRowsLoads = 4;

GPUOPT_DETAIL_END
