/// \file
/// Tuning of the transfers between host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;

// Threads that copy pageable memory to or from pinned slots, and bytes of a slot, for transfers of up to `maxBytes`
// bytes. A download with one slot for all of it needs no ring. No threads: cudaMemcpyAsync is as fast.
struct TransferTier {
  std::size_t maxBytes;
  unsigned threads;
  std::size_t slotBytes;
};

// Measured on an H200 with 16 cores. In benchmarks/results/h200/transfer_bench.csv, cudaMemcpy of 64 MiB takes 5.5
// times as long up, 2.7 times as long down. Hosts differ by a quarter. A copy costs the thread that queues it 4 us and
// the engine 3 us, so slots below 128 KiB pay off only where every region has a slot of its own.
inline constexpr TransferTier uploadTiers[] = {{32 * KIB, 0, 0},
                                               {64 * KIB, 1, 64 * KIB},
                                               {256 * KIB, 0, 0},
                                               {512 * KIB, 8, 16 * KIB},
                                               {2 * MIB, 12, 32 * KIB},
                                               {4 * MIB, 8, 256 * KIB},
                                               {16 * MIB, 12, 256 * KIB},
                                               {64 * MIB, 12, 512 * KIB},
                                               {128 * MIB, 12, 1 * MIB},
                                               {256 * MIB, 12, 2 * MIB},
                                               {static_cast<std::size_t>(-1), 12, 4 * MIB}};
inline constexpr TransferTier downloadTiers[] = {{32 * KIB, 0, 0},
                                                 {64 * KIB, 1, 64 * KIB},
                                                 {128 * KIB, 1, 128 * KIB},
                                                 {256 * KIB, 1, 256 * KIB},
                                                 {512 * KIB, 2, 128 * KIB},
                                                 {1 * MIB, 4, 128 * KIB},
                                                 {4 * MIB, 8, 256 * KIB},
                                                 {8 * MIB, 12, 512 * KIB},
                                                 {32 * MIB, 12, 1 * MIB},
                                                 {256 * MIB, 12, 2 * MIB},
                                                 {static_cast<std::size_t>(-1), 8, 4 * MIB}};

// Slots are written past the caches, since their lines are in the caches of the cores that wrote them last: 16 MiB up
// are 1.6 times as fast. Long uploads are not, since the engine would read all slots from memory then. Downloads always
// are: the host's memory is not in the caches either, and need not be read before it is overwritten.
constexpr bool fillsPastCaches(std::size_t bytes) { return bytes > 256 * KIB && bytes <= 128 * MIB; }

// Small transfers that the runtime cannot do.
inline constexpr TransferTier smallTier{0, 1, 64 * KIB};

// The most threads of a transfer: a quarter of the cores stays free for the program.
constexpr unsigned transferCores(unsigned cores) { return cores * 3 / 4 > 0 ? cores * 3 / 4 : 1; }

// The slots of a transfer: two for each thread, and more if they are small, so that threads rarely wait for the engine.
// Together they stay in the processor's caches.
constexpr std::size_t ringSlots(std::size_t threads, std::size_t slotBytes) {
  const std::size_t minSlots = 2 * threads, many = 8 * MIB / slotBytes;
  return many > minSlots ? many : minSlots;
}

// Pinned memory for slots of `bytes` bytes together: powers of two, so that transfers of similar lengths share it.
constexpr std::size_t ringMemory(std::size_t bytes) {
  std::size_t memory = 64 * KIB;
  while (memory < bytes) memory *= 2;
  return memory;
}

// Rings of all devices, before a transfer waits for another one's.
inline constexpr std::size_t maxTransferSlots = 16;

// --- Calls that return at once
//
// A host function takes some 15 us to begin, in which the link moves 800 KiB: slots as large as the array allows, but
// small enough that filling and copying overlap. The first batches are small, so that the copy engine begins soon.

// The first batch, which the calling thread fills itself if it can: 20 us.
inline constexpr std::size_t firstBatchBytes = 256 * KIB;

inline constexpr std::size_t queueSlots = 4;

// CUDA queues 56 host functions whose streams wait for the device, all streams together; the call that queues one more
// waits (H100, driver 580.159.04, 2026-11-27; kernels and copies: 1021 in a stream, events any number). So up to a GiB
// has less than 40 batches, and small arrays have few, of which several can be queued.
constexpr std::size_t queueSlotBytes(std::size_t bytes) {
  std::size_t slot = firstBatchBytes;
  while (slot < MIB && slot < bytes / 2) slot *= 2;
  while (slot < 8 * MIB && slot < bytes / 8) slot *= 2;
  while (slot < 32 * MIB && slot < bytes / 32) slot *= 2;
  return slot;
}

// --- gatherBlocks and scatterBlocks
//
// Measured on an H200, 2026-11-23, with blocks from random places of 1 GiB of pinned memory.

// Blocks of this size go through the copy engine: of 4 MiB 1.04 times as fast as by the kernel, of 1 MiB 0.93 times.
// Few large ones would keep few warps busy.
inline constexpr std::size_t engineBlockBytes = 2 * MIB;

// Smaller blocks are not written past the caches: their ends would cost more than that saves.
inline constexpr std::size_t streamingBlockBytes = 4 * KIB;

inline constexpr int blocksThreads = 512;
inline constexpr unsigned blocksLoadsInFlight = 4;

// Thread blocks of the kernel, which leaves the other multiprocessors to the program. Data blocks of 1 KiB need 16;
// smaller ones are gathered up to 1.2 times as fast with 64 as with 32, but scattered 6 % slower.
constexpr unsigned blocksGrid(std::size_t blockBytes, bool isGather) {
  return blockBytes >= KIB ? 16 : isGather ? 64 : 32;
}

// Data blocks of a group, which is planned and begun by itself: the next group is prepared meanwhile.
inline constexpr std::size_t blocksGroup = 16384;

// The first group of a long list is small, so that the link has work soon: 16384 blocks of 1 KiB are 1.04 times as
// fast, short lists gain nothing (H100, 2026-11-27).
inline constexpr std::size_t blocksFirstGroup = 1024;
inline constexpr std::size_t blocksOneGroup = 8192;

constexpr std::size_t blocksIn(std::size_t first, std::size_t all) {
  const std::size_t maxBlocks = first == 0 && all > blocksOneGroup ? blocksFirstGroup : blocksGroup;
  return all - first < maxBlocks ? all - first : maxBlocks;
}

GPUOPT_DETAIL_END
