/// \file
/// When transformRows takes which kernel, and with what block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The largest elements whose rows are staged in shared memory. The lanes that take a row, at least, and the elements of
// a lane, at most: there are kernels for these and for stagedSlack less, twice, and for all powers of two of lanes.
// With numbers of columns there are fewer lanes, and the last of them may have stagedNumbers elements.
inline constexpr std::size_t stagedElementBytes = 2;
inline constexpr unsigned stagedLanes = 4;
inline constexpr unsigned stagedElements = 17;
inline constexpr unsigned stagedSlack = 3;
inline constexpr unsigned stagedNumbersLanes = 16;
inline constexpr unsigned stagedNumbers = 23;

// Spans in shared memory of a warp: a warp that keeps numbers of columns transforms one while the next one comes.
template <bool KEEPS_NUMBERS>
inline constexpr unsigned stagedSpans = KEEPS_NUMBERS ? 2 : 1;

// Blocks of the largest clusters, which not every GPU with clusters runs.
inline constexpr unsigned largeCluster = 16;

// Vectors are of 16 bytes of the input. Measured on an H100 (2026-11-27), bf16, shares of a copy in the same process:
// - ends: layer norm of 101; 133; 201 columns 0.39; 0.52; 0.76 with ends, 0.53; 0.38; 0.53 without;
// - half a warp a row with ends (2026-11-28): layer norm of 133; 201; 333 columns 0.80; 0.82; 0.92, with a whole one
//   0.51; 0.75; 0.79. A quarter, with two vectors a lane: 133 columns 0.85, but softmax 0.85, not 0.94.
// - rows staged in shared memory (H200, 2026-11-28): softmax of 41; 71; 101; 133; 201; 333 columns 0.91; 0.96; 0.98;
//   0.98; 0.95; 0.96, by 16 or 32 lanes a row and 8 rows a warp 0.45; 0.71; 0.74; 0.76; 0.86 of the first five.
// - spans: layer norm of 41; 57; 101; 133; 333 columns 0.97; 1.00; 0.96; 0.97; 0.92 by 2 of 32; 32; 16; 16; 8 rows.
//   133 columns 0.95; 0.97; 0.94; 0.91 by 1; 2; 4; 8 spans, 0.94 at best by as many warps as there is room for. 41
//   columns 0.88 by 4 spans of 16 rows, 333 0.76 by 2 of 16. With the numbers of columns in shared memory, one span a
//   warp, 0.77; 0.81; 0.78; 0.82 of the first four.
// - ahead: layer norm of 129280 columns 0.94; 0.99; 1.00; 1.01; 0.91 with 0; 2; 4; 6; 13 MiB.
struct TransformTuning {
  std::size_t warpVectors = 128;        // up to which a warp takes a row
  std::size_t vectorsWithoutEnds = 16;  // up to which no thread takes the ends of a row, at most twoVectors
  std::size_t twoVectors = 32;          // up to which a lane keeps 2 vectors, above 4
  std::size_t minStagedCols = 41;       // from which warps stage unaligned rows without gaps, at least 33
  std::size_t stagedCols = 352;         // up to which they do, at most 352
  std::size_t spanBytes = 5632;         // that a warp stages together, at most, of rows with numbers of columns
  std::size_t warpSpans = 2;            // of such rows
  std::size_t stagedWarps = 16;         // on a multiprocessor, from which on a warp takes several spans; a guess
  std::size_t halfWarpVectors = 48;     // up to which half a warp takes a row with ends, at most 48
  std::size_t laneThreads = 128;        // of a block whose warps work alone, at most stagedTransformBlock
  std::size_t fourVectors = 2048;       // up to which a thread of a block keeps 4 vectors, above 8
  std::size_t blockThreads = 512;       // at most
  std::size_t clusterBlocks = 8;        // at most
  std::size_t aheadBytes = std::size_t{4} << 20;  // from what a cluster reads to what it lets L2 fetch for a later one
  std::size_t fewVectors = 65536;                 // in all, up to which a thread keeps one vector
  std::size_t fewRowsVectors = 2048;              // from which few rows are split among as many blocks as there can be
};

GPUOPT_DETAIL_END
