/// \file
/// Clusters: blocks that wait for each other and read each other's shared memory. Before sm_90 a cluster is one block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

// Waits until all threads of the cluster have arrived.
__device__ inline void waitForCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Says that a thread has arrived there, and has written what others may see.
__device__ inline void arriveAtCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

// Waits for all threads of the cluster, which then see what the others have written.
__device__ inline void syncCluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  arriveAtCluster();
  waitForCluster();
#else
  __syncthreads();
#endif
}

// The address of a shared variable of this block in another block of the cluster.
template <class T>
__device__ inline T* clusterAddress(T* shared, [[maybe_unused]] unsigned block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  T* remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(shared), "r"(block));
  return remote;
#else
  return shared;
#endif
}

GPUOPT_DETAIL_END
