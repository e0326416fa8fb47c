/// \file
/// Tuning of the transfers between host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;

// Pageable memory of up to this size is left to cudaMemcpyAsync, whose own copy is the fastest there.
inline constexpr std::size_t smallUploadBytes = 16 * KIB, smallDownloadBytes = 64 * KIB;

// Threads that copy pageable memory to or from pinned slots, and bytes of a slot, for transfers of up to `most` bytes.
struct TransferTier {
  std::size_t most;
  unsigned threads;
  std::size_t slotBytes;
};

inline constexpr TransferTier uploadTiers[] = {{256 * KIB, 1, 128 * KIB},
                                               {2 * MIB, 4, 128 * KIB},
                                               {32 * MIB, 8, 512 * KIB},
                                               {static_cast<std::size_t>(-1), 8, 4 * MIB}};
inline constexpr TransferTier downloadTiers[] = {{256 * KIB, 1, 128 * KIB},
                                                 {2 * MIB, 4, 128 * KIB},
                                                 {32 * MIB, 8, 512 * KIB},
                                                 {static_cast<std::size_t>(-1), 12, 4 * MIB}};

// Cores that stay free for the program: a quarter.
constexpr unsigned transferCores(unsigned cores) { return cores * 3 / 4 > 0 ? cores * 3 / 4 : 1; }

// Downloads of more bytes are written past the caches: nobody finds all of them in a cache afterwards.
inline constexpr std::size_t streamingBytes = 64 * KIB;

// Lanes per device, each two slots and a stream, before a transfer waits for another one's.
inline constexpr std::size_t mostTransferLanes = 64;

// --- gatherBlocks and scatterBlocks

// Larger blocks go through the copy engine, which takes 2 us to begin with a copy but reaches the link's full speed.
inline constexpr std::size_t engineBlockBytes = 4 * MIB;
// Smaller blocks are not written past the caches: their ends cost more than that saves.
inline constexpr std::size_t streamingBlockBytes = 4 * KIB;

// The kernel needs a few multiprocessors to have the link's latency in flight; the others are left to the program.
inline constexpr int blocksThreads = 512;
inline constexpr unsigned blocksGrid = 32;
inline constexpr unsigned blocksLoadsInFlight = 4;

// Data blocks of a group, which is planned and begun by itself: the next group is prepared meanwhile.
inline constexpr std::size_t blocksGroup = 16384;

GPUOPT_DETAIL_END
