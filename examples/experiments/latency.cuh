/// \file
/// Latency: chains of loads and of multiply-adds in which each step waits for the last one, and how much independent
/// work hides it.
// SPDX-License-Identifier: MIT
#pragma once

#include "block_clock.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned chaseStride = 32;  ///< words between two stops of a chase: each is in a line of its own

/// The stop after `line`, for a power of two of lines. Every line comes once before the first one comes again (a linear
/// congruential generator of full period), and no order tells the hardware which line comes next.
__host__ __device__ constexpr unsigned nextLine(unsigned line, unsigned lines) {
  return (line * 1664525u + 1013904223u) & (lines - 1);
}

/// Every word of a line holds the index of the next line's first word. Full lines are written, so that L2 holds them
/// completely.
__global__ void linkLines(unsigned* next, unsigned lines) {
  const std::size_t i = globalThread();
  const auto line = static_cast<unsigned>(i / chaseStride);
  if (line < lines) next[i] = nextLine(line, lines) * chaseStride;
}

inline void launchLinks(unsigned* next, unsigned lines) {
  gpuopt::launch(linkLines, gridFor(std::size_t{lines} * chaseStride, 256), next, lines);
}

/// Where a chase is, and what its last steps took together.
struct Chase {
  unsigned at;
  long long cycles;
};

struct CachedLoad {
  __device__ unsigned operator()(const unsigned* address) const { return *address; }
};
/// Passes L1 by.
struct L2Load {
  __device__ unsigned operator()(const unsigned* address) const { return __ldcg(address); }
};

/// One thread follows the links from where the last chase ended: `warmUp` steps, and `steps` more by the clock.
template <class Load>
__global__ void chaseGlobal(const unsigned* next, unsigned warmUp, unsigned steps, Load load, Chase* chase) {
  unsigned at = chase->at;
  for (unsigned step = 0; step < warmUp; ++step) at = load(next + at);
  chase->cycles = blockCycles([&] {
#pragma unroll 8
    for (unsigned step = 0; step < steps; ++step) at = load(next + at);
  });
  chase->at = at;
}

template <class Load>
void launchChase(const unsigned* next, unsigned warmUp, unsigned steps, Load load, Chase* chase) {
  gpuopt::launch(chaseGlobal<Load>, gridFor(1, 1), next, warmUp, steps, load, chase);
}

inline unsigned chaseOnHost(unsigned lines, unsigned steps) {
  unsigned line = 0;
  for (unsigned step = 0; step < steps; ++step) line = nextLine(line, lines);
  return line;
}

inline constexpr unsigned sharedChaseWords = 1024;

/// The same in shared memory, a word after the other.
__global__ void chaseShared(unsigned steps, Chase* chase) {
  __shared__ unsigned next[sharedChaseWords];
  for (unsigned i = 0; i < sharedChaseWords; ++i) next[i] = nextLine(i, sharedChaseWords);
  unsigned at = 0;
  chase->cycles = blockCycles([&] {
#pragma unroll 8
    for (unsigned step = 0; step < steps; ++step) at = next[at];
  });
  chase->at = at;
}

inline void launchSharedChase(unsigned steps, Chase* chase) {
  gpuopt::launch(chaseShared, gridFor(1, 1), steps, chase);
}

// ------------------------------------------------------------------------------------ hiding it

/// What the threads of a block computed, and what that took.
struct BlockResult {
  float sum;  ///< of thread 0
  long long cycles;
};

/// CHAINS sequences of multiply-adds a thread, each of `rounds` steps that wait for each other.
template <int CHAINS>
__global__ void dependentSteps(float first, float factor, unsigned rounds, BlockResult* result) {
  float x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) x[k] = first + static_cast<float>(k) + static_cast<float>(threadIdx.x);
  const long long cycles = blockCycles([&] {
#pragma unroll 64
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
      for (int k = 0; k < CHAINS; ++k) x[k] = fmaf(x[k], factor, 1.5F);
    }
  });
  float sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) sum += x[k];
  if (threadIdx.x == 0 || sum < 0) *result = {sum, cycles};
}

template <int CHAINS>
void launchDependentSteps(unsigned block, float first, float factor, unsigned rounds, BlockResult* result) {
  gpuopt::launch(dependentSteps<CHAINS>, gridFor(block, block), first, factor, rounds, result);
}

/// What thread 0 computes.
inline float dependentStepsOnHost(int chains, float first, float factor, unsigned rounds) {
  float sum = 0;
  for (int k = 0; k < chains; ++k) {
    float x = first + static_cast<float>(k);
    for (unsigned round = 0; round < rounds; ++round) x = std::fmaf(x, factor, 1.5F);
    sum += x;
  }
  return sum;
}

/// out[i], for each of the grid's threads: the sum of the words i, i + threads, ... of `in`. LOADS of them are on their
/// way at a time; n is a multiple of LOADS times the threads.
template <int LOADS>
__global__ void sumInFlight(const unsigned* in, unsigned* out, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
#pragma unroll 1
  for (std::size_t i = globalThread(); i < n; i += LOADS * threads) {
    unsigned words[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) words[k] = in[i + k * threads];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) sum += words[k];
  }
  out[globalThread()] = sum;
}

template <int LOADS>
void launchSumInFlight(const unsigned* in, unsigned* out, std::size_t n, unsigned blocks, unsigned block) {
  gpuopt::launch(sumInFlight<LOADS>, gridFor(std::size_t{blocks} * block, block), in, out, n);
}

inline std::vector<unsigned> sumsOnHost(const std::vector<unsigned>& in, std::size_t threads) {
  std::vector<unsigned> sums(threads, 0);
  for (std::size_t i = 0; i < in.size(); ++i) sums[i % threads] += in[i];
  return sums;
}

}  // namespace experiments
