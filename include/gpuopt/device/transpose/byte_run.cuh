/// \file
/// Runs of bytes in shared memory: the XOR swizzle that avoids bank conflicts, and the way from global memory and back,
/// by 16-byte vectors, and single bytes at the ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// XORs high address bits into the bank bits: permutes the words or vectors within each line of 128 bytes, so that lanes
// whose distance is a large power of two access different banks.
struct Swizzle {
  static constexpr unsigned VECTORS = 0x70;  // mask that permutes the 16-byte vectors of a line

  unsigned shift;
  unsigned mask;  // 0: no swizzle

  __host__ __device__ unsigned operator()(unsigned offset) const { return offset ^ (offset >> shift & mask); }
};

// The shift, at least minShift, that brings the lowest set bit of the lanes' distance to `bit`, where it selects a
// bank.
inline unsigned swizzleShift(std::size_t distance, unsigned bit, unsigned minShift) {
  unsigned shift = minShift;
  while (distance % (std::size_t{2} << (shift + bit)) == 0) ++shift;
  return shift;
}

// The shift for lanes that access 16-byte vectors at this distance.
inline unsigned swizzleFor(std::size_t distance) { return swizzleShift(distance, 4, 3); }

// Swizzled shared memory, indexed by byte.
struct SwizzledBytes {
  unsigned char* bytes;
  Swizzle swizzle;

  __device__ unsigned char* at(unsigned offset) const { return bytes + swizzle(offset); }
};

// Bytes from the last sector boundary to the address. A run of bytes keeps them in shared memory.
__device__ inline unsigned misalignment(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 32; }

// Shared memory for a run of bytes at any misalignment.
inline std::size_t sharedFor(std::size_t bytes) { return roundUp(bytes + 32, 128); }

// The 16-byte vectors of a run in global memory, and the bytes before and after them.
struct VectorRange {
  unsigned head;
  unsigned vectors;
  unsigned tail;  // offset of its first byte
  unsigned count;

  __device__ VectorRange(const void* address, unsigned bytes) : count(bytes) {
    const auto toVector = static_cast<unsigned>(0 - reinterpret_cast<std::uintptr_t>(address)) % 16;
    head = toVector < count ? toVector : count;
    vectors = (count - head) / 16;
    tail = head + vectors * 16;
  }
};

// Copies a run to shared memory, from the offset misalignment(source) on.
__device__ inline void stageBytes(const SwizzledBytes& shared, const unsigned char* source, unsigned count) {
  const VectorRange range(source, count);
  const unsigned origin = misalignment(source);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < range.vectors; i += blockDim.x)
    copyAsync16(shared.at(origin + range.head + 16 * i), source + range.head + 16 * i);
  if (threadIdx.x < range.head) *shared.at(origin + threadIdx.x) = source[threadIdx.x];
  if (threadIdx.x < count - range.tail)
    *shared.at(origin + range.tail + threadIdx.x) = source[range.tail + threadIdx.x];
}

// Copies a run back, from the offset `origin` on, which is misalignment(out) modulo 16.
__device__ inline void unstageBytes(const SwizzledBytes& shared, unsigned origin, unsigned char* out, unsigned count) {
  const VectorRange range(out, count);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < range.vectors; i += blockDim.x)
    *reinterpret_cast<uint4*>(out + range.head + 16 * i) =
        *reinterpret_cast<const uint4*>(shared.at(origin + range.head + 16 * i));
  if (threadIdx.x < range.head) out[threadIdx.x] = *shared.at(origin + threadIdx.x);
  if (threadIdx.x < count - range.tail) out[range.tail + threadIdx.x] = *shared.at(origin + range.tail + threadIdx.x);
}

GPUOPT_DETAIL_END
