/// \file
/// Tuning of the kernels for structures and columns. The measurements of each constant are in
/// benchmarks/results/struct_tuning.csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The percentage of a multiprocessor's on-chip memory that kernels request as shared memory: enough for the
// tiles of the resident blocks, the rest as L1 cache for direct accesses.
struct StructCarveouts {
  int transform;  // and conversions to columns, which also load through tiles
  int toAos;      // loads columns through L1
};
inline constexpr StructCarveouts structCarveoutsSm90{58, 28};
inline constexpr StructCarveouts structCarveoutsOther = structCarveoutsSm90;  // not measured

inline const StructCarveouts& structCarveouts() {
  return computeCapability(currentDevice()) == 90 ? structCarveoutsSm90 : structCarveoutsOther;
}

// --- transformStructs and forEachStruct

// Threads of a block, and the bytes that a block moves at least: the device starts a limited number of blocks
// per second.
inline constexpr unsigned minTransformThreads = 64, maxTransformThreads = 256;
inline constexpr std::size_t minTransformBytes = 3072;

constexpr unsigned transformThreads(std::size_t laneBytes) {
  unsigned threads = minTransformThreads;
  while (threads < maxTransformThreads && threads * laneBytes < minTransformBytes) threads *= 2;
  return threads;
}

// Larger tiles than a block has without opting in: such structures are accessed directly.
inline constexpr std::size_t maxTransformShared = 48 * 1024;

// --- gatherStructs and scatterStructs

inline constexpr int indexedBlock = 256;
inline constexpr int indexedBlocksPerSm = 4;  // leaves enough registers for all loads in flight
inline constexpr unsigned indexedLoadsInFlight = 4;

// --- toSoa and toAos

// Above these bytes per lane, structures do not fit in registers, and strided loads of a column are slower
// than a tile. The cache cannot help strided stores: those always take a tile.
inline constexpr std::size_t maxConvertLaneBytes = 256;
inline constexpr unsigned maxStridedLoadBytes = 48;

// Structures per thread. More of them widen a lane's accesses to each column, which matters most for small
// members and for columns of any alignment.
constexpr unsigned convertItems(std::size_t size, bool aligned) {
  unsigned items = !aligned || size <= 4 || size % 2 == 1 ? 4 : 2;
  while (items > 1 && items * size > maxConvertLaneBytes) items /= 2;
  return items;
}

constexpr unsigned convertThreads(std::size_t laneBytes) { return laneBytes < 48 ? 128 : 64; }

// Resident threads to compile for: few enough that all loads of a lane stay in flight.
constexpr unsigned convertThreadsPerSm(std::size_t laneBytes) { return laneBytes <= 128 ? 1024 : 512; }

}  // namespace detail
GPUOPT_NAMESPACE_END
