/// \file
/// Tuning of the kernels for structures and columns. The measurements of each constant are in
/// benchmarks/results/struct_tuning.csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The percentage of a multiprocessor's on-chip memory that kernels request as shared memory: enough for the tiles of
// the resident blocks. The rest is L1 cache for direct accesses. Measured on sm_90 only.
inline constexpr int transformCarveout = 58;  // also for toSoa, which loads through tiles, too
inline constexpr int toAosCarveout = 28;      // loads columns through L1

// --- transformStructs and forEachStruct

// Small blocks, but enough bytes for each: the device starts a limited number of blocks per second.
inline constexpr unsigned minTransformThreads = 64, maxTransformThreads = 256;
inline constexpr std::size_t minTransformBytes = 3072;

constexpr unsigned transformThreads(std::size_t laneBytes) {
  unsigned threads = minTransformThreads;
  while (threads < maxTransformThreads && threads * laneBytes < minTransformBytes) threads *= 2;
  return threads;
}

// What a block has without opting in. Structures whose tiles need more are accessed directly.
inline constexpr std::size_t maxTransformShared = 48 * 1024;

// Larger arrays are in DRAM. If another one is written, the tiles of the warps spread over the sectors of their rows:
// 0.3 % faster there, up to 5 % slower in L2 (H200, 2026-11-23).
inline constexpr std::size_t spreadBytes = std::size_t{64} << 20;

// --- gatherStructs and scatterStructs

inline constexpr int indexedBlock = 256;
inline constexpr int indexedBlocksPerSm = 4;  // without it, ptxas saves registers and loads wait for each other
inline constexpr unsigned indexedLoadsInFlight = 4;

// --- toSoa and toAos

// Structures per thread. Four widen a lane's accesses to columns of small members, and of any alignment.
inline constexpr unsigned convertItemsAligned = 2, convertItemsOther = 4;
inline constexpr std::size_t maxSmallStruct = 4;
inline constexpr std::size_t maxConvertLaneBytes = 256;  // fit in registers

constexpr unsigned convertItems(std::size_t size, bool aligned) {
  unsigned items = aligned && size > maxSmallStruct && size % 2 == 0 ? convertItemsAligned : convertItemsOther;
  while (items > 1 && items * size > maxConvertLaneBytes) items /= 2;
  return items;
}

// A lane's bytes of a column up to which caches make strided loads faster than a tile. They cannot do that for strided
// stores.
inline constexpr unsigned maxStridedLoadBytes = 48;

inline constexpr std::size_t smallConvertLaneBytes = 48;
constexpr unsigned convertThreads(std::size_t laneBytes) { return laneBytes < smallConvertLaneBytes ? 128 : 64; }

// Resident threads to compile for: without it, ptxas saves registers and loads wait for each other.
constexpr unsigned convertThreadsPerSm(std::size_t laneBytes) { return laneBytes <= 128 ? 1024 : 512; }

GPUOPT_DETAIL_END
