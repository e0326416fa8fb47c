/// \file
/// Sums of 64 or 48 bits in shared memory, which has an instruction that adds 32 bits.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>

GPUOPT_DETAIL_BEGIN

// The lower halves of sums of 64 bits. No instruction adds 64 bits in shared memory; it would be a loop, in which lanes
// that add to one word wait for each other.
class LowerHalves {
 public:
  __device__ LowerHalves() : low_(&keepAddress(*dynamicShared<unsigned>())) {}

  // Adds, and returns what the upper halves get: their own part, and a carry where the lower half has wrapped around.
  template <int COUNT>
  __device__ void add(const unsigned (&slots)[COUNT], const unsigned long long (&words)[COUNT],
                      unsigned (&upper)[COUNT]) const {
    unsigned before[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) before[i] = atomicAdd(low_ + slots[i], static_cast<unsigned>(words[i]));
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const bool carries = before[i] + static_cast<unsigned>(words[i]) < before[i];
      upper[i] = static_cast<unsigned>(words[i] >> 32) + (carries ? 1 : 0);
    }
  }

  __device__ unsigned* words() const { return low_; }

 private:
  unsigned* low_;
};

// Sums of 64 bits for each slot: the lower halves of all words before the upper ones.
class LongWords {
 public:
  __device__ explicit LongWords(unsigned slots) : high_(low_.words() + slots), slots_(slots) {}

  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < 2 * slots_; i += blockDim.x) low_.words()[i] = 0;
  }

  template <int COUNT>
  __device__ void add(const unsigned (&slots)[COUNT], const unsigned long long (&words)[COUNT]) const {
    unsigned upper[COUNT];
    low_.add(slots, words, upper);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) atomicAdd(high_ + slots[i], upper[i]);
  }

  __device__ unsigned long long word(unsigned slot) const {
    return static_cast<unsigned long long>(high_[slot]) << 32 | low_.words()[slot];
  }

 private:
  LowerHalves low_;
  unsigned* high_;
  unsigned slots_;
};

// The same with 48 bits for each slot: of the upper halves, 16 bits, two in a word. Carries go to
// give(slot, how many times 2^48) at once.
class ShortWords {
 public:
  __device__ explicit ShortWords(unsigned slots) : middle_(low_.words() + slots), half_(slots / 2) {}

  // The upper 16 bits of all slots, two in a word, begin as `middle`.
  __device__ void clear(unsigned middle) const {
    for (unsigned i = threadIdx.x; i < 3 * half_; i += blockDim.x) low_.words()[i] = i < 2 * half_ ? 0 : middle;
  }

  template <int COUNT, class Give>
  __device__ void add(const unsigned (&slots)[COUNT], const unsigned long long (&words)[COUNT],
                      const Give& give) const {
    unsigned upper[COUNT];
    low_.add(slots, words, upper);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) addUpper(slots[i], static_cast<int>(upper[i]), give);
  }

  __device__ unsigned long long word(unsigned slot) const {
    const unsigned both = middle_[slot < half_ ? slot : slot - half_];
    return static_cast<unsigned long long>(slot < half_ ? both & 0xffff : both >> 16) << 32 | low_.words()[slot];
  }

 private:
  // Sixteen bits with a sign go to the slot's half of a word; the rest and the carry are given away.
  template <class Give>
  __device__ void addUpper(unsigned slot, int upper, const Give& give) const {
    const unsigned index = slot < half_ ? slot : slot - half_, shift = slot < half_ ? 0 : 16;
    const int added = static_cast<short>(upper);
    const int rest = static_cast<int>(static_cast<unsigned>(upper) - static_cast<unsigned>(added)) >> 16;
    const unsigned before = atomicAdd(middle_ + index, static_cast<unsigned>(added) << shift);
    const int carry = carryOf(before >> shift & 0xffff, added);
    if (carry == 0 && rest == 0) return;
    give(slot, rest + carry);
    if (shift == 0 && carry != 0) takeBack(index, before, carry, give);
  }

  // The lower half of a word has carried into the upper half. That carry is taken back; the upper half may have wrapped
  // around by the carry, or by taking it back, and then carries itself.
  template <class Give>
  __device__ void takeBack(unsigned index, unsigned before, int carry, const Give& give) const {
    const unsigned later = atomicAdd(middle_ + index, static_cast<unsigned>(-carry) << 16);
    give(index + half_, carryOf(before >> 16, carry) + carryOf(later >> 16, -carry));
  }

  __device__ static int carryOf(unsigned half, int added) { return (static_cast<int>(half) + added) >> 16; }

  LowerHalves low_;
  unsigned* middle_;
  unsigned half_;
};

GPUOPT_DETAIL_END
