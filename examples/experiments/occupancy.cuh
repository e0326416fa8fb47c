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
  unsigned sharedBytes;
  unsigned sharedReserved;  ///< bytes of each block that the system takes
  unsigned sharedUnit;      ///< a block's bytes, those included, are rounded up to a multiple of it
};

inline constexpr Multiprocessor geforce8800{8192, 768, 8, 1, 16 * 1024, 16, 512};
inline constexpr Multiprocessor hopper{65536, 2048, 32, 256, 228 * 1024, 1024, 128};

constexpr unsigned roundedUp(unsigned a, unsigned unit) { return (a + unit - 1) / unit * unit; }

/// Blocks that fit at once, as far as registers, threads, blocks and shared memory say.
constexpr unsigned residentBlocks(const Multiprocessor& m, unsigned registersPerThread, unsigned blockThreads,
                                  unsigned sharedBytes) {
  const unsigned warps = (blockThreads + 31) / 32;
  const unsigned ofBlock[] = {warps * roundedUp(32 * registersPerThread, m.registerUnit), 32 * warps, 1,
                              roundedUp(sharedBytes + m.sharedReserved, m.sharedUnit)};
  const unsigned ofAll[] = {m.registers, m.threads, m.blocks, m.sharedBytes};
  unsigned least = m.blocks;
  for (int i = 0; i < 4; ++i) least = ofAll[i] / ofBlock[i] < least ? ofAll[i] / ofBlock[i] : least;
  return least;
}

/// Resident threads over the most that could be.
constexpr double occupancyOf(const Multiprocessor& m, unsigned registersPerThread, unsigned blockThreads) {
  const unsigned threads = (blockThreads + 31) / 32 * 32;
  return static_cast<double>(residentBlocks(m, registersPerThread, blockThreads, 0) * threads) / m.threads;
}

/// A thread copies ITEMS elements, `step` apart, and all its loads are on their way before the first store: what
/// occupancy does by many threads, this does by few.
template <int ITEMS, class T>
__device__ void copyAtOnce(const T* in, T* out, std::size_t n, std::size_t first, std::size_t step) {
  T items[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (first + step * k < n) items[k] = in[first + step * k];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (first + step * k < n) out[first + step * k] = items[k];
}

/// Each thread copies ITEMS elements.
template <int ITEMS, class T = float>
__global__ void copyItems(const T* in, T* out, std::size_t n) {
  copyAtOnce<ITEMS>(in, out, n, std::size_t{blockIdx.x} * blockDim.x * ITEMS + threadIdx.x, blockDim.x);
}

/// `sharedBytes` of a block are not used: they only keep other blocks away from the multiprocessor.
template <int ITEMS, class T>
void launchCopyItems(const T* in, T* out, std::size_t n, unsigned block, std::size_t sharedBytes) {
  gpuopt::LaunchConfig config = gridFor(ceilDivide(n, ITEMS), block);
  config.sharedBytes = sharedBytes;
  gpuopt::launch(copyItems<ITEMS, T>, config, in, out, n);
}

/// The blocks of a grid of any size copy n elements: each thread has a loop, of ITEMS elements at once.
template <int ITEMS>
__global__ void copyInLoops(const float* in, float* out, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += ITEMS * threads) copyAtOnce<ITEMS>(in, out, n, i, threads);
}

template <int ITEMS>
void launchCopyInLoops(const float* in, float* out, std::size_t n, unsigned blocks, unsigned block) {
  gpuopt::launch(copyInLoops<ITEMS>, gridFor(std::size_t{blocks} * block, block), in, out, n);
}

/// The share of the multiprocessors' time that a grid has work for, where `wave` blocks run at once: the last wave may
/// have fewer.
constexpr double waveEfficiency(std::size_t blocks, std::size_t wave) {
  return static_cast<double>(blocks) / static_cast<double>(ceilDivide(blocks, wave) * wave);
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
