/// \file
/// A run of bytes on its way between global and shared memory: 16-byte vectors, and single bytes at its ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/smem.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cuda_runtime.h>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

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
