/// \file
/// Atomic additions: how many words they are spread over, how far they must be seen, and who adds up before.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned atomicBlock = 256;
inline constexpr unsigned sharedAtomicWords = 4096;

/// How far an addition must be seen at once.
struct DeviceScope {
  __device__ void operator()(unsigned* word, unsigned value) const { atomicAdd(word, value); }
};
struct BlockScope {
  __device__ void operator()(unsigned* word, unsigned value) const { atomicAdd_block(word, value); }
};
struct SystemScope {
  __device__ void operator()(unsigned* word, unsigned value) const { atomicAdd_system(word, value); }
};

/// Each thread adds 1 to `rounds` of the first `words` words, a power of two: neighbouring threads to neighbouring
/// ones. With `apart`, each of the words is in a line of its own.
template <class Add>
__global__ void addSpread(unsigned* counts, unsigned words, unsigned apart, unsigned rounds, Add add) {
  auto at = static_cast<unsigned>(globalThread());
  for (unsigned round = 0; round < rounds; ++round, at += 32) add(counts + std::size_t{at & (words - 1)} * apart, 1u);
}

template <class Add>
void launchAddSpread(unsigned* counts, unsigned blocks, unsigned words, unsigned apart, unsigned rounds, Add add) {
  gpuopt::launch(addSpread<Add>, gridFor(std::size_t{blocks} * atomicBlock, atomicBlock), counts, words, apart, rounds,
                 add);
}

/// The same to words of each block's shared memory, which are added to `counts` at the end.
__global__ void addSpreadShared(unsigned* counts, unsigned words, unsigned rounds) {
  __shared__ unsigned own[sharedAtomicWords];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) own[i] = 0;
  __syncthreads();
  auto at = static_cast<unsigned>(globalThread());
  for (unsigned round = 0; round < rounds; ++round, at += 32) atomicAdd(&own[at & (words - 1)], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    if (own[i] != 0) atomicAdd(counts + i, own[i]);
}

inline void launchAddSpreadShared(unsigned* counts, unsigned blocks, unsigned words, unsigned rounds) {
  gpuopt::launch(addSpreadShared, gridFor(std::size_t{blocks} * atomicBlock, atomicBlock), counts, words, rounds);
}

inline std::vector<unsigned> spreadOnHost(unsigned blocks, unsigned words, unsigned apart, unsigned rounds) {
  std::vector<unsigned> counts(std::size_t{words} * apart, 0);
  for (unsigned thread = 0; thread < blocks * atomicBlock; ++thread)
    for (unsigned round = 0; round < rounds; ++round) ++counts[((thread + 32 * round) & (words - 1)) * apart];
  return counts;
}

/// Who adds up, before something is added to the one word of all.
enum class AddedBy { thread, warp, block };

/// *total: the sum of n words, to which each thread, warp or block adds its part.
template <AddedBy BY>
__global__ void sumToOneWord(const unsigned* in, unsigned* total, std::size_t n) {
  const std::size_t i = globalThread();
  unsigned value = i < n ? in[i] : 0;
  if constexpr (BY != AddedBy::thread) value = gpuopt::warpReduce(value, gpuopt::Plus{});
  if constexpr (BY == AddedBy::block) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, value);
    __syncthreads();
    value = sum;
  }
  constexpr unsigned TOGETHER = BY == AddedBy::thread ? 1 : BY == AddedBy::warp ? 32 : atomicBlock;
  if (threadIdx.x % TOGETHER == 0) atomicAdd(total, value);
}

template <AddedBy BY>
void launchSumToOneWord(const unsigned* in, unsigned* total, std::size_t n) {
  gpuopt::launch(sumToOneWord<BY>, gridFor(n, atomicBlock), in, total, n);
}

}  // namespace experiments
