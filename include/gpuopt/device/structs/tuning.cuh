/// \file
/// Tuning of the kernels for structures and columns. The measurements of each constant are in
/// benchmarks/results/struct_tuning.csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The percentage of a multiprocessor's on-chip memory that kernels request as shared memory: enough for the tiles of
// the resident blocks. The rest is L1 cache for direct accesses. Measured on sm_90; sharedPercent() has it for others.
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

// --- maps of plain elements, which each thread accesses by words
//
// Measured on an H200, 2026-11-23, 1 GiB of the widest type, shares of the best copy of as many bytes.

// Maps that write more than they read ask L2 for the input of the output this many bytes further on. From 1 byte to 4:
// 0.96 without, 0.98 with 1 to 8 MiB. From 4 bytes to 8: 0.97 without, 0.99 with 1 to 8 MiB, 0.97 with 12 MiB.
inline constexpr std::size_t prefetchDistance = 4 << 20;
// Outputs of fewer such distances are not worth it: at 2 MiB to 16 MiB in a graph, it costs 2 % to 6 %.
inline constexpr std::size_t prefetchDistances = 8;

// READ and WRITTEN are the bytes of an element of the widest input, and of the output.
template <std::size_t READ, std::size_t WRITTEN>
struct TransformWordsPolicy {
  // With one tile from 4 bytes to 1, 512 threads reach 0.95 and 256 reach 0.98; at 16 MiB in a graph, 128 take 4.9 us
  // and 256 take 3.0.
  static constexpr unsigned BLOCK = 256;
  // Loads in flight per thread and input. From 4 bytes to 1: 0.98 with one, 1.02 with two. From 4 bytes to 4: 1.00 with
  // one, 0.97 with two.
  static constexpr unsigned TILES = READ >= 2 * WRITTEN ? 2 : 1;
};

// Elements of 4 bytes: 0.97 with one tile, 1.00 with two. At 16 MiB in a graph, 2.98 us, and 3.07 with 256 threads.
struct VisitWordsPolicy {
  static constexpr unsigned BLOCK = 512, TILES = 2;
};

// --- gatherStructs and scatterStructs

inline constexpr int indexedBlock = 256;
inline constexpr unsigned indexedLoadsInFlight = 4;
// Without it, ptxas saves registers and loads wait for each other.
inline constexpr int indexedBlocksPerSm = 1024 / indexedBlock;

// --- forEach and transform of matrices with gaps between their rows

// Threads of a block, and the elements of each.
inline constexpr unsigned pitchedBlock = 256, pitchedItems = 4;

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
