/// \file
/// Chunk sizes and slots of pipelines.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>

#include <chrono>
#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Of a gigabyte of pinned memory, sums reach 0.988 of the link by chunks of 16 MiB, 0.962 by 4 MiB, 0.873 by 1 MiB;
// both ways at once 0.980, 0.966, 0.830 (H200, 2026-11-23).
inline constexpr std::size_t largestChunkBytes = std::size_t{16} << 20;
inline constexpr std::size_t leastChunkBytes = std::size_t{2} << 20;
inline constexpr std::size_t unknownLength = static_cast<std::size_t>(-1);

// A short stream has shorter chunks: its first copy and its last overlap with nothing. Of 64 MiB both ways, chunks of
// 4 MiB reach 0.874 of the link, 2 MiB 0.858, 16 MiB 0.782 (H200, 2026-11-23). It depends on the length alone, because
// the bits of sums depend on it.
constexpr std::size_t chunkBytesFor(std::size_t totalBytes) {
  if (totalBytes == unknownLength) return largestChunkBytes;
  std::size_t bytes = leastChunkBytes;
  while (bytes < largestChunkBytes && bytes < totalBytes / 16) bytes *= 2;
  return bytes;
}

// One slot for each stage that can be at work: up, kernel, down; filling and draining where the host copies.
constexpr unsigned slotsFor(bool isFilled, bool isDrained) { return 3u + (isFilled ? 1u : 0u) + (isDrained ? 1u : 0u); }

// Chunks that the host queues ahead of the device where it has no other part in them.
inline constexpr unsigned chunksAhead = 16;

// Threads that fill or empty a slot together, and what each of them takes at a time. Of a gigabyte of floats that is
// not pinned, 8 threads reach 0.96 of the link with these pieces, 0.87 with pieces of 1 MiB; 4 threads 0.64 (H200,
// 2026-11-23).
inline constexpr unsigned stagingThreads = 8;
inline constexpr std::size_t stagingPiece = std::size_t{256} << 10;

// How long the threads of a ring of frames look for the next frame before they sleep: to be woken takes a tenth of a
// millisecond.
inline constexpr std::chrono::microseconds frameSpin{1000};

GPUOPT_DETAIL_END
