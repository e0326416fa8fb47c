/// \file
/// What histograms count in: a block's counters in shared memory, of 32 bits in one or more copies, or of 16 bits, two
/// in a word; or the result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/histogram.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The slots of an element that counts once in each of several channels.
template <int CHANNELS>
struct ChannelSlots {
  unsigned slots[CHANNELS];
};

// Sets the first words of dynamic shared memory to zero, rounded up to a vector.
__device__ inline void clearShared(unsigned words) {
  auto* const vectors = dynamicShared<uint4>();
  for (unsigned i = threadIdx.x; i < (words + 3) / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
}

// Calls use(slot) for each slot, a block from others on than its neighbours: atomics on one address come at different
// times. (A product that wraps around is as good a place to begin.)
template <class Use>
__device__ inline void forSlotsInTurn(unsigned slots, unsigned block, unsigned blocks, const Use& use) {
  const unsigned shift = block * slots / blocks & ~31u;
  for (unsigned i = threadIdx.x; i < slots; i += blockDim.x) use(i + shift < slots ? i + shift : i + shift - slots);
}

// What a block adds to the result: the count of every slot. If it alone STORES the result, they are set to it.
template <bool STORES, class Count, class CountOf>
__device__ inline void addToResult(Count* counts, unsigned slots, unsigned block, unsigned blocks,
                                   const CountOf& countOf) {
  if constexpr (STORES)
    for (unsigned i = threadIdx.x; i < slots; i += blockDim.x) counts[i] = static_cast<Count>(countOf(i));
  else
    forSlotsInTurn(slots, block, blocks, [&](unsigned slot) {
      if (const unsigned count = countOf(slot); count != 0) addCount(counts + slot, count);
    });
}

// Neighbouring elements of a thread that are one update if they have one slot: lanes that update a cell wait for each
// other.
template <int COUNT>
inline constexpr int runOf = COUNT % 4 == 0 ? 4 : 1;

template <int RUN, class SlotOf>
__device__ inline bool isRun(const SlotOf& slotOf) {
  bool is = true;
#pragma unroll
  for (int i = 1; i < RUN; ++i) is = is && slotOf(i) == slotOf(0);
  return is;
}

// Counts the slots of elements one by one, by add(slot) of the counters that derive from it.
template <class Counters>
struct EachSlot {
  template <int COUNT>
  __device__ void take(const unsigned (&slots)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) static_cast<const Counters&>(*this).add(slots[i]);
  }

  template <int CHANNELS, int COUNT>
  __device__ void take(const ChannelSlots<CHANNELS> (&elements)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) take(elements[i].slots);
  }
};

// Kernels of histograms count in one of the following. Each says
//   Args                 what a kernel is given, from which a block makes the counters
//   IS_SHARED            whether its cells are in shared memory
//   ITEMS<Source>        steps of a thread at a time
//   block(), blocks()    which block this is of those that count the same slots
//   take(values)         counts elements
//   endTile()            after ITEMS steps
//   FOLLOWS_RUNS         whether the kernel before may have counted an input of runs (runs.cuh)
// and if they are in shared memory
//   clear()
//   addTo(block, blocks) adds the block's counts to the result

template <class Count>
struct SlotsArgs {
  unsigned slots;
  Count* counts;
};

// All blocks count all slots.
struct AllBlocks {
  static constexpr bool FOLLOWS_RUNS = false;
  template <class Source>
  static constexpr int ITEMS = keyedItems<Source>;
  __device__ static unsigned block() { return blockIdx.x; }
  __device__ static unsigned blocks() { return gridDim.x; }
  __device__ static void endTile() {}
};

// A counter of 32 bits for each slot, and one more for elements in no slot: a condition would make each update a
// branch. A single block stores the counts.
template <bool STORES, class Count>
class SharedCounters : public AllBlocks, public EachSlot<SharedCounters<STORES, Count>> {
 public:
  static constexpr bool IS_SHARED = true;
  using Args = SlotsArgs<Count>;

  __device__ explicit SharedCounters(const Args& args) : args_(args), cells_(dynamicShared<unsigned>()) {}

  __device__ void clear() const { clearShared(sharedCounterWords(args_.slots)); }
  __device__ void add(unsigned slot) const { cells_.increment(slot); }
  __device__ void addTo(unsigned block, unsigned blocks) const {
    addToResult<STORES>(args_.counts, args_.slots, block, blocks,
                        [](unsigned slot) { return dynamicShared<unsigned>()[slot]; });
  }

 private:
  Args args_;
  SharedCounts cells_;
};

// The slots of the values of a byte: f of an element of one byte.
template <class T, class F>
struct ByteSlots {
  static constexpr unsigned VALUES = 256;
  F f;

  __device__ unsigned operator()(unsigned value) const {
    alignas(T) const unsigned char byte[1] = {static_cast<unsigned char>(value)};
    return f(*reinterpret_cast<const T*>(byte));
  }
};

template <class SlotOf, class Count>
struct ByteArgs {
  SlotOf slotOf;
  unsigned slots;
  Count* counts;
};

// Counters of 32 bits for each of the 256 values of a byte, in each channel, one after the other: a lane has one of its
// own. They go to the slots of the values in the end.
template <class SlotOf, class Count>
class ByteCounters : public AllBlocks {
 public:
  static constexpr bool IS_SHARED = true;
  using Args = ByteArgs<SlotOf, Count>;

  __device__ explicit ByteCounters(const Args& args) : args_(args), own_(dynamicShared<unsigned>() + laneIndex()) {}

  __device__ void clear() const { clearShared(SlotOf::VALUES * byteCopies); }

  template <class Bytes, int COUNT>
  __device__ void take(const Bytes (&elements)[COUNT]) const {
    constexpr unsigned CHANNELS = sizeof(Bytes);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(elements);
#pragma unroll
    for (unsigned i = 0; i < COUNT * CHANNELS; ++i) own_.increment((bytes[i] + i % CHANNELS * 256) * byteCopies);
  }

  // A warp has a value.
  __device__ void addTo(unsigned, unsigned) const {
    for (unsigned value = threadIdx.x / 32; value < SlotOf::VALUES; value += blockDim.x / 32) {
      const unsigned copy = value * byteCopies + static_cast<unsigned>(laneIndex());
      const unsigned count = warpReduce(dynamicShared<unsigned>()[copy], Plus{});
      if (laneIndex() > 0 || count == 0) continue;
      const unsigned slot = args_.slotOf(value);
      if (slot < args_.slots) addCount(args_.counts + slot, count);
    }
  }

 private:
  const Args& args_;
  SharedCounts own_;
};

// Block b counts the slots of group b % groups.
template <class Count>
struct PackedArgs {
  unsigned slots;
  Count* counts;
  unsigned groups;
  unsigned groupSlots;
  bool followsRuns;  // the kernel before has counted if the input consists of runs
};

// Counters of 16 bits for some of the slots, the lower halves of all words before the upper ones. One that wraps around
// gives 2^16 to the result: the update that does it sees that by the old word. A lower half then carries into the upper
// one, too, which is taken back; either may wrap the upper half around, once up and once down.
template <std::size_t CHANNELS, class Count>
class PackedCounters : public EachSlot<PackedCounters<CHANNELS, Count>> {
 public:
  static constexpr bool IS_SHARED = true;
  static constexpr bool FOLLOWS_RUNS = CHANNELS == 1;
  using Args = PackedArgs<Count>;
  template <class Source>
  static constexpr int ITEMS = clampTo(static_cast<int>(maxPackedStep / (Source::STEP * CHANNELS)), 1,
                                       keyedItems<Source>);

  __device__ explicit PackedCounters(const Args& args)
      : args_(args), first_(blockIdx.x % args.groups * args.groupSlots), halves_(dynamicShared<unsigned>()) {
    const unsigned end = first_ + args.groupSlots < args.slots ? first_ + args.groupSlots : args.slots;
    slots_ = end - first_;
    half_ = (slots_ + 1) / 2;
  }

  __device__ unsigned block() const { return blockIdx.x / args_.groups; }
  __device__ unsigned blocks() const { return gridDim.x / args_.groups; }
  __device__ static void endTile() {}
  __device__ void clear() const { clearShared(half_ + 32); }

  __device__ void add(unsigned slot) const {
    const unsigned slots[1] = {slot};
    addRun(slots);
  }

  using EachSlot<PackedCounters>::take;
  template <int COUNT>
  __device__ void take(const unsigned (&values)[COUNT]) const {
    constexpr int RUN = runOf<COUNT>;
#pragma unroll
    for (int begin = 0; begin < COUNT; begin += RUN) {
      unsigned slots[RUN];
#pragma unroll
      for (int i = 0; i < RUN; ++i) slots[i] = values[begin + i];
      addRun(slots);
    }
  }

  __device__ void addTo(unsigned block, unsigned blocks) const {
    const unsigned half = half_;
    addToResult<false>(args_.counts + first_, slots_, block, blocks, [half](unsigned own) {
      return dynamicShared<unsigned>()[own < half ? own : own - half] >> (own < half ? 0 : 16) & 0xffff;
    });
  }

 private:
  static constexpr unsigned TOPS = 0x80008000u;  // the highest bits of the halves

  // The highest bits of the halves that before + added has wrapped around,
  __device__ static unsigned wrappedBySum(unsigned before, unsigned added) {
    return ((before & added) | ((before | added) & ~(before + added))) & TOPS;
  }
  // and before - taken.
  __device__ static unsigned wrappedByDifference(unsigned before, unsigned taken) {
    return ((~before & taken) | (~(before ^ taken) & (before - taken))) & TOPS;
  }

  // Neighbours of one slot are one update: the first one's. No update waits for the one before.
  template <int RUN>
  __device__ void addRun(const unsigned (&slots)[RUN]) const {
    unsigned indices[RUN], added[RUN], wrapped[RUN];
    const bool isOneRun = RUN > 1 && isRun<RUN>([&](int i) { return slots[i]; });
#pragma unroll
    for (int i = 0; i < RUN; ++i) added[i] = place(slots[i], i == 0 && isOneRun ? RUN : 1, indices[i]);
    wrapped[0] = halves_.add(indices[0], added[0]);
    if (isOneRun) {
#pragma unroll
      for (int i = 1; i < RUN; ++i) wrapped[i] = added[i] = 0;
    } else {
#pragma unroll
      for (int i = 1; i < RUN; ++i) wrapped[i] = halves_.add(indices[i], added[i]);
    }
    unsigned any = 0;
#pragma unroll
    for (int i = 0; i < RUN; ++i) any |= wrapped[i] = wrappedBySum(wrapped[i], added[i]);
    if (any == 0) return;
#pragma unroll
    for (int i = 0; i < RUN; ++i)
      if (wrapped[i] != 0) settle(indices[i], wrapped[i]);
  }

  // What is added at which index. Nothing is added for other slots, in words that nobody reads, one for each lane: a
  // condition would make an update a branch.
  __device__ unsigned place(unsigned slot, unsigned count, unsigned& index) const {
    const unsigned own = slot - first_;
    const bool isUpper = own >= half_, isOwn = own < slots_;
    index = isOwn ? (isUpper ? own - half_ : own) : half_ + static_cast<unsigned>(laneIndex());
    return isOwn ? (isUpper ? count << 16 : count) : 0;
  }

  __device__ void settle(unsigned index, unsigned wrapped) const {
    giveWrapped(index, wrapped, 1u << 16);
    if ((wrapped & 0x8000) == 0) return;
    const unsigned before = halves_.add(index, 0u - (1u << 16));
    giveWrapped(index, wrappedByDifference(before, 1u << 16), 0u - (1u << 16));
  }

  // To the results of the halves that have wrapped around.
  __device__ void giveWrapped(unsigned index, unsigned wrapped, unsigned amount) const {
    using Result = std::conditional_t<sizeof(Count) == 4, unsigned, unsigned long long>;
    const auto given = static_cast<Result>(static_cast<long long>(static_cast<int>(amount)));
    auto* const results = reinterpret_cast<Result*>(args_.counts + first_ + index);
    if ((wrapped & 0x8000) != 0) atomicAdd(results, given);
    if (wrapped >> 31 != 0) atomicAdd(results + half_, given);
  }

  Args args_;
  unsigned first_, slots_, half_;
  SharedCounts halves_;
};

// Counters in global memory.
template <class Count>
class GlobalCounters : public AllBlocks, public EachSlot<GlobalCounters<Count>> {
 public:
  static constexpr bool IS_SHARED = false;
  using Args = SlotsArgs<Count>;

  __device__ explicit GlobalCounters(const Args& args) : args_(args) {}

  __device__ void add(unsigned slot) const {
    if (slot < args_.slots) addCount(args_.counts + slot, 1);
  }

 private:
  Args args_;
};

GPUOPT_DETAIL_END
