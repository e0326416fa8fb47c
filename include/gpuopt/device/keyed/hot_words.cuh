/// \file
/// Words of a block for updates that are loops, in which threads wait for each other at a frequent key. A block finds
/// such keys in a sample of its input, and gives each of them a word for every lane.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The upper BITS bits of a product with the golden ratio, which spreads neighbouring slots.
template <unsigned BITS>
__device__ inline unsigned hashOf(unsigned slot) {
  return slot * 0x9E3779B1u >> (32 - BITS);
}

// A thread's step `number` of `count` that are sampled, evenly spread over at least `count` steps a thread. Blocks of
// one `seed` sample the same steps, which then come from L2.
__device__ inline std::size_t sampledStep(const StepArgs& steps, unsigned number, unsigned count, unsigned seed) {
  const std::size_t every = (steps.end - steps.first) / (std::size_t{count} * blockDim.x);
  return steps.first + (std::size_t{number} * blockDim.x + threadIdx.x) * every + (threadIdx.x * 61 + seed) % every;
}

// Two slots of a thread's sampled step.
struct SampledSlots {
  unsigned slots[2];
};

template <class Source>
__device__ inline SampledSlots sampleSlots(const Source& source, const StepArgs& steps, const BinRange& range) {
  typename Source::Step step;
  typename Source::Value values[Source::STEP];
  source.template load<Caching::stream>(step, sampledStep(steps, 0, 1, 0));
  source.values(step, values);
  return {{range.own(values[0].slot), range.own(values[Source::STEP / 2].slot)}};
}

// A block's words in shared memory in one or more copies, which its warps have in turn.
template <class Update>
class CopiedWords {
 public:
  using Word = typename Update::Word;
  static constexpr bool ADDS_EARLY = false;
  static constexpr bool FINDS_HOT = false;

  __device__ CopiedWords(const WordTable<Word>&, const BinRange& range, unsigned copies)
      : words_(&keepAddress(*dynamicShared<Word>())),
        slots_(range.words()),
        copies_(copies),
        own_(threadIdx.x / 32 % copies * slots_) {}

  __device__ void clear(const Update& update) const {
    for (unsigned i = threadIdx.x; i < copies_ * slots_; i += blockDim.x) words_[i] = update.neutral();
  }

  template <int COUNT>
  __device__ void add(const Update& update, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) update.combine(words_ + own_ + slots[i], words[i]);
  }

  __device__ Word word(const Update& update, unsigned slot) const {
    Word word = words_[slot];
    for (unsigned copy = 1; copy < copies_; ++copy) word = update.combined(word, words_[copy * slots_ + slot]);
    return word;
  }

 protected:
  Word* words_;
  unsigned slots_, copies_, own_;
};

// The same; then the words of frequent slots, and tables of these slots.
// A frequent slot is in one of 32 sets of two, by its hash: each bank has one set, so that looking it up has no bank
// conflicts. Sets of four take 420 us instead of 394 for Zipf's distribution over 2^15 bins (H100, 2026-11-27).
template <class Update>
class HotWords : public CopiedWords<Update> {
  using Copied = CopiedWords<Update>;
  using Copied::copies_;
  using Copied::own_;
  using Copied::slots_;
  using Copied::words_;

 public:
  using Word = typename Update::Word;
  static constexpr bool FINDS_HOT = true;
  static constexpr std::size_t hotBytes = hotKeys * 32 * sizeof(Word) + (hotKeys + 2 * hotSets) * sizeof(unsigned);

  __device__ HotWords(const WordTable<Word>& table, const BinRange& range, unsigned copies)
      : Copied(table, range, copies), bins_(range.bins), isPlain_(range.bins == table.bins) {}

  // Finds the frequent slots of a sample. All threads call, before they clear.
  __device__ void find(SampledSlots sample) {
    if (sample.slots[1] == sample.slots[0]) sample.slots[1] = ~0u;  // probably of a run
    const unsigned minCount = minHotSamples + hotSamplesOfBins / bins_;
    for (unsigned i = threadIdx.x; i < hotSets + hotKeys; i += blockDim.x) tags()[i] = ~0u;
    for (unsigned i = threadIdx.x; i < hotSets; i += blockDim.x) sizes()[i] = 0;
    for (const unsigned slot : sample.slots)
      if (slot < bins_) counter(slot) = 0;
    __syncthreads();
    bool found = false;
    for (const unsigned slot : sample.slots)
      if (slot < bins_ && atomicAdd(&counter(slot), 1u) == minCount - 1) {
        insert(slot);
        found = true;
      }
    hasHot_ = __syncthreads_or(found ? 1 : 0) != 0;
    isPlain_ = isPlain_ && !hasHot_;
  }

  __device__ void clear(const Update& update) const {
    const unsigned end = copies_ * slots_ + (hasHot_ ? hotKeys * 32 : 0);
    for (unsigned i = threadIdx.x; i < end; i += blockDim.x) words_[i] = update.neutral();
  }

  template <int COUNT>
  __device__ void add(const Update& update, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
    if (isPlain_) return Copied::add(update, slots, words);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (slots[i] >= bins_) continue;  // words for bins of other groups would be frequent ones, too
      unsigned index = own_ + slots[i];
      if (hasHot_) index = hotIndex(slots[i], index);
      update.combine(words_ + index, words[i]);
    }
  }

  // Adds the words of frequent slots to those of their bins. All threads call, between barriers.
  __device__ void join(const Update& update) const {
    if (!hasHot_) return;
    for (unsigned key = threadIdx.x / 32; key < hotKeys; key += blockDim.x / 32) {
      const unsigned slot = hotSlots()[key];
      if (slot >= bins_) continue;
      Word word = words_[copies_ * slots_ + key * 32 + static_cast<unsigned>(laneIndex())];
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) word = update.combined(word, shuffleXor(word, distance));
      if (laneIndex() == 0) words_[slot] = update.combined(words_[slot], word);
    }
    __syncthreads();
  }

 private:
  __device__ static unsigned setOf(unsigned slot) { return hashOf<hotSetBits>(slot); }

  // Two slots of a set in a word, of 16 bits each.
  __device__ unsigned* tags() const { return reinterpret_cast<unsigned*>(words_ + copies_ * slots_ + hotKeys * 32); }
  __device__ unsigned* hotSlots() const { return tags() + hotSets; }
  __device__ unsigned* sizes() const { return hotSlots() + hotKeys; }  // of sets; above hotWays if one was full

  // A sample is counted in the words.
  __device__ unsigned& counter(unsigned slot) const {
    return reinterpret_cast<unsigned*>(words_)[slot * (sizeof(Word) / sizeof(unsigned))];
  }

  __device__ void insert(unsigned slot) const {
    const unsigned set = setOf(slot), way = atomicAdd(sizes() + set, 1u);
    if (way >= hotWays) return;
    hotSlots()[hotWays * set + way] = slot;
    atomicAnd(tags() + set, way == 0 ? 0xffff0000u | slot : slot << 16 | 0xffffu);
  }

  // The index of the lane's word if the slot is frequent, else the other one.
  __device__ unsigned hotIndex(unsigned slot, unsigned other) const {
    const auto lane = static_cast<unsigned>(laneIndex());
    const unsigned set = setOf(slot), both = tags()[set];
    const bool isSecond = both >> 16 == slot;
    const unsigned own = copies_ * slots_ + (hotWays * set + (isSecond ? 1 : 0)) * 32 + lane;
    return isSecond || (both & 0xffff) == slot ? own : other;
  }

  unsigned bins_;
  bool isPlain_;  // without frequent keys, and without bins of other groups
  bool hasHot_ = false;
};

GPUOPT_DETAIL_END
