/// \file
/// What the experiments' kernels have in common: the grid that gives each thread one piece of work, sums of words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <cstddef>

namespace experiments {

constexpr std::size_t ceilDivide(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// As many blocks as have `items` threads together; the last one may have too many.
inline gpuopt::LaunchConfig gridFor(std::size_t items, unsigned block) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(ceilDivide(items, block)));
  config.block = dim3(block);
  return config;
}

/// The thread's number in the grid.
__device__ inline std::size_t globalThread() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// The words of a value, added up: what kernels do with what they load.
__host__ __device__ inline unsigned sumOf(unsigned v) { return v; }
__host__ __device__ inline unsigned sumOf(uint2 v) { return v.x + v.y; }
__host__ __device__ inline unsigned sumOf(uint4 v) { return v.x + v.y + v.z + v.w; }

}  // namespace experiments
