/// \file
/// Histograms of long runs of equal elements, in more bins than a block counts: counted in global memory, where one
/// update stands for up to 128 elements. Whether the input is such, every block sees in the same sample.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/cached_words.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Whether most sampled steps have elements of one slot only. All threads of the block call.
template <class Source>
__device__ inline bool consistsOfRuns(const Source& source, const StepArgs& steps, unsigned slots) {
  if constexpr (Source::STEP == 1) return false;
  typename Source::Step step;
  unsigned values[Source::STEP];
  source.template load<Caching::stream>(step, sampledStep(steps, 0, 1));
  source.values(step, values);
  bool isRun = values[0] < slots;
#pragma unroll
  for (int i = 1; i < Source::STEP; ++i) isRun = isRun && values[i] == values[0];
  return __syncthreads_count(isRun ? 1 : 0) >= static_cast<int>(blockDim.x / 8 * 7);
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

// Counts if the input consists of runs. The next kernel, which looks for them, too, begins meanwhile.
template <class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    runsHistogramKernel(const Source source, const StepArgs steps, const unsigned slots, Count* counts) {
  using Word = AtomicUnsigned<Count>;
  letNextKernelOverlap();
  if (!consistsOfRuns(source, steps, slots)) return;
  const OnesSource<Source, Word> ones{source};
  DirectSum<Word> update;
  CachedWords<DirectSum<Word>> words({reinterpret_cast<Word*>(counts), slots}, true);
  words.fill(update, ones, steps);
  takeAll(update, words, BinRange{0, slots}, ones, steps, 1);
  words.flush(update);
}

GPUOPT_DETAIL_END
