/// \file
/// Thread block clusters (sm_90): rank, barrier and another block's shared memory. Elsewhere a cluster is one
/// block.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

namespace gpuopt::detail {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline unsigned clusterSize() {
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

__device__ inline unsigned clusterRank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The halves of the cluster's barrier; writes before arriving are seen after waiting. Every thread of every
// block calls.
__device__ inline void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// The address of the same shared variable in the block of the given rank.
template <class T>
__device__ inline T* sharedOfRank(T* mine, unsigned rank) {
  T* theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
  return theirs;
}

#else

__device__ inline unsigned clusterSize() { return 1; }
__device__ inline unsigned clusterRank() { return 0; }
__device__ inline void clusterArrive() {}
__device__ inline void clusterWait() {}

template <class T>
__device__ inline T* sharedOfRank(T* mine, unsigned) {
  return mine;
}

#endif

}  // namespace gpuopt::detail
