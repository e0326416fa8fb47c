/// \file
/// The thresholds of matrices that move between ranks. Figures are of GPUs of one host (NVLink, 18 links each), for
/// slabs of the size named: NVIDIA H100s, 2026-11-27, or where it says so H200s, 2026-11-22.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The most threads of a block that exchanges words: one for each word up to that.
inline constexpr int exchangeThreads = 128;

// Threads of a block that combines what all ranks have of a column each.
inline constexpr int combineColumnsThreads = 256;

// What the plan compares with.
struct SlabTuning {
  // Up to how many ranks copy engines are used: they serve one peer at a time.
  int maxCopyRanks = 2;
  // The same of transpositions, which a kernel that writes to the peers' memory does as fast, without scratch memory:
  // two GPUs 1.48 to 1.51 ms for 1 GiB. Copy engines take 1.70 ms, since the kernels that pack take memory bandwidth
  // from them, and with a packing kernel of one or two blocks for each multiprocessor 1.46 to 1.49 ms.
  int maxTransposingCopyRanks = 0;
  // Below this the kernel is faster. H200: both lines meet at about this size.
  std::size_t minCopyBytes = std::size_t{128} << 20;
  // Chunks let transpositions and transfers overlap. H200: 4 chunks for 1 GiB; for 16 MiB 4 chunks take 54 us, one 47
  // us.
  std::size_t chunkBytes = std::size_t{128} << 20;
  unsigned maxChunks = 4;
  // Blocks up to this length are sent together, for all ranks of a node. A message of NCCL takes 6.1 us without its
  // bytes (8 bytes between two GPUs, in a graph). In that time as many bytes are gathered, at 329 GB/s (four GPUs), and
  // sent, at 45 GB/s, which is assumed: the model of docs/distributed.md.
  std::size_t maxGatheredBytes = 240000;
  // Of kernels that read the peers' memory, or copy: 264 blocks on 132 multiprocessors are enough.
  unsigned blocksPerMultiprocessor = 2;
};

// The side of a tile of elements of this size, a power of two: rows of at least 128 bytes up to 128 elements, and at
// most 32 KiB. Rows of 128 to 512 bytes are read alike.
constexpr int peerTileSide(std::size_t bytes) { return bytes == 1 ? 128 : bytes <= 4 ? 64 : bytes <= 32 ? 32 : 16; }
// Tiles of bytes need 168 registers a thread: a multiprocessor would hold a single block of 256 threads.
constexpr int peerTileThreads(std::size_t bytes) { return bytes == 1 ? 128 : 256; }

// Blocks for each multiprocessor of a kernel that writes such tiles to the peers' memory. Two GPUs, 1 GiB of elements
// of 1, 2, 4 and 8 bytes: 1.48, 1.51, 1.50 and 1.50 ms. One more or one less doubling takes up to 8 percent longer.
constexpr unsigned writtenTileBlocks(std::size_t bytes) { return bytes == 4 ? 4 : bytes == 8 ? 1 : 2; }

// A tile that is written in whole lines of 128 bytes: the lines and the rows of the output that it has, its threads,
// and blocks for each multiprocessor. 252 MiB of floats on two GPUs: 8 blocks 393 us, 4 blocks 399, 2 blocks 438.
inline constexpr unsigned lineTileLines = 4;
inline constexpr unsigned lineTileCols = 64;
inline constexpr int lineTileThreads = 256;
inline constexpr unsigned lineTileBlocks = 8;

// A tile that is copied: its rows, their bytes, and the threads of a block.
inline constexpr unsigned copyTileRows = 16;
inline constexpr unsigned copyTileBytes = 1024;
inline constexpr unsigned copyTileThreads = 256;

GPUOPT_DETAIL_END
