/// Cooperative groups of a block and of a grid.
// SPDX-License-Identifier: MIT
#pragma once

#include "collectives.hpp"

// The last parameter of what can wait; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

namespace cooperative_groups {

namespace detail {

inline unsigned volume(dim3 size) { return size.x * size.y * size.z; }
inline unsigned rankIn(dim3 size, uint3 index) { return (index.z * size.y + index.y) * size.x + index.x; }

}  // namespace detail

/// All threads of a block.
class thread_block {
 public:
  static void sync(GPUOPT_EMULATION_SITE) { __syncthreads(site); }
  void barrier_wait(GPUOPT_EMULATION_SITE) const { __syncthreads(site); }
  static unsigned thread_rank() { return detail::rankIn(blockDim, threadIdx); }
  static unsigned size() { return detail::volume(blockDim); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

/// All threads of a cooperative launch.
class grid_group {
 public:
  static bool is_valid() {
    return gpuopt::emulation::detail::callingLane("is_valid()").block->gridBarrier() != nullptr;
  }
  static void sync(GPUOPT_EMULATION_SITE) { gpuopt::emulation::detail::gridCollective(site); }
  static unsigned long long size() { return num_blocks() * detail::volume(blockDim); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long thread_rank() {
    return block_rank() * detail::volume(blockDim) + thread_block::thread_rank();
  }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static dim3 block_index() { return blockIdx; }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
};

inline grid_group this_grid() { return {}; }

template <class Group>
void sync(const Group& group, GPUOPT_EMULATION_SITE) {
  group.sync(site);
}

}  // namespace cooperative_groups

#undef GPUOPT_EMULATION_SITE
