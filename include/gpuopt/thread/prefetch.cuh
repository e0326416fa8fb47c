/// \file
/// Prefetches from global memory to L2.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Makes L2 fetch `bytes`, a multiple of 16, from the last 16-byte boundary before or at `address`. Does nothing before
// sm_90.
__device__ inline void prefetchToL2([[maybe_unused]] const void* address, [[maybe_unused]] unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address) / 16 * 16;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(first), "r"(bytes) : "memory");
#endif
}

// The same of a number of bytes that is known at compile time.
template <unsigned BYTES>
__device__ inline void prefetchToL2(const void* address) {
  static_assert(BYTES % 16 == 0);
  prefetchToL2(address, BYTES);
}

GPUOPT_DETAIL_END
