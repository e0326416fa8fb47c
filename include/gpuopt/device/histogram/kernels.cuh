/// \file
/// The kernels of histograms that read their input once and count on the way: in shared memory with counters of 32 or
/// of 16 bits, or in global memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/histogram/counters.cuh>
#include <gpuopt/device/histogram/edges.cuh>
#include <gpuopt/device/histogram/steps.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// A block counts in shared memory, and then adds its counters to the result. A single block stores them instead.
template <bool STORES, class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(histogramThreads, 1)
    sharedHistogramKernel(const Source source, const StepShape shape, const SharedCounters counters, Count* counts) {
  waitForPreviousKernel();
  clearShared(counters.words());
  shareTable(source.f);
  __syncthreads();
  const auto take = [&](const auto& values) { counters.take(values); };
  takeSteps<histogramItems<Source>>(source, shape, blockIdx.x, gridDim.x, take, NoTileEnd{});
  __syncthreads();
  addToResult<STORES>(counts, counters.slots, blockIdx.x, gridDim.x,
                      [&](unsigned slot) { return counters.count(slot); });
}

// Slots that one of `groups` groups of blocks counts.
struct PackedShape {
  unsigned slots;
  unsigned groups;
  unsigned groupSlots;
};

// Updates of shared memory between two barriers are no more than packedLimit.
template <class Source, std::size_t CHANNELS>
inline constexpr int packedItems = clampTo(static_cast<int>(packedLimit / (histogramThreads * Source::STEP * CHANNELS)),
                                           1, histogramItems<Source>);

// The same with counters of 16 bits. Block b counts the slots of group b % groups.
template <std::size_t CHANNELS, class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(histogramThreads, 1)
    packedHistogramKernel(const Source source, const StepShape shape, const PackedShape table, Count* counts) {
  waitForPreviousKernel();
  const unsigned first = blockIdx.x % table.groups * table.groupSlots;
  const unsigned end = first + table.groupSlots < table.slots ? first + table.groupSlots : table.slots;
  const PackedCounters<Count> counters{first, end - first, counts};
  clearShared(counters.words());
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
GPUOPT_KERNEL void __launch_bounds__(histogramThreads, 1)
    globalHistogramKernel(const Source source, const StepShape shape, const GlobalCounters<Count> counters) {
  waitForPreviousKernel();
  const auto take = [&](const auto& values) { counters.take(values); };
  takeSteps<histogramItems<Source>>(source, shape, blockIdx.x, gridDim.x, take, NoTileEnd{});
}

GPUOPT_DETAIL_END
