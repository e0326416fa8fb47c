/// \file
/// Reductions of values by small integer keys: the loads of a histogram, with other updates.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/histogram/launch.cuh>
#include <gpuopt/device/histogram/reduce_by_update.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How reduceBy adds up floating-point numbers. `FastSums` is the other choice.
struct ReduceByPolicy {
  /// Whether sums of floating-point numbers may depend on the order in which values come, which differs between runs.
  /// Otherwise they are added in fixed point, and the values are read twice.
  static constexpr bool FAST_SUMS = false;
};

/// Floating-point sums in any order, by atomics.
struct FastSums : ReduceByPolicy {
  static constexpr bool FAST_SUMS = true;  ///< sums may depend on the order
};

namespace detail {

// A value and the slot that its key tells.
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

// Where words are combined: `words` of them, in shared memory or in `result`.
template <class Word>
struct WordTable {
  Word* result;
  unsigned bins;
};

template <class Update>
GPUOPT_KERNEL void clearWordsKernel(const Update update, const WordTable<typename Update::Word> table) {
  waitForPreviousKernel();
  for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < table.bins; bin += gridDim.x * blockDim.x)
    table.result[bin] = update.neutral();
}

template <bool SHARED, class Source, class Update>
GPUOPT_KERNEL void __launch_bounds__(histogramThreads, 1)
    reduceByKernel(const Source source, const StepShape shape, const std::size_t n, Update update,
                   const WordTable<typename Update::Word> table) {
  using Word = typename Update::Word;
  waitForPreviousKernel();
  Word* const words = SHARED ? dynamicShared<Word>() : table.result;
  for (unsigned bin = threadIdx.x; SHARED && bin < table.bins; bin += blockDim.x) words[bin] = update.neutral();
  update.start(n);
  __syncthreads();
  const auto take = [&](const auto& values) {
    for (const auto& each : values)
      if (each.slot < table.bins) update.combine(words + each.slot, update.word(each.value, each.slot));
  };
  takeSteps<histogramItems<Source>>(source, shape, blockIdx.x, gridDim.x, take, NoTileEnd{});
  __syncthreads();
  for (unsigned bin = threadIdx.x; SHARED && bin < table.bins; bin += blockDim.x)
    update.combine(table.result + bin, words[bin]);
}

template <class Update, class A>
GPUOPT_KERNEL void finishReduceByKernel(const std::size_t n, Update update,
                                        const WordTable<typename Update::Word> table, A* out) {
  waitForPreviousKernel();
  update.start(n);
  for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < table.bins; bin += gridDim.x * blockDim.x)
    out[bin] = update.value(table.result[bin], bin);
}

// The largest magnitude of values, as bits; *largest is 0 before.
template <class Source, class Bits>
GPUOPT_KERNEL void __launch_bounds__(histogramThreads, 1)
    largestMagnitudeKernel(const Source source, const StepShape shape, Bits* largest) {
  __shared__ Bits most;
  waitForPreviousKernel();
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  Bits own = 0;
  const auto take = [&](const auto& values) {
    for (const auto& bits : values) own = bits > own ? bits : own;
  };
  takeSteps<histogramItems<Source>>(source, shape, blockIdx.x, gridDim.x, take, NoTileEnd{});
  atomicMax(&most, own);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(largest, most);
}

template <class A>
struct MagnitudeOf {
  template <class T>
  __device__ AtomicUnsigned<A> operator()(const T& value) const {
    return magnitudeBits(static_cast<A>(value));
  }
};

// The arguments that the steps below share.
template <class A>
struct ReduceByCall {
  const char* function;
  cudaStream_t stream;
  std::size_t n;
  unsigned bins;
  A* out;
};

// Blocks that read n > 0 elements of a source.
template <class Source, class A>
LaunchConfig readingConfig(const ReduceByCall<A>& call, const Source&) {
  const HistogramShape shape{call.n,
                             call.bins,
                             Source::BYTES / Source::STEP,
                             1,
                             Source::STEP,
                             0,
                             0,
                             0,
                             static_cast<unsigned>(multiprocessorCount(currentDevice()))};
  const std::size_t blocks = loopingBlocks(shape, histogramThreads);
  return gridConfig(static_cast<int>(histogramThreads), blocks, call.stream, call.function);
}

// Arrays whose addresses rule out vectors come here twice, the second time element by element.
template <class Source, class A, class Update>
GPUOPT_HIDDEN void launchReduceBy(const ReduceByCall<A>& call, const Source& source, const Update& update,
                                  const WordTable<typename Update::Word>& table) {
  if constexpr (mayBeMisaligned<false, Source>)
    if (source.head < call.n && source.isMisaligned()) return launchReduceBy(call, source.elementwise(), update, table);
  const auto limit =
      static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, currentDevice()));
  const std::size_t bytes = call.bins * sizeof(typename Update::Word);
  LaunchConfig config = readingConfig(call, source);
  if (bytes + histogramReservedBytes > limit)
    return launch(reduceByKernel<false, Source, Update>, config, source, stepShape(source, call.n), call.n, update,
                  table);
  config.sharedBytes = bytes;
  launch(reduceByKernel<true, Source, Update>, config, source, stepShape(source, call.n), call.n, update, table);
}

template <class Source, class A>
GPUOPT_HIDDEN void launchLargest(const ReduceByCall<A>& call, const Source& source, AtomicUnsigned<A>* largest) {
  if constexpr (mayBeMisaligned<false, Source>)
    if (source.head < call.n && source.isMisaligned()) return launchLargest(call, source.elementwise(), largest);
  launch(largestMagnitudeKernel<Source, AtomicUnsigned<A>>, readingConfig(call, source), source,
         stepShape(source, call.n), largest);
}

// Clears the words, combines, and stores the results.
template <class Source, class A, class Update>
GPUOPT_HIDDEN void reduceByUpdate(const ReduceByCall<A>& call, const Source& source, const Update& update,
                                  void* memory) {
  const WordTable<typename Update::Word> table{static_cast<typename Update::Word*>(memory), call.bins};
  const LaunchConfig config = gridConfig(256, clampTo(ceilDivide(call.bins, 256), std::size_t{1}, std::size_t{1024}),
                                         call.stream, call.function);
  launch(clearWordsKernel<Update>, config, update, table);
  if (call.n > 0) launchReduceBy(call, source, update, table);
  launch(finishReduceByKernel<Update, A>, config, call.n, update, table, call.out);
}

template <class Policy, class Op, class A>
inline constexpr bool isFixedPoint = std::is_same_v<Op, Plus>&& std::is_floating_point_v<A> && !Policy::FAST_SUMS;

template <class Op, class A>
using DirectUpdate =
    std::conditional_t<std::is_same_v<Op, Plus>, DirectSum<A>, KeyedExtreme<std::is_same_v<Op, Maximum>, A>>;

// `values` is read by itself for the largest magnitude.
template <class Policy, class Op, class A, class Source, class It>
void reduceByOp(const ReduceByCall<A>& call, const Source& source, It values) {
  const std::size_t wordBytes = roundUp(call.bins * std::size_t{8}, 256);
  if constexpr (isFixedPoint<Policy, Op, A>) {
    const std::size_t flagBytes = call.bins * sizeof(unsigned);
    const ScratchMemory scratch(wordBytes + 8 + flagBytes, call.stream);
    auto* const largest = reinterpret_cast<AtomicUnsigned<A>*>(scratch.data() + wordBytes);
    auto* const flags = reinterpret_cast<unsigned*>(scratch.data() + wordBytes + 8);
    check(cudaMemsetAsync(largest, 0, 8 + flagBytes, call.stream), "cudaMemsetAsync");
    if (call.n > 0) launchLargest(call, sourceOf<false>(call.function, call.n, MagnitudeOf<A>{}, values), largest);
    reduceByUpdate(call, source, FixedPointSum<A>{largest, flags, 0}, scratch.data());
  } else {
    const ScratchMemory scratch(wordBytes, call.stream);
    reduceByUpdate(call, source, DirectUpdate<Op, A>{}, scratch.data());
  }
}

// Keys are read through an iterator; anything else is a function.
template <class Keys, class = void>
inline constexpr bool isKeys = false;
template <class Keys>
inline constexpr bool isKeys<Keys, std::void_t<typename std::iterator_traits<Unwrapped<Keys>>::value_type>> = true;

// Checks the arguments, and launches.
template <class Policy, class Op, class It, class Keys, class A>
void reduceByChecked(It values, std::size_t n, const Keys& keys, std::size_t bins, A* out, cudaStream_t stream) {
  constexpr const char* function = "gpuopt::reduceBy";
  requireBins(bins, function);
  if (out == nullptr) throwInvalid({function, ": out is null, but there are ", bins, " bins"});
  requireArray(namedArray(out, bins, "out"), function);
  const ReduceByCall<A> call{function, stream, n, static_cast<unsigned>(bins), out};
  const auto requireOutApart = [&](auto in, const char* name) {
    if constexpr (std::is_pointer_v<decltype(in)>)
      if (n > 0) requireDisjoint(namedArray(in, n, name), namedArray(out, bins, "out"), function);
  };
  if constexpr (isKeys<Keys>) {
    const auto source = sourceOf<false>(function, n, KeyedByInput<A>{call.bins}, values, keys);
    requireOutApart(Unwrap<It>::pointer(values), "in1");
    requireOutApart(Unwrap<Keys>::pointer(keys), "in2");
    reduceByOp<Policy, Op>(call, source, values);
  } else {
    const auto source = sourceOf<false>(function, n, KeyedByFunction<A, Keys>{keys, call.bins}, values);
    requireOutApart(Unwrap<It>::pointer(values), "in");
    reduceByOp<Policy, Op>(call, source, values);
  }
}

// The types of a reduction by keys.
template <class It, class Keys, class OutIt, class Op>
constexpr bool requireReduceBy() {
  constexpr bool KNOWN = isOneOf<Op, Plus, Minimum, Maximum>, MEMORY = isMemory<OutIt>;
  static_assert(KNOWN, "gpuopt::reduceBy: op must be Plus, Minimum or Maximum");
  static_assert(MEMORY, "gpuopt::reduceBy: out must be a pointer, or Thrust's iterator of memory");
  if constexpr (KNOWN && MEMORY) {
    using A = std::remove_pointer_t<Unwrapped<OutIt>>;
    constexpr bool IS_NUMBER = std::is_arithmetic_v<A> && !std::is_const_v<A> && (sizeof(A) == 4 || sizeof(A) == 8);
    static_assert(IS_NUMBER, "gpuopt::reduceBy: out must have numbers of 4 or 8 bytes");
    return IS_NUMBER;
  } else {
    return false;
  }
}

}  // namespace detail

GPUOPT_NAMESPACE_END
