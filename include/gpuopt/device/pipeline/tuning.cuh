/// \file
/// Chunk sizes and slots of pipelines.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>

#include <chrono>
#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Sums of a gigabyte of pinned memory reach 0.986 of the link by chunks of 16 MiB, 0.963 by 4 MiB (H200, 2026-11-28).
inline constexpr std::size_t maxChunkBytes = std::size_t{16} << 20;

// With a sink, chunks of 4 MiB: the slots of both ends stay in the processor's caches. 512 MiB of pageable memory both
// ways reach 0.89 of the link instead of 0.76 by 8 MiB on a host with 32 cores, 0.73 instead of 0.67 on one with 16;
// pinned memory loses 1 % (H200, 2026-11-28).
inline constexpr std::size_t maxSinkChunkBytes = std::size_t{4} << 20;

// Larger chunks are not filled ahead where the sink needs the helpers, too.
inline constexpr std::size_t maxFilledAheadBytes = std::size_t{8} << 20;
inline constexpr std::size_t minChunkBytes = std::size_t{2} << 20;
inline constexpr std::size_t unknownLength = static_cast<std::size_t>(-1);

// A short stream has shorter chunks: its first copy and its last overlap with nothing. Of 64 MiB both ways, chunks of
// 4 MiB are 1.11 times as fast as of 16 MiB (H200, 2026-11-28). It depends on the length alone, because the bits of
// sums depend on it.
constexpr std::size_t chunkBytesFor(std::size_t totalBytes, bool hasSink) {
  const std::size_t limit = hasSink ? maxSinkChunkBytes : maxChunkBytes;
  if (totalBytes == unknownLength) return limit;
  std::size_t bytes = minChunkBytes;
  while (bytes < limit && bytes < totalBytes / 16) bytes *= 2;
  return bytes;
}

// The elements of a chunk, of `elementBytes` bytes each: chunkBytes of them, or as many as suit the length.
constexpr std::size_t chunkElements(std::size_t length, std::size_t elementBytes, std::size_t chunkBytes,
                                    bool hasSink) {
  const std::size_t all = cappedProduct(length, elementBytes);  // unknownLength is the largest number
  const std::size_t wanted = chunkBytes != 0 ? chunkBytes : chunkBytesFor(all, hasSink);
  return largerOf(smallerOf(wanted / elementBytes, length), std::size_t{1});
}

// Arrays in pinned memory that are reduced with all their chunks in the memory of the device.
inline constexpr std::size_t shortRunBytes = std::size_t{64} << 20;

// The chunks of one of their copies, when `left` chunks are left: one in the end. Halves instead of three quarters were
// 1 % slower (H100, 2026-11-28).
constexpr std::size_t chunksOfCopy(std::size_t left) { return largerOf(3 * left / 4, std::size_t{1}); }

// One slot for each stage that can be at work: up, kernel, down; filling and draining where the host copies.
constexpr unsigned slotsFor(bool isFilled, bool isDrained) { return 3u + (isFilled ? 1u : 0u) + (isDrained ? 1u : 0u); }

// Chunks that the host queues ahead of the device where it has no other part in them.
inline constexpr unsigned chunksAhead = 16;

// Threads that fill or empty a slot together, and what each of them takes at a time. Of a gigabyte that is not pinned,
// 8 threads reach 0.96 of the link with these pieces, 0.87 with pieces of 1 MiB (H200, 2026-11-23). Both ways on a host
// with 32 cores, 16 threads reach 0.91, 12 threads 0.75 (H200, 2026-11-28).
inline constexpr unsigned stagingThreads = 16;
inline constexpr std::size_t stagingPiece = std::size_t{256} << 10;

// How long the threads of a ring of frames look for the next frame before they sleep: to be woken takes a tenth of a
// millisecond.
inline constexpr std::chrono::microseconds frameSpin{1000};

GPUOPT_DETAIL_END
