/// \file
/// A block's counters in shared memory: of 32 bits in one or more copies, or of 16 bits, two in a word.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/histogram.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/keyed/tuning.cuh>
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

// What a block adds to the result: `count` of every slot, from slots on that differ between blocks, so that atomics on
// one address come at different times.
template <bool STORES, class Count, class CountOf>
__device__ inline void addToResult(Count* counts, unsigned slots, unsigned block, unsigned blocks,
                                   const CountOf& countOf) {
  const auto shift = static_cast<unsigned>(static_cast<std::size_t>(block) * slots / blocks) & ~31u;
  for (unsigned i = threadIdx.x; i < slots; i += blockDim.x) {
    const unsigned slot = i + shift < slots ? i + shift : i + shift - slots;
    const unsigned count = countOf(slot);
    if constexpr (STORES)
      counts[slot] = static_cast<Count>(count);
    else if (count != 0)
      addCount(counts + slot, count);
  }
}

// A counter of 32 bits for each slot, and one more for elements in no slot: a condition would make each update a
// branch.
class SharedCounters {
 public:
  __device__ SharedCounters() : counts_(dynamicShared<unsigned>()) {}

  template <int COUNT>
  __device__ void take(const unsigned (&values)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) counts_.increment(values[i]);
  }

  template <int CHANNELS, int COUNT>
  __device__ void take(const ChannelSlots<CHANNELS> (&values)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) take(values[i].slots);
  }

 private:
  SharedCounts counts_;
};

// Counters of 32 bits for each of the 256 values of a byte, in each channel, one after the other: a lane has one of its
// own.
class ByteCounters {
 public:
  __device__ ByteCounters() : counts_(dynamicShared<unsigned>() + laneIndex()) {}

  template <class Bytes, int COUNT>
  __device__ void take(const Bytes (&elements)[COUNT]) const {
    constexpr unsigned CHANNELS = sizeof(Bytes);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(elements);
#pragma unroll
    for (unsigned i = 0; i < COUNT * CHANNELS; ++i) counts_.increment((bytes[i] + i % CHANNELS * 256) * byteCopies);
  }

  // Of a value, 256 * channel + byte, in lane 0; the whole warp calls.
  __device__ static unsigned count(unsigned value) {
    return warpReduce(dynamicShared<unsigned>()[value * byteCopies + static_cast<unsigned>(laneIndex())], Plus{});
  }

 private:
  SharedCounts counts_;
};

// The slots of those values: f of an element of one byte.
template <class T, class F>
struct ByteSlots {
  static constexpr unsigned VALUES = 256;
  F f;
  unsigned slots;

  __device__ unsigned operator()(unsigned value) const {
    alignas(T) const unsigned char byte[1] = {static_cast<unsigned char>(value)};
    return f(*reinterpret_cast<const T*>(byte));
  }
};

// Counters of 16 bits for the slots [first, first + slots), the lower halves of all words before the upper ones. The
// update that takes a half to packedLimit moves that number to the result. Between two barriers a block makes no more
// than packedLimit updates, so no half overflows.
template <class Count>
struct PackedCounters {
  unsigned first;
  unsigned slots;
  Count* counts;
  SharedCounts halves;

  // Other slots are counted in words that nobody reads, one for each lane: a condition would make an update a branch.
  __device__ void add(unsigned slot, unsigned count) const {
    const unsigned own = slot - first, half = (slots + 1) / 2;
    const bool isUpper = own >= half, isOwn = own < slots;
    const unsigned word = isUpper ? own - half : own;
    const unsigned index = isOwn ? word : half + static_cast<unsigned>(laneIndex());
    const unsigned added = isUpper ? count << 16 : count;
    const unsigned before = halves.add(index, added);
    constexpr unsigned LIMITS = packedLimit << 16 | packedLimit;
    if ((((before + added) ^ before) & LIMITS) == 0 || !isOwn) return;  // goes on if this update has set the bit
    halves.add(index, 0u - (isUpper ? packedLimit << 16 : packedLimit));
    addCount(counts + slot, packedLimit);
  }

  // One update for neighbouring elements of one slot: those of different lanes would wait for each other.
  template <int COUNT>
  __device__ void take(const unsigned (&values)[COUNT]) const {
    constexpr int RUN = COUNT % 4 == 0 ? 4 : 1;
#pragma unroll
    for (int begin = 0; begin < COUNT; begin += RUN) {
      bool isRun = true;
#pragma unroll
      for (int i = 1; i < RUN; ++i) isRun = isRun && values[begin + i] == values[begin];
      if (isRun) {
        add(values[begin], RUN);
      } else {
#pragma unroll
        for (int i = 0; i < RUN; ++i) add(values[begin + i], 1);
      }
    }
  }

  template <int CHANNELS, int COUNT>
  __device__ void take(const ChannelSlots<CHANNELS> (&values)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) add(values[i].slots[c], 1);
  }

  __device__ unsigned count(unsigned own) const {
    const unsigned half = (slots + 1) / 2;
    return dynamicShared<unsigned>()[own < half ? own : own - half] >> (own < half ? 0 : 16) & 0xffff;
  }
};

GPUOPT_DETAIL_END
