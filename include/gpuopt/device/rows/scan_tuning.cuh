/// \file
/// Numbers that scans of rows and columns are tuned by. Measurements: benchmarks/rows_scan_bench.cu on an H200.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Threads of a block that scans rows; of one that shares a row with more than 31 others.
inline constexpr int scanRowsThreads = 256;
inline constexpr int scanLongRowsThreads = 1024;
// Words of 16 bytes that a thread has in flight.
inline constexpr int scanRowsSteps = 4;

// Threads of a block that scans columns, and rows of each thread.
inline constexpr int scanColumnsThreads = 512;
inline constexpr int scanColumnsRows = 8;
// Threads along a row, each with a word of 16 bytes, or with an element.
inline constexpr int scanColumnsLanes = 16;
inline constexpr int scanColumnsScalarLanes = 64;

// Tiles that pass their totals directly, and groups of them that have their own memory.
inline constexpr unsigned scanGroup = 32;
inline constexpr unsigned scanRing = 3;

// The counters of a workspace are marked words, and the last of them count arrivals.
inline constexpr unsigned scanArrivals = 1024;
inline constexpr unsigned scanWords = static_cast<unsigned>((workspaceCounters - scanArrivals) / 2);

struct ScanTuning {
  unsigned shiftedWords = 16;    // rows that are not aligned are read by words from so many words on
  unsigned sharedFrom = 2;       // several blocks take a row from so many tiles on, where rows are few
  unsigned alwaysShared = 8;     // and from so many tiles on in any case
  unsigned fewPerProcessor = 8;  // rows for each multiprocessor
  unsigned hopBytes = 2 << 20;   // bytes that strips of columns read while one tile waits for the one before
};

GPUOPT_DETAIL_END
