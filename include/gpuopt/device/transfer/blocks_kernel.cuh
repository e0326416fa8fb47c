/// \file
/// The kernel of gatherBlocks and scatterBlocks: it reads and writes the host's memory through the link.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_tile.cuh>
#include <gpuopt/core/device_code.cuh>
#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Blocks of the host's memory, and consecutive bytes of the device's. The kernel reads the lists, too.
struct BlockGroup {
  unsigned char* const* hosts;
  const std::size_t* begins;  // where each block begins on the device, and the end; null if all have blockBytes
  std::size_t origin;         // begins[0]
  unsigned char* device;      // block 0
  std::size_t count;
  std::size_t blockBytes;

  __host__ __device__ std::size_t begin(std::size_t i) const {
    return begins != nullptr ? begins[i] - origin : i * blockBytes;
  }
  __host__ __device__ std::size_t bytes(std::size_t i) const {
    return begins != nullptr ? begins[i + 1] - begins[i] : blockBytes;
  }
};

template <bool IS_UPLOAD>
__device__ inline void moveByte(unsigned char* host, unsigned char* device) {
  if constexpr (IS_UPLOAD)
    *device = *host;
  else
    *host = *device;
}

// Moves a data block by `lanes` threads. Accesses to the host's memory are aligned vectors, of which the link takes
// few; the device's memory is accessed by words of WORD bytes, to which it is aligned where the host's vectors begin.
template <bool IS_UPLOAD, unsigned WORD>
__device__ inline void moveBlock(unsigned char* host, unsigned char* device, std::size_t bytes, unsigned lane,
                                 unsigned lanes) {
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(host) % 16;
  const std::size_t head = misalignment == 0 ? 0 : (bytes < 16 - misalignment ? bytes : 16 - misalignment);
  const std::size_t vectors = (bytes - head) / 16;
  const std::size_t tail = bytes - 16 * vectors;  // the first byte after the head that is in no vector, less the head
  for (std::size_t i = lane; i < tail; i += lanes) {
    const std::size_t at = i < head ? i : i + 16 * vectors;
    moveByte<IS_UPLOAD>(host + at, device + at);
  }
  for (std::size_t first = lane; first < vectors; first += std::size_t{lanes} * blocksLoadsInFlight) {
    uint4 values[blocksLoadsInFlight];
#pragma unroll
    for (unsigned k = 0; k < blocksLoadsInFlight; ++k) {
      const std::size_t at = head + 16 * (first + std::size_t{k} * lanes);
      if (first + std::size_t{k} * lanes >= vectors) continue;
      if constexpr (IS_UPLOAD)
        values[k] = *reinterpret_cast<const uint4*>(host + at);
      else
        readWords<16, WORD>(device + at, &values[k]);
    }
#pragma unroll
    for (unsigned k = 0; k < blocksLoadsInFlight; ++k) {
      const std::size_t at = head + 16 * (first + std::size_t{k} * lanes);
      if (first + std::size_t{k} * lanes >= vectors) continue;
      if constexpr (IS_UPLOAD)
        writeWords<16, WORD>(device + at, &values[k]);
      else
        storeVector(host + at, values[k]);
    }
  }
}

// Each data block is moved by 2^laneBits neighbouring threads.
template <bool IS_UPLOAD, unsigned WORD>
GPUOPT_KERNEL void __launch_bounds__(blocksThreads) moveBlocksKernel(const BlockGroup group, unsigned laneBits) {
  waitForPreviousKernel();
  const std::size_t thread = std::size_t{blockIdx.x} * blocksThreads + threadIdx.x;
  const std::size_t step = (std::size_t{gridDim.x} * blocksThreads) >> laneBits;
  const unsigned lanes = 1u << laneBits;
  for (std::size_t i = thread >> laneBits; i < group.count; i += step)
    moveBlock<IS_UPLOAD, WORD>(group.hosts[i], group.device + group.begin(i), group.bytes(i), threadIdx.x & (lanes - 1),
                               lanes);
}

// The lanes that have one vector each of a data block, a warp at most.
inline unsigned blockLaneBits(std::size_t blockBytes) {
  unsigned bits = 0;
  while (bits < 5 && (std::size_t{16} << bits) < blockBytes) ++bits;
  return bits;
}

// Words of `wordBytes` bytes move on the device's side, by at most `maxBlocks` thread blocks.
template <bool IS_UPLOAD, unsigned WORD = 16>
GPUOPT_HIDDEN void launchMoveBlocks(const BlockGroup& group, unsigned wordBytes, unsigned maxBlocks,
                                    cudaStream_t stream, const char* function) {
  if constexpr (WORD > 1)
    if (wordBytes < WORD) return launchMoveBlocks<IS_UPLOAD, WORD / 4>(group, wordBytes, maxBlocks, stream, function);
  const std::size_t blockBytes = group.begin(group.count) / group.count;
  const unsigned laneBits = blockLaneBits(blockBytes);
  const std::size_t needed = ceilDivide(group.count << laneBits, std::size_t{blocksThreads});
  const LaunchConfig config = gridConfig(blocksThreads, smallerOf(needed, std::size_t{maxBlocks}), stream, function);
  launch(moveBlocksKernel<IS_UPLOAD, WORD>, config, group, laneBits);
}

GPUOPT_DETAIL_END
