/// \file
/// Shared memory without bank conflicts: the XOR swizzle.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>

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

// The shift, not below `least`, that brings the lowest set bit of the lanes' distance to `bit`, where it selects a
// bank.
inline unsigned swizzleShift(std::size_t distance, unsigned bit, unsigned least) {
  unsigned shift = least;
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

GPUOPT_DETAIL_END
