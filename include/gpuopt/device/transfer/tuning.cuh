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
//
// Measured on an H200, 2026-11-23: GB/s of blocks from random places of 1 GiB of pinned memory. A pinned copy reaches
// 55.4.

// Blocks of this size go through the copy engine. 1 MiB: 51.3 by the kernel, 47.7 by the engine; 4 MiB: 51.2 and 53.4.
inline constexpr std::size_t engineBlockBytes = 4 * MIB;

// Smaller blocks are not written past the caches: their ends would cost more than that saves.
inline constexpr std::size_t streamingBlockBytes = 4 * KIB;

inline constexpr int blocksThreads = 512;
inline constexpr unsigned blocksLoadsInFlight = 4;

// Thread blocks of the kernel, which leaves the other multiprocessors to the program. Data blocks of 1 KiB: 34 with 8,
// 50 with 16 and more. 256 bytes: 24 with 16, 37 with 32, 35 with 64.
constexpr unsigned blocksGrid(std::size_t blockBytes) { return blockBytes < KIB ? 32 : 16; }

// Data blocks of a group, which is planned and begun by itself: the next group is prepared meanwhile.
inline constexpr std::size_t blocksGroup = 16384;

GPUOPT_DETAIL_END
