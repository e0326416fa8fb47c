/// How many blocks of a kernel a multiprocessor holds.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "limits.hpp"

#include <algorithm>
#include <cstddef>

namespace gpuopt::emulation::detail {

/// By blocks, threads, registers and shared memory; 0 if a block is too large.
inline int activeBlocks(int blockSize, std::size_t dynamicBytes) {
  constexpr int LANES = static_cast<int>(WARP_LANES);
  const int threads = (blockSize + LANES - 1) / LANES * LANES;
  if (threads > static_cast<int>(MAX_BLOCK_THREADS) || dynamicBytes > SHARED_BYTES_OPTIN) return 0;
  const auto byShared = static_cast<int>(SHARED_BYTES_PER_MULTIPROCESSOR / (SHARED_BYTES_RESERVED + dynamicBytes));
  const int byRegisters = REGISTERS_PER_MULTIPROCESSOR / (REGISTERS_PER_THREAD * threads);
  return (std::min)({BLOCKS_PER_MULTIPROCESSOR, THREADS_PER_MULTIPROCESSOR / threads, byRegisters, byShared});
}

}  // namespace gpuopt::emulation::detail

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int blockSize,
                                                          std::size_t dynamicBytes) {
  namespace emulated = gpuopt::emulation::detail;
  if (kernel == nullptr) return emulated::result(cudaErrorInvalidDeviceFunction);
  if (blockSize <= 0) return emulated::result(cudaErrorInvalidValue);
  *blocks = emulated::activeBlocks(blockSize, dynamicBytes);
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel, int blockSize,
                                                                   std::size_t dynamicBytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, blockSize, dynamicBytes);
}

/// The largest block size with the highest occupancy; `dynamicBytes` says how much shared memory a block size
/// needs.
template <class DynamicBytes, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* gridSize, int* blockSize, Kernel* kernel,
                                                           DynamicBytes dynamicBytes, int limit = 0) {
  namespace emulated = gpuopt::emulation;
  constexpr int LANES = static_cast<int>(emulated::WARP_LANES), LARGEST = static_cast<int>(emulated::MAX_BLOCK_THREADS);
  int best = 0;
  for (int size = limit <= 0 ? LARGEST : (std::min)(limit, LARGEST); size > 0; size = (size - 1) / LANES * LANES) {
    int blocks = 0;
    const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, size, static_cast<std::size_t>(dynamicBytes(size)));
    if (code != cudaSuccess) return code;
    if (blocks * size <= best) continue;
    best = blocks * size;
    *blockSize = size;
    *gridSize = blocks * emulated::MULTIPROCESSORS;
  }
  return emulated::detail::resultIf(best > 0);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, Kernel*, const cudaLaunchConfig_t*) {
  *clusterSize = 1;
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize, Kernel* kernel,
                                               std::size_t dynamicBytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      gridSize, blockSize, kernel, [dynamicBytes](int) { return dynamicBytes; }, limit);
}
