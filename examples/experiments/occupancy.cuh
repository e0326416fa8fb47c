/// \file
/// Occupancy against speed: how many warps are resident, and how much each thread has in flight.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cmath>
#include <cstddef>
#include <vector>

namespace experiments {

/// What a multiprocessor has to share among its blocks.
struct Multiprocessor {
  unsigned registers;
  unsigned threads;
  unsigned blocks;
  unsigned registerUnit;  ///< registers are given to a warp in multiples of it
};

inline constexpr Multiprocessor geforce8800{8192, 768, 8, 1};
inline constexpr Multiprocessor hopper{65536, 2048, 32, 256};

/// Resident threads over the most that could be, as far as registers, threads and blocks say.
constexpr double occupancyOf(const Multiprocessor& m, unsigned registersPerThread, unsigned blockThreads) {
  const unsigned warps = (blockThreads + 31) / 32;
  const unsigned perWarp = (32 * registersPerThread + m.registerUnit - 1) / m.registerUnit * m.registerUnit;
  const unsigned byRegisters = m.registers / (warps * perWarp);
  const unsigned byThreads = m.threads / (32 * warps);
  unsigned blocks = byRegisters < byThreads ? byRegisters : byThreads;
  blocks = blocks < m.blocks ? blocks : m.blocks;
  return static_cast<double>(blocks * 32 * warps) / m.threads;
}

/// Each thread copies ITEMS elements, and all its loads are on their way before the first store: what
/// occupancy does by many threads, this does by few.
template <int ITEMS, class T = float>
__global__ void copyItems(const T* in, T* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * ITEMS + threadIdx.x;
  T items[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const std::size_t i = first + std::size_t{blockDim.x} * k;
    if (i < n) items[k] = in[i];
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const std::size_t i = first + std::size_t{blockDim.x} * k;
    if (i < n) out[i] = items[k];
  }
}

/// `sharedBytes` of a block are not used: they only keep other blocks away from the multiprocessor.
template <int ITEMS, class T>
void launchCopyItems(const T* in, T* out, std::size_t n, unsigned block, std::size_t sharedBytes) {
  gpuopt::LaunchConfig config = gridFor(ceilDivide(n, ITEMS), block);
  config.sharedBytes = sharedBytes;
  gpuopt::launch(copyItems<ITEMS, T>, config, in, out, n);
}

inline constexpr float chainFactor = 0.75F, chainTerm = 1.5F;

/// CHAINS independent sequences of multiply-adds a thread: each waits for its own last result only.
template <int CHAINS>
__global__ void multiplyAddChains(const float* in, float* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  float x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) x[k] = in[i] + static_cast<float>(k);
#pragma unroll 4
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) x[k] = fmaf(x[k], chainFactor, chainTerm);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) sum += x[k];
  out[i] = sum;
}

template <int CHAINS>
void launchChains(const float* in, float* out, std::size_t n, unsigned block, std::size_t sharedBytes,
                  unsigned rounds) {
  gpuopt::LaunchConfig config = gridFor(n, block);
  config.sharedBytes = sharedBytes;
  gpuopt::launch(multiplyAddChains<CHAINS>, config, in, out, n, rounds);
}

/// The same on the host, bit by bit.
template <int CHAINS>
std::vector<float> chainsOnHost(std::vector<float> values, unsigned rounds) {
  for (float& value : values) {
    float sum = 0;
    for (int k = 0; k < CHAINS; ++k) {
      float x = value + static_cast<float>(k);
      for (unsigned round = 0; round < rounds; ++round) x = std::fmaf(x, chainFactor, chainTerm);
      sum += x;
    }
    value = sum;
  }
  return values;
}

}  // namespace experiments
