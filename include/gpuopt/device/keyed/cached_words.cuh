/// \file
/// Reductions by keys in global memory, for more bins than shared memory has room for. A block keeps the words of some
/// keys in shared memory: those of a sample of its input, the more likely the more frequent.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/hot_words.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Words in global memory, and those of some bins in a block's shared memory. An entry has a slot and its word.
template <class Update>
class CachedWords {
 public:
  using Word = typename Update::Word;
  using Entries = SharedWords<Update>;

  __host__ __device__ static constexpr std::size_t wordBytes() {
    constexpr std::size_t BYTES = reduceByWords(cacheEntries) * sizeof(Word);
    if constexpr (addsInLoops<Update>)
      return BYTES + Entries::hotBytes;
    else
      return BYTES;
  }
  static constexpr std::size_t sharedBytes = wordBytes() + cacheEntries * sizeof(unsigned);

  __device__ CachedWords(const WordTable<Word>& table, bool hasEntries)
      : table_(table),
        slots_(reinterpret_cast<unsigned*>(&keepAddress(*dynamicShared<unsigned char>()) + wordBytes())),
        entries_(table, BinRange{0, cacheEntries}, 1),
        hasEntries_(hasEntries) {}

  // Chooses the slots of the entries, of a sample of its own: if all blocks had the same, they would wait for each
  // other in global memory at a frequent key that is missing in it. All threads call.
  // SKIPS_RUNS: there are no entries if the sample consists of runs and few of its keys are frequent. An update in
  // global memory then stands for a run.
  template <bool SKIPS_RUNS, class Source>
  __device__ void fill(const Update& update, const Source& source, const StepArgs& steps) {
    if (!hasEntries_) return;
    for (unsigned i = threadIdx.x; i < cacheEntries; i += blockDim.x) slots_[i] = ~0u;
    __syncthreads();
    Choice last;
    for (unsigned i = 0; i < cacheSamples; ++i)
      last = chooseSlots(source, sampledStep(steps, i, cacheSamples, blockIdx.x * 7919));
    const int newRuns = __syncthreads_count(last.isNewRun ? 1 : 0);
    if constexpr (SKIPS_RUNS) {
      hasEntries_ = newRuns < static_cast<int>(blockDim.x / 8 * 7);
      if (!hasEntries_) return;
    }
    if constexpr (addsInLoops<Update>) entries_.find({{entry(last.slots[0]), entry(last.slots[1])}});
    entries_.clear(update);
    __syncthreads();
  }

  template <int COUNT>
  __device__ void add(const Update& update, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
    bool isEntry[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) isEntry[i] = hasEntries_ && slots_[entryOf(slots[i])] == slots[i];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const unsigned entry[1] = {entryOf(slots[i])};
      const Word word[1] = {words[i]};
      if (isEntry[i])
        entries_.add(update, entry, word);
      else if (slots[i] < table_.bins)
        update.combine(table_.words + slots[i], words[i]);
    }
  }

  // Combines the words of the entries with those in global memory. All threads call.
  __device__ void flush(const Update& update) const {
    if (!hasEntries_) return;
    __syncthreads();
    if constexpr (addsInLoops<Update>) entries_.join(update);
    forSlotsInTurn(cacheEntries, blockIdx.x, gridDim.x, [&](unsigned entry) {
      const unsigned slot = slots_[entry];
      const Word word = entries_.word(update, entry);
      if (slot < table_.bins && word != update.neutral()) update.combine(table_.words + slot, word);
    });
  }

 private:
  __device__ static unsigned entryOf(unsigned slot) { return hashOf<cacheBits>(slot); }

  // The number of the slot's entry, or of entries if it has none.
  __device__ unsigned entry(unsigned slot) const {
    const unsigned entry = entryOf(slot);
    return slots_[entry] == slot ? entry : cacheEntries;
  }

  // Two slots of a step, and whether all of its elements have one slot, which had no entry before.
  struct Choice : SampledSlots {
    bool isNewRun;
  };

  // The slots of a step get entries, which may replace others.
  template <class Source>
  __device__ Choice chooseSlots(const Source& source, std::size_t s) const {
    typename Source::Step step;
    typename Source::Value values[Source::STEP];
    source.template load<Caching::stream>(step, s);
    source.values(step, values);
    Choice choice{
        {{values[0].slot, values[Source::STEP / 2].slot}},
        Source::STEP > 1 && values[0].slot < table_.bins && isRun<Source::STEP>([&](int i) { return values[i].slot; })};
#pragma unroll
    for (int i = 0; i < Source::STEP; ++i) {
      const unsigned slot = values[i].slot;
      if (slot >= table_.bins || (i > 0 && slot == choice.slots[0])) continue;
      if (atomicExch(slots_ + entryOf(slot), slot) == slot) choice.isNewRun = false;
    }
    return choice;
  }

  WordTable<Word> table_;
  unsigned* slots_;  // of the entries
  Entries entries_;
  bool hasEntries_;
};

template <class Update>
inline constexpr bool combinesEnds<CachedWords<Update>> = addsInLoops<Update>;

template <class Source, class Update>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    globalReduceByKernel(const Source source, const StepArgs steps, const std::size_t n, Update update,
                         const WordTable<typename Update::Word> table, const bool hasEntries) {
  waitForPreviousKernel();
  if (!update.start(n)) return;
  CachedWords<Update> words(table, hasEntries);
  words.template fill<!isLongSum<Update>>(update, source, steps);  // registers of sums of 64 bits do not suffice
  takeAll(update, words, BinRange{0, table.bins}, source, steps, 1);
  update.end();
  words.flush(update);
}

GPUOPT_DETAIL_END
