/// \file
/// Sums of floats in any order, added as integers: shared memory has an instruction for these, and a loop for floats.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/hot_words.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Update>
inline constexpr bool isScaledSum = std::is_same_v<Update, DirectSum<float>>;

// Which floats a block adds as integers: those from 2^-12 to 2^7 times the power of two above the largest magnitude of
// its sample. They are multiples of the unit, so that nothing is rounded. Sums of up to 128 neighbours with one key are
// larger than the sample.
class FloatScale {
 public:
  __device__ explicit FloatScale(unsigned largestBits) : above_((largestBits >> MANTISSA) + 1) {}

  // Whether the unit, its reciprocal and 2^48 units are normal numbers.
  __device__ bool exists() const { return above_ > BITS && above_ + 48 - BITS < 255; }

  __device__ bool covers(float value) const {
    return magnitudeBits(value) - ((above_ - BELOW) << MANTISSA) < (BELOW + ABOVE) << MANTISSA;
  }

  __device__ long long integer(float value) const { return llrint(value * power(254 - (above_ - BITS))); }
  __device__ float value(long long integer) const { return static_cast<float>(integer) * power(above_ - BITS); }

 private:
  static constexpr unsigned MANTISSA = 23, BELOW = 12, ABOVE = 7, BITS = BELOW + MANTISSA;

  __device__ static float power(unsigned biased) { return bitsAs<float>(biased << MANTISSA); }

  unsigned above_;  // the exponent of that power, as floats have it
};

// The sums of a block: integers of 64 bits, to which up to maxLongSums of at most 2^42 can be added; or of 48 bits,
// which begin in the middle, so that small sums of either sign carry nothing. Carries, and floats that are no such
// integers, are added to the result at once.
template <bool IS_LONG>
class ScaledSums {
 public:
  using Update = DirectSum<float>;
  static constexpr bool FINDS_HOT = false;

  __device__ ScaledSums(const WordTable<float>& table, const FloatScale& scale)
      : table_(table), scale_(scale), words_(reduceByWords(table.bins)) {}

  __device__ void clear(const Update&) const {
    if constexpr (IS_LONG)
      words_.clear();
    else
      words_.clear(0x80008000u);
  }

  template <int COUNT>
  __device__ void add(const Update& update, const unsigned (&slots)[COUNT], const float (&floats)[COUNT]) const {
    unsigned long long integers[COUNT];
    bool areCovered = true;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const bool isCovered = scale_.covers(floats[i]);
      areCovered = areCovered && isCovered;
      integers[i] = isCovered ? static_cast<unsigned long long>(scale_.integer(floats[i])) : 0;
    }
    if constexpr (IS_LONG)
      words_.add(slots, integers);
    else
      words_.add(slots, integers,
                 [&](unsigned slot, int carry) { give(update, slot, scale_.value((1ll << 48) * carry)); });
    if (areCovered) return;
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (!scale_.covers(floats[i])) give(update, slots[i], floats[i]);
  }

  __device__ float word(const Update&, unsigned slot) const {
    return scale_.value(static_cast<long long>(words_.word(slot)) - (IS_LONG ? 0 : 1ll << 47));
  }

 private:
  __device__ void give(const Update& update, unsigned slot, float value) const {
    if (slot < table_.bins && value != 0) update.combine(table_.words + slot, value);
  }

  const WordTable<float>& table_;
  FloatScale scale_;
  std::conditional_t<IS_LONG, LongWords, ShortWords> words_;
};

template <bool IS_LONG>
inline constexpr bool combinesEnds<ScaledSums<IS_LONG>> = true;

// A thread's step of a sample of lines, as evenly spread as sampledStep's: eight lanes read neighbours. A line for each
// lane takes longer: sums of 2^16 and 2^20 pairs in 1024 bins 4.1 and 6.4 us instead of 3.7 and 6.0 (H200, 2026-11-28,
// a trial program).
__device__ inline std::size_t sampledNeighbour(const StepArgs& steps) {
  constexpr unsigned LANES = 8;
  const unsigned group = threadIdx.x / LANES;
  const std::size_t every = (steps.end - steps.first) / blockDim.x * LANES;
  return steps.first + group * every + group * 61 % (every - LANES + 1) + threadIdx.x % LANES;
}

// The scale of a sample, a step of each thread, and whether it covers nearly all of it. All threads call.
template <class Source>
__device__ inline bool findScale(const Source& source, const StepArgs& steps, unsigned bins, unsigned& largest,
                                 FloatScale& scale) {
  typename Source::Step step;
  KeyedValue<float> values[Source::STEP];
  source.template load<Caching::stream>(step, sampledNeighbour(steps));
  if (threadIdx.x == 0) largest = 0;
  source.values(step, values);
  unsigned own = 0;
  lookForMagnitude(values, bins, own);
  own = warpAllReduce(own, Maximum{});
  __syncthreads();
  if (laneIndex() == 0) atomicMax(&largest, own);
  __syncthreads();
  scale = FloatScale(largest);
  bool isCovered = true;
#pragma unroll
  for (int i = 0; i < Source::STEP; ++i)
    isCovered = isCovered && (values[i].slot >= bins || values[i].value == 0 || scale.covers(values[i].value));
  return __syncthreads_count(isCovered ? 0 : 1) <= static_cast<int>(blockDim.x / uncoveredShare) && scale.exists();
}

// A block adds integers if its sample says that they suffice, else in loops.
template <bool IS_LONG, class Source>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    scaledSumsKernel(const Source source, const StepArgs steps, DirectSum<float> update, const WordTable<float> table,
                     const ReduceByArgs shape) {
  __shared__ unsigned largest;
  if (!shape.followsClearing) waitForPreviousKernel();
  const BinRange range{0, table.bins};
  FloatScale scale(0);
  if (findScale(source, steps, table.bins, largest, scale)) {
    waitForPreviousKernel();
    return reduceInBlock(ScaledSums<IS_LONG>(table, scale), update, range, source, steps, table, 1);
  }
  HotWords<DirectSum<float>> words(table, range, shape.copies);
  if (shape.findsHot) words.find(sampleSlots(source, steps, range));
  reduceInBlock(words, update, range, source, steps, table, 1);
}

GPUOPT_DETAIL_END
