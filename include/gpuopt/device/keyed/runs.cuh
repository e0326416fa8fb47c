/// \file
/// Histograms of long runs of equal elements, in more bins than a block counts: counted in global memory, where one
/// update stands for up to 128 elements. Whether the input is such, every block sees in the same sample.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/cached_words.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Runs are seen within a step, and by the slot of an element, if it has one.
template <class Source>
inline constexpr bool canHaveRuns = Source::STEP > 1 && std::is_same_v<typename Source::Value, unsigned>;

// Whether most of keyedThreads sampled steps have elements of one slot only. All threads of the block call; blocks of
// any size find the same.
template <class Source>
__device__ inline bool consistsOfRuns(const Source& source, const StepArgs& steps, unsigned slots) {
  const std::size_t every = (steps.end - steps.first) / keyedThreads;
  int runs = 0;
  for (unsigned i = threadIdx.x; i < keyedThreads; i += blockDim.x) {
    typename Source::Step step;
    unsigned values[Source::STEP];
    source.template load<Caching::stream>(step, steps.first + i * every + i * 61 % every);
    source.values(step, values);
    const bool isOneRun = values[0] < slots && isRun<Source::STEP>([&](int k) { return values[k]; });
    runs += __syncthreads_count(isOneRun ? 1 : 0);
  }
  return runs >= static_cast<int>(keyedThreads / 8 * 7);
}

// A source of slots as one of ones by their slots.
template <class Source, class Word>
struct OnesSource : Source {
  using Value = KeyedValue<Word>;

  __device__ void values(const typename Source::Step& step, Value (&ones)[Source::STEP]) const {
    unsigned slots[Source::STEP];
    Source::values(step, slots);
#pragma unroll
    for (int i = 0; i < Source::STEP; ++i) ones[i] = {slots[i], 1};
  }

  __device__ Value at(std::size_t i) const { return {Source::at(i), 1}; }
};

// Registers are scarce.
template <class Source, class Word>
inline constexpr bool prefetchesSteps<OnesSource<Source, Word>> = false;

template <class Count>
using RunWords = CachedWords<DirectSum<AtomicUnsigned<Count>>>;

// Counts if the input consists of runs. The next kernel, which looks for them, too, begins meanwhile.
template <class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    runsHistogramKernel(const Source source, const StepArgs steps, const unsigned slots, Count* counts) {
  using Word = AtomicUnsigned<Count>;
  letNextKernelOverlap();
  if (!consistsOfRuns(source, steps, slots)) return;
  const OnesSource<Source, Word> ones{source};
  DirectSum<Word> update;
  RunWords<Count> words({reinterpret_cast<Word*>(counts), slots}, true);
  words.template fill<false>(update, ones, steps);
  takeAll(update, words, BinRange{0, slots}, ones, steps, 1);
  words.flush(update);
}

GPUOPT_DETAIL_END
