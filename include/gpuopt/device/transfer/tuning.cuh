/// \file
/// Tuning of the transfers between host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;

// Threads that copy pageable memory to or from pinned slots, and bytes of a slot, for transfers of up to `most` bytes.
// No threads: cudaMemcpyAsync is as fast.
struct TransferTier {
  std::size_t most;
  unsigned threads;
  std::size_t slotBytes;
};

// Measured on an H200 with 16 cores, 2026-11-23, whose link reaches 55.4 GB/s: us with these tiers and of cudaMemcpy,
// while the helpers sleep.
//   up:    64 KiB 16, 22;  512 KiB 80, 89;   1 MiB 104, 110;  2 MiB 160, 194;  4 MiB 268, 440;  16 MiB 811, 1934;
//          64 MiB 1992, 8453
//   down:  128 KiB 26, 31;  512 KiB 66, 77;  1 MiB 97, 126;   2 MiB 134, 270;  4 MiB 275, 372;  16 MiB 518, 1156;
//          64 MiB 1558, 3843
// At 1 GiB, slots of a quarter of the size lose a tenth, because each copy takes the copy engine 3 us to begin with.
// First regions of half and a quarter of the size, so that the copy engine begins earlier, and helpers that wake each
// other were tried: neither gains more than the runs differ.
inline constexpr TransferTier uploadTiers[] = {
    {16 * KIB, 0, 0},        {64 * KIB, 1, 64 * KIB}, {256 * KIB, 0, 0},
    {1 * MIB, 2, 256 * KIB}, {2 * MIB, 8, 512 * KIB}, {4 * MIB, 12, 512 * KIB},
    {16 * MIB, 4, 2 * MIB},  {64 * MIB, 12, 2 * MIB}, {static_cast<std::size_t>(-1), 8, 4 * MIB}};
inline constexpr TransferTier downloadTiers[] = {{64 * KIB, 0, 0},          {128 * KIB, 1, 128 * KIB},
                                                 {512 * KIB, 2, 256 * KIB}, {1 * MIB, 4, 256 * KIB},
                                                 {4 * MIB, 12, 512 * KIB},  {16 * MIB, 12, 1 * MIB},
                                                 {64 * MIB, 12, 2 * MIB},   {static_cast<std::size_t>(-1), 8, 4 * MIB}};

// Downloads up to this length stay in the caches, for the host to read. Those above were measured so, too.
inline constexpr std::size_t cachedDownloadBytes = 4 * MIB;

// Small transfers that the runtime cannot do.
inline constexpr TransferTier smallTier{0, 1, 64 * KIB};

// The most threads of a transfer: a quarter of the cores stays free for the program.
constexpr unsigned transferCores(unsigned cores) { return cores * 3 / 4 > 0 ? cores * 3 / 4 : 1; }

// Lanes of all devices, each two slots, before a transfer waits for another one's.
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
