/// \file
/// The kernels of histograms that read their input once and count on the way: in shared memory with counters of 32 or
/// of 16 bits, or in global memory.
// SPDX-License-Identifier: MIT
#pragma once

<<<<<<< HEAD:include/gpuopt/device/keyed/kernels.cuh
#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/keyed/edges.cuh>
#include <gpuopt/device/keyed/steps.cuh>
    =======
#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/keyed/edges.cuh>
#include <gpuopt/device/keyed/runs.cuh>
#include <gpuopt/device/keyed/steps.cuh>
    >>>>>>> 9f53672f747aa4da81d9d55c352236a0c7649a2a:include/gpuopt/device/keyed/kernels.cuh
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

    GPUOPT_DETAIL_BEGIN

    // All blocks give the values of every step to counters.take().
    template <class Source, class Counters>
    __device__ inline void countSteps(const Source& source, const StepArgs& shape, const Counters& counters) {
  const auto take = [&](const auto& values) { counters.take(values); };
  takeSteps<keyedItems<Source>>(source, shape, blockIdx.x, gridDim.x, take, NoTileEnd{});
}

// Zeroes counters for the next kernel, which has begun to count meanwhile.
template <class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads) clearCountsKernel(Count* counts, const std::size_t slots) {
  letNextKernelOverlap();
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < slots; i += std::size_t{gridDim.x} * blockDim.x) counts[i] = 0;
}

// A block counts in shared memory, and then adds its counters to the result. A single block stores them instead.
// `followsClearing`: the previous kernel is clearCountsKernel.
template <bool STORES, class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    sharedHistogramKernel(const Source source, const StepArgs shape, const unsigned slots, Count* counts,
                          const bool followsClearing) {
  if (!followsClearing) waitForPreviousKernel();
  clearShared(sharedCounterWords(slots));
  shareTable(source.f);
  __syncthreads();
  countSteps(source, shape, SharedCounters{});
  __syncthreads();
  waitForPreviousKernel();
  addToResult<STORES>(counts, slots, blockIdx.x, gridDim.x,
                      [](unsigned slot) { return dynamicShared<unsigned>()[slot]; });
}

// Bytes are counted by their values, and these go to their slots in the end.
template <class Source, class ByteSlots, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    byteHistogramKernel(const Source source, const StepArgs shape, const ByteSlots slotOf, Count* counts,
                        const bool followsClearing) {
  if (!followsClearing) waitForPreviousKernel();
  clearShared(ByteSlots::VALUES * byteCopies);
  __syncthreads();
  countSteps(source, shape, ByteCounters{});
  __syncthreads();
  waitForPreviousKernel();
  for (unsigned value = threadIdx.x / 32; value < ByteSlots::VALUES; value += blockDim.x / 32) {
    const unsigned count = ByteCounters::count(value);
    if (laneIndex() > 0 || count == 0) continue;
    const unsigned slot = slotOf(value);
    if (slot < slotOf.slots) addCount(counts + slot, count);
  }
}

// Slots that one of `groups` groups of blocks counts.
struct PackedShape {
  unsigned slots;
  unsigned groups;
  unsigned groupSlots;
  bool looksForRuns = false;  // in a sample, and then counts differently
};

// Updates of shared memory between two barriers are no more than packedLimit.
template <class Source, std::size_t CHANNELS>
inline constexpr int packedItems = clampTo(static_cast<int>(packedLimit / (keyedThreads * Source::STEP * CHANNELS)), 1,
                                           keyedItems<Source>);

// The same with counters of 16 bits. Block b counts the slots of group b % groups.
template <std::size_t CHANNELS, class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    packedHistogramKernel(const Source source, const StepArgs shape, const PackedShape table, Count* counts) {
  waitForPreviousKernel();
  if constexpr (canHaveRuns<Source>)
    if (table.looksForRuns && consistsOfRuns(source, shape, table.slots))
      return countRuns(source, shape, table.slots, counts);
  const unsigned first = blockIdx.x % table.groups * table.groupSlots;
  const unsigned end = first + table.groupSlots < table.slots ? first + table.groupSlots : table.slots;
  const PackedCounters<Count> counters{first, end - first, counts, SharedCounts(dynamicShared<unsigned>())};
  clearShared(packedCounterWords(end - first));
  __syncthreads();
  const unsigned block = blockIdx.x / table.groups, blocks = gridDim.x / table.groups;
  const auto take = [&](const auto& values) { counters.take(values); };
  takeSteps<packedItems<Source, CHANNELS>>(source, shape, block, blocks, take, [] { __syncthreads(); });
  __syncthreads();
  addToResult<false>(counts + first, end - first, block, blocks, [&](unsigned own) { return counters.count(own); });
}

// Counters in global memory.
template <class Count>
struct GlobalCounters {
  unsigned slots;
  Count* counts;

  template <int COUNT>
  __device__ void take(const unsigned (&values)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (values[i] < slots) addCount(counts + values[i], 1);
  }

  template <int CHANNELS, int COUNT>
  __device__ void take(const ChannelSlots<CHANNELS> (&values)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) take(values[i].slots);
  }
};

template <class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    globalHistogramKernel(const Source source, const StepArgs shape, const GlobalCounters<Count> counters) {
  waitForPreviousKernel();
  countSteps(source, shape, counters);
}

GPUOPT_DETAIL_END
