/// \file
/// The thresholds of matrices that move between ranks. Figures are of NVIDIA H200s of one host (NVLink, 18 links each),
/// 2026-11-22, for floats in slabs of the size named.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// What the plan compares with. The defaults are those of sm_90.
struct SlabTuning {
  // Copy engines serve one peer at a time: two GPUs 1.50 ms for 1 GiB, where a kernel that reads the peer's memory
  // takes 1.60 ms; four GPUs 3.66 ms, where it takes 2.45 ms.
  int mostCopyRanks = 2;
  // Below this the kernel is faster: 36 us for 16 MiB, copy engines 47 us. Both lines meet at about this size.
  std::size_t leastCopyBytes = std::size_t{128} << 20;
  // Chunks let transpositions and transfers overlap: 4 chunks for 1 GiB; for 16 MiB 4 chunks take 54 us, one 47 us.
  std::size_t chunkBytes = std::size_t{128} << 20;
  unsigned mostChunks = 4;
  // Blocks up to this length are sent together, for all ranks of a node. A message of NCCL takes 6.1 us without its
  // bytes (8 bytes between two GPUs, in a graph). In that time as many bytes are gathered, at 329 GB/s (four GPUs), and
  // sent, at 45 GB/s, which is assumed: the model of docs/distributed.md.
  std::size_t mostGatheredBytes = 240000;
  // Of the kernel that reads the peers' memory: 264 blocks on 132 multiprocessors are enough.
  unsigned blocksPerMultiprocessor = 2;
};

struct SlabTuningRow {
  int architecture;  // as in sm_90; 0 for all that nobody has measured
  SlabTuning tuning;
};

GPUOPT_HIDDEN inline constexpr SlabTuningRow slabTunings[] = {{90, {}}, {0, {}}};

constexpr const SlabTuning& slabTuningOf(int architecture) {
  const SlabTuningRow* row = slabTunings;
  while (row->architecture != 0 && row->architecture != architecture) ++row;
  return row->tuning;
}

// The side of a tile of elements of this size, a power of two: rows of at least 128 bytes up to 128 elements, and at
// most 32 KiB. Rows of 128 to 512 bytes are read alike.
constexpr int peerTileSide(std::size_t bytes) { return bytes == 1 ? 128 : bytes <= 4 ? 64 : bytes <= 32 ? 32 : 16; }
// Tiles of bytes need 168 registers a thread: a multiprocessor would hold a single block of 256 threads.
constexpr int peerTileThreads(std::size_t bytes) { return bytes == 1 ? 128 : 256; }

// A tile that is copied: its rows, their bytes, and the threads of a block.
inline constexpr unsigned copyTileRows = 16;
inline constexpr unsigned copyTileBytes = 1024;
inline constexpr unsigned copyTileThreads = 256;

GPUOPT_DETAIL_END
