/// \file
/// Bulk copies between global and shared memory: one thread starts a copy of many bytes. Before sm_90 there are none.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/thread/shared_address.cuh>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

inline constexpr bool hasBulkCopies =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    true;
#else
    false;
#endif

// Lets bulk copies see what this thread has written to shared memory, a new barrier among it.
__device__ inline void showToBulkCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Starts a copy of `bytes`, a multiple of 16, between addresses of 16 bytes. The barrier counts the bytes that have
// come. Nobody may still read what was in `shared`.
__device__ inline void startBulkLoad([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                     [[maybe_unused]] unsigned bytes, [[maybe_unused]] std::uint64_t& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(sharedAddress(shared)), "l"(global), "r"(bytes), "r"(sharedAddress(&barrier))
               : "memory");
#endif
}

// The same from shared to global memory. awaitBulkStores says when `shared` may be written again.
__device__ inline void startBulkStore([[maybe_unused]] void* global, [[maybe_unused]] const void* shared,
                                      [[maybe_unused]] unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(global), "r"(sharedAddress(shared)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// Until all stores of the calling thread have read shared memory, which also has to stay that long.
__device__ inline void awaitBulkStores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

GPUOPT_DETAIL_END
