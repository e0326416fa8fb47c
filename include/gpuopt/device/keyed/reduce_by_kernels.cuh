/// \file
/// The kernels of reduceBy: the loads of a histogram, with other updates (device/keyed/reduce_by_update.cuh).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/keyed/bins.cuh>
#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/keyed/long_words.cuh>
#include <gpuopt/device/keyed/reduce_by_update.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A value and the slot of its key: the number of its bin, or of bins if it is in none.
template <class A>
struct KeyedValue {
  unsigned slot;
  A value;
};

// Keys are an input of their own,
template <class A>
struct KeyedByInput {
  unsigned bins;
  template <class T, class Key>
  __device__ KeyedValue<A> operator()(const T& value, const Key& key) const {
    return {slotOf<false>(key, bins), static_cast<A>(value)};
  }
};

// or a function of the value.
template <class A, class BinOf>
struct KeyedByFunction {
  BinOf binOf;
  unsigned bins;
  template <class T>
  __device__ KeyedValue<A> operator()(const T& value) const {
    return {slotOf<false>(binOf(value), bins), static_cast<A>(value)};
  }
};

// Words of a block for `bins` bins and for values of no bin: an even number.
template <class N>
__host__ __device__ constexpr N reduceByWords(N bins) {
  return (bins + 1) / 2 * 2 + 32;
}

// Where words of all blocks are combined, in global memory.
template <class Word>
struct WordTable {
  Word* words;
  unsigned bins;
};

// The bins [first, first + bins), which a block combines in shared memory.
struct BinRange {
  unsigned first;
  unsigned bins;

  // Of a slot of all bins: the number within the range, or one of the lane's own from `bins` on if it is in another
  // one.
  __device__ unsigned own(unsigned slot) const {
    const unsigned other = bins + static_cast<unsigned>(laneIndex());
    return slot - first < bins ? slot - first : other;
  }

  __device__ unsigned words() const { return reduceByWords(bins); }
};

// How a block combines in shared memory.
struct ReduceByArgs {
  unsigned groups;     // of blocks, which combine the bins of a range each
  unsigned groupBins;  // of a range
  unsigned copies;     // of a block's words, which its warps have in turn
  bool followsClearing;
  bool findsHot = false;  // whether blocks look for frequent keys (hot_words.cuh)

  __device__ BinRange range(unsigned bins) const {
    const unsigned first = blockIdx.x % groups * groupBins;
    return {first, bins - first < groupBins ? bins - first : groupBins};
  }
};

// A block's words in shared memory, one for each bin, and one for each lane's values of no bin: a condition would make
// each update a branch.
template <class Update>
class BlockWords {
 public:
  using Word = typename Update::Word;
  static constexpr bool ADDS_EARLY = false;  // whether something is added to the table before the end
  static constexpr bool FINDS_HOT = false;   // whether frequent keys can have words of their own

  __device__ BlockWords(const WordTable<Word>&, const BinRange& range, unsigned)
      : words_(&keepAddress(*dynamicShared<Word>())), slots_(range.words()) {}

  __device__ void clear(const Update& update) const {
    for (unsigned i = threadIdx.x; i < slots_; i += blockDim.x) words_[i] = update.neutral();
  }

  template <int COUNT>
  __device__ void add(const Update& update, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) update.combine(words_ + slots[i], words[i]);
  }

  __device__ Word word(const Update&, unsigned slot) const { return words_[slot]; }

 private:
  Word* words_;
  unsigned slots_;
};

// Sums of 64 bits (long_words.cuh).
template <class Update>
class BlockLongSums {
 public:
  using Word = unsigned long long;
  static constexpr bool ADDS_EARLY = false;
  static constexpr bool FINDS_HOT = false;

  __device__ BlockLongSums(const WordTable<Word>&, const BinRange& range, unsigned) : words_(range.words()) {}

  __device__ void clear(const Update&) const { words_.clear(); }

  template <int COUNT>
  __device__ void add(const Update&, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
    words_.add(slots, words);
  }

  __device__ Word word(const Update&, unsigned slot) const { return words_.word(slot); }

 private:
  LongWords words_;
};

// The same in 48 bits. Carries are added to the table; they are rare, as each stands for 2^48 of at most 2^62.
template <class Update>
class BlockShortSums {
 public:
  using Word = unsigned long long;
  static constexpr bool ADDS_EARLY = true;
  static constexpr bool FINDS_HOT = false;

  __device__ BlockShortSums(const WordTable<Word>& table, const BinRange& range, unsigned)
      : result_(table.words + range.first), words_(range.words()), bins_(range.bins) {}

  __device__ void clear(const Update&) const { words_.clear(0); }

  template <int COUNT>
  __device__ void add(const Update&, const unsigned (&slots)[COUNT], const Word (&words)[COUNT]) const {
    words_.add(slots, words, [this](unsigned slot, int carry) {
      if (slot < bins_ && carry != 0) atomicAdd(result_ + slot, static_cast<Word>(static_cast<long long>(carry)) << 48);
    });
  }

  __device__ Word word(const Update&, unsigned slot) const { return words_.word(slot); }

 private:
  Word* result_;
  ShortWords words_;
  unsigned bins_;
};

// No instruction adds floating-point numbers in shared memory, either.
template <class Update>
inline constexpr bool addsInLoops = std::is_floating_point_v<typename Update::Word>;
template <class Op, class A>
inline constexpr bool addsInLoops<OperationUpdate<Op, A>> = !isBitOperation<Op>;

template <class Update>
inline constexpr bool isLongSum =
    std::is_same_v<Update, DirectSum<long long>> || std::is_same_v<Update, DirectSum<unsigned long long>> ||
    std::is_same_v<Update, DirectSum<long>> || std::is_same_v<Update, DirectSum<unsigned long>>;
template <class A>
inline constexpr bool isLongSum<FixedPointSum<A>> = true;

template <class Update>
class HotWords;

template <class Update>
using SharedWords = std::conditional_t<isLongSum<Update>, BlockLongSums<Update>,
                                       std::conditional_t<addsInLoops<Update>, HotWords<Update>, BlockWords<Update>>>;

// One word of all elements.
template <class Update, int COUNT>
__device__ inline typename Update::Word combinedWord(const Update& update,
                                                     const typename Update::Word (&words)[COUNT]) {
  typename Update::Word all = words[0];
#pragma unroll
  for (int i = 1; i < COUNT; ++i) all = update.combined(all, words[i]);
  return all;
}

// Whether a lane between two runs combines the words of both before it adds them: where an addition takes many
// instructions, or is one of global memory. Integers in 2^16 to 2^18 bins would take up to 20 % longer.
template <class Words>
inline constexpr bool combinesEnds = false;

// Combines the words of a lane's first key, and those of its last one; whether it has no other.
template <class Update, int COUNT>
__device__ inline bool combineEnds(const Update& update, const unsigned (&keys)[COUNT],
                                   const typename Update::Word (&words)[COUNT], typename Update::Word& first,
                                   typename Update::Word& last) {
  first = words[0], last = words[COUNT - 1];
  bool areTwo = true;
#pragma unroll
  for (int i = 1; i < COUNT - 1; ++i) {
    const bool isFirst = keys[i] == keys[0];
    areTwo = areTwo && (isFirst || keys[i] == keys[COUNT - 1]);
    (isFirst ? first : last) = update.combined(isFirst ? first : last, words[i]);
  }
  return areTwo;
}

// Combines the words of neighbouring lanes with the same key: `first` is the word of a lane's first key, `last` that of
// its last one, to which the words of the lanes above are added. Returns whether this lane is the first with its first
// key.
template <bool HAS_ENDS, class Update>
__device__ inline bool combineLanes(const Update& update, unsigned firstKey, unsigned lastKey,
                                    typename Update::Word first, typename Update::Word& last) {
  const auto lane = static_cast<unsigned>(laneIndex());
  const unsigned below = __shfl_up_sync(fullMask, lastKey, 1);
  const bool begins = lane == 0 || below != firstKey;
  const unsigned ends = __ballot_sync(fullMask, begins) >> 1 | 1u << 31;  // of last keys
  const unsigned firstEnds = HAS_ENDS ? ends | __ballot_sync(fullMask, firstKey != lastKey) : ends;
  const unsigned following = static_cast<unsigned>(__ffs(static_cast<int>(firstEnds >> lane))) - 1;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const auto other = shuffleDown(first, distance);
    if (distance <= following) first = update.combined(first, other);
  }
  if constexpr (HAS_ENDS) {
    const auto other = shuffleDown(first, 1);
    if ((ends >> lane & 1) == 0) last = update.combined(last, other);
  } else {
    last = first;
  }
  return begins;
}

// Neighbouring elements of one bin are combined before they go to its word: lanes that update one word wait for each
// other. First four of a lane, then, if all lanes call and most of them have such a run, those of neighbouring lanes;
// the lanes between two runs have two keys.
template <bool ALL_LANES, class Update, class Words, class A, int COUNT>
__device__ inline void takeKeyed(Update& update, const Words& words, const BinRange& range,
                                 const KeyedValue<A> (&values)[COUNT]) {
  using Word = typename Update::Word;
  constexpr int RUN = runOf<COUNT>;
  constexpr unsigned NOTHING = 1u << 31;  // a key without a word, as noKey is
  const unsigned noKey = ~static_cast<unsigned>(laneIndex());
#pragma unroll
  for (int begin = 0; begin < COUNT; begin += RUN) {
    unsigned slots[RUN];
    Word own[RUN];
    bool isRun = true;
#pragma unroll
    for (int i = 0; i < RUN; ++i) {
      own[i] = update.word(values[begin + i].value, values[begin + i].slot);
      slots[i] = range.own(values[begin + i].slot);
      isRun = isRun && slots[i] == slots[0];
    }
    unsigned key[1] = {isRun ? slots[0] : noKey};  // of `all`
    Word all[1] = {own[0]};
    if (RUN > 1 && isRun) all[0] = combinedWord(update, own);
    if (ALL_LANES && RUN > 1 && __popc(__ballot_sync(fullMask, isRun)) >= minCombinedLanes) {
      constexpr bool HAS_ENDS = combinesEnds<Words>;
      unsigned firstKey[1] = {key[0]};
      Word first[1] = {all[0]};
      if constexpr (HAS_ENDS)
        if (!isRun && combineEnds(update, slots, own, first[0], all[0]))
          firstKey[0] = slots[0], key[0] = slots[RUN - 1];
      const bool begins = combineLanes<HAS_ENDS>(update, firstKey[0], key[0], first[0], all[0]);
      if (HAS_ENDS && begins && firstKey[0] != key[0]) words.add(update, firstKey, first);
      if (!begins && firstKey[0] == key[0]) key[0] = NOTHING;
    }
    if (static_cast<int>(key[0]) >= 0)
      words.add(update, key, all);
    else if (key[0] != NOTHING)
      words.add(update, slots, own);
  }
}

template <class Update, class Words, class Source>
__device__ inline void takeAll(Update& update, const Words& words, const BinRange& range, const Source& source,
                               const StepArgs& shape, unsigned groups) {
  const auto take = [&](const auto& values) { takeKeyed<true>(update, words, range, values); };
  const auto takeRest = [&](const auto& values) { takeKeyed<false>(update, words, range, values); };
  takeSteps<keyedItems<Source>>(source, shape, blockIdx.x / groups, gridDim.x / groups, take, NoTileEnd{}, takeRest);
}

// A block combines in its words, and then with the words of the others.
template <class Words, class Source, class Update>
__device__ inline void reduceInBlock(const Words& words, Update& update, const BinRange& range, const Source& source,
                                     const StepArgs& steps, const WordTable<typename Update::Word>& table,
                                     unsigned groups) {
  words.clear(update);
  __syncthreads();
  takeAll(update, words, range, source, steps, groups);
  update.end();
  __syncthreads();
  if constexpr (Words::FINDS_HOT) words.join(update);
  waitForPreviousKernel();
  forSlotsInTurn(range.bins, blockIdx.x, gridDim.x,
                 [&](unsigned bin) { update.combine(table.words + range.first + bin, words.word(update, bin)); });
}

template <class Words, class Source, class Update>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    sharedReduceByKernel(const Source source, const StepArgs steps, const std::size_t n, Update update,
                         const WordTable<typename Update::Word> table, const ReduceByArgs shape) {
  if (!shape.followsClearing || Words::ADDS_EARLY) waitForPreviousKernel();
  if (!update.start(n)) return;
  const BinRange range = shape.range(table.bins);
  Words words(table, range, shape.copies);
  if constexpr (Words::FINDS_HOT)
    if (shape.findsHot) words.find(sampleSlots(source, steps, range));
  reduceInBlock(words, update, range, source, steps, table, shape.groups);
}

// What eachCellKernel does with the words of bins: makes them of what is in `out`, which may be the same memory,
template <class Update, class A>
struct EncodeWords {
  static constexpr bool PREPARES = true;
  Update update;
  const A* out;
  typename Update::Word* words;

  __device__ void start() const {}
  __device__ void operator()(unsigned bin) const { words[bin] = update.word(out[bin], bin); }
};

// makes the results of them,
template <class Update, class A>
struct DecodeWords {
  static constexpr bool PREPARES = false;
  Update update;
  const typename Update::Word* words;
  A* out;

  __device__ void start() const {}
  __device__ void operator()(unsigned bin) const { out[bin] = update.value(words[bin], bin); }
};

// or of sums in fixed point: those of the second reading, if there was one. KEEPS adds them to what is there.
template <bool KEEPS, class A>
struct DecodeSums {
  static constexpr bool PREPARES = false;
  std::size_t n;
  FixedPointSum<A> first, again;
  const unsigned long long* sums;
  unsigned bins;
  A* out;
  bool isAgain = false;

  __device__ void start() {
    isAgain = again.start(n);
    if (!isAgain) first.start(n);
  }
  __device__ void operator()(unsigned bin) const {
    const A sum = isAgain ? again.value(sums[bins + bin], bin) : first.value(sums[bin], bin);
    out[bin] = KEEPS ? out[bin] + sum : sum;
  }
};

// The larger one of `maxBits` and the finite magnitudes in a bin.
template <class A, int COUNT>
__device__ inline void lookForMagnitude(const KeyedValue<A> (&values)[COUNT], unsigned bins,
                                        AtomicUnsigned<A>& maxBits) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const auto bits = magnitudeBits(values[i].value);
    maxBits = values[i].slot < bins && isFinite<A>(bits) && bits > maxBits ? bits : maxBits;
  }
}

// The largest finite magnitude in a bin, of every `every`th group of 32 steps; of all elements if that is 1.
template <class Source, class A>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    sampleMagnitudesKernel(const Source source, const StepArgs shape, const std::size_t every, const unsigned bins,
                           Magnitudes<A>* magnitudes) {
  using Bits = AtomicUnsigned<A>;
  __shared__ Bits maxBits;
  waitForPreviousKernel();
  if (threadIdx.x == 0) maxBits = 0;
  __syncthreads();
  Bits own = 0;
  const auto take = [&](const auto& values) { lookForMagnitude(values, bins, own); };
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t s = thread / 32 * every * 32 + thread % 32; s < shape.end; s += threads * every) {
    typename Source::Step step;
    source.template load<Caching::stream>(step, s);
    takeStep(source, step, take);
  }
  if (every == 1 && blockIdx.x == 0) takeEdge(source, shape, take);
  atomicMax(&maxBits, own);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&magnitudes->sampled, maxBits);
}

GPUOPT_DETAIL_END
