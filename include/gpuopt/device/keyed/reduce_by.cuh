/// \file
/// Reductions of values by small integer keys: the loads of a histogram, with other updates.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/range.cuh>
<<<<<<< HEAD:include/gpuopt/device/keyed/reduce_by.cuh
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
    =======
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/cached_words.cuh>
#include <gpuopt/device/keyed/cluster_sums.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
    >>>>>>> 9f53672f747aa4da81d9d55c352236a0c7649a2a:include/gpuopt/device/keyed/reduce_by.cuh

#include <cstddef>
#include <iterator>
#include <type_traits>

    GPUOPT_NAMESPACE_BEGIN

    /// How reduceBy adds up floating-point numbers, and where its results go. `FastSums` and `CombineWithOut` are the
    /// other choices; a type derived from one of them may have both.
    struct ReduceByPolicy {
  /// Whether sums of floating-point numbers may depend on the order in which values come, which differs between runs.
  /// Otherwise they are added in fixed point; the values are read again if a sample of them missed the order of
  /// magnitude of the largest one.
  static constexpr bool FAST_SUMS = false;
  static constexpr bool KEEPS = false;  ///< whether results are combined with what is in `out`; else they replace it
};

/// Floating-point sums in any order, by atomics: for values of very different magnitudes, few values, and sorted keys.
struct FastSums : ReduceByPolicy {
  static constexpr bool FAST_SUMS = true;  ///< sums may depend on the order
};

/// Combines results with what is in `out`: for input that comes in parts.
struct CombineWithOut : ReduceByPolicy {
  static constexpr bool KEEPS = true;  ///< results are combined with what is in `out`
};

namespace detail {

// The arguments that the steps below share.
template <class A>
struct ReduceByCall {
  const char* function;
  cudaStream_t stream;
  std::size_t n;
  unsigned bins;
  A* out;
};

// Blocks of a kernel with a thread for each bin.
template <class A>
LaunchConfig binsConfig(const ReduceByCall<A>& call) {
  const std::size_t blocks = clampTo(ceilDivide(call.bins, 256), std::size_t{1}, std::size_t{1024});
  return gridConfig(256, blocks, call.stream, call.function);
}

// Blocks that read n > 0 elements.
template <class A>
LaunchConfig readingConfig(const ReduceByCall<A>& call, const HistogramShape& shape) {
  const std::size_t blocks = loopingBlocks(shape, keyedThreads);
  return gridConfig(static_cast<int>(keyedThreads), blocks, call.stream, call.function);
}

// Copies of a block's words, where an update is a loop: as many as fit, if the block has enough elements for them.
template <class Update>
std::size_t wordCopies(const HistogramShape& shape, std::size_t blocks) {
  if (!addsInLoops<Update>) return 1;
  const std::size_t room = smallerOf(counterWords(shape) * 4, mostCopiedBytes);
  const std::size_t fitting = room / (reduceByWords(shape.slots) * sizeof(typename Update::Word));
  const std::size_t useful = shape.n / blocks / (shape.slots * elementsPerCopiedWord);
  return clampTo(smallerOf(fitting, useful), std::size_t{1}, std::size_t{maxCellCopies});
}

// Whether blocks look for frequent keys: if they have enough elements, and room for the words of such keys.
template <class Update>
bool findsHotKeys(const HistogramShape& shape, std::size_t blocks, std::size_t groupBins, std::size_t wordBytes) {
  if constexpr (addsInLoops<Update>)
    return groupBins < 0xff00 && shape.n / blocks >= minHotElements &&
           wordBytes + HotWords<Update>::hotBytes <= counterWords(shape) * 4;
  return false;
}

// The blocks' words are in shared memory, `binBytes` for each bin; so are structures on their way, if they fit, too.
template <class Words, class Source, class A, class Update>
GPUOPT_HIDDEN void launchSharedReduceBy(const ReduceByCall<A>& call, const Source& source, const Update& update,
                                        const WordTable<typename Update::Word>& table, std::size_t binBytes,
                                        bool followsClearing) {
  HistogramShape shape = elementShape<Source>(call.n, call.bins);
  LaunchConfig config = readingConfig(call, shape);
  const std::size_t groups = ceilDivide(call.bins * binBytes, counterWords(shape) * 4);
  const std::size_t groupBins = ceilDivide(call.bins, groups);
  config.grid.x = static_cast<unsigned>(groups * largerOf(config.grid.x / groups, std::size_t{1}));
  constexpr std::size_t STAGE = StagedForm<Source>::sharedBytes;
  const bool stages = STAGE > 0 && groups == 1 && !isSmallHistogram(shape) &&
                      reduceByWords(groupBins) * binBytes + STAGE <= counterWords(shape) * 4;
  if (stages) shape.sharedBytes -= STAGE;
  const std::size_t copies = groups == 1 ? wordCopies<Update>(shape, config.grid.x) : 1;
  config.sharedBytes = reduceByWords(groupBins) * binBytes * copies;
  const bool findsHot =
      !stages && copies < maxCellCopies && findsHotKeys<Update>(shape, config.grid.x, groupBins, config.sharedBytes);
  if constexpr (addsInLoops<Update>)
    if (findsHot) config.sharedBytes += Words::hotBytes;
  const auto launchFor = [&](const auto& from) {
    launch(sharedReduceByKernel<Words, std::decay_t<decltype(from)>, Update>, config, from, stepArgs(from, call.n),
           call.n, update, table,
           ReduceByArgs{static_cast<unsigned>(groups), static_cast<unsigned>(groupBins), static_cast<unsigned>(copies),
                        followsClearing, findsHot});
  };
  if constexpr (StagedForm<Source>::exists)
    if (stages) {
      const auto staged = StagedForm<Source>::of(source, call.n, config.sharedBytes);
      config.sharedBytes += STAGE;
      return launchFor(staged);
    }
  launchFor(source);
}

template <class Source, class A, class Update>
GPUOPT_HIDDEN void launchGlobalReduceBy(const ReduceByCall<A>& call, const Source& source, const Update& update,
                                        const WordTable<typename Update::Word>& table, const HistogramShape& shape) {
  LaunchConfig config = readingConfig(call, shape);
  constexpr std::size_t CACHE = CachedWords<Update>::sharedBytes;
  const bool hasEntries = call.n / config.grid.x >= minCachedElements && CACHE <= counterWords(shape) * 4;
  if (hasEntries) config.sharedBytes = CACHE;
  launch(globalReduceByKernel<Source, Update>, config, source, stepArgs(source, call.n), call.n, update, table,
         hasEntries);
}

// Arrays whose addresses rule out vectors come here twice, the second time element by element.
template <class Source, class A, class Update>
GPUOPT_HIDDEN void launchReduceBy(const ReduceByCall<A>& call, const Source& source, const Update& update,
                                  const WordTable<typename Update::Word>& table, bool followsClearing) {
  if constexpr (mayBeMisaligned<false, Source>)
    if (source.head < call.n && source.isMisaligned())
      return launchReduceBy(call, source.elementwise(), update, table, followsClearing);
  constexpr std::size_t WORD = sizeof(typename Update::Word), SHORT = isLongSum<Update> ? 6 : WORD;
  const HistogramShape shape = elementShape<Source>(call.n, call.bins);
  const std::size_t bytes = counterWords(shape) * 4;
  const bool isFew = call.n <= fewElements && call.bins * WORD > bytes;
  constexpr std::size_t GROUPS = addsInLoops<Update> ? maxLoopingGroups : maxReduceByGroups;
  if (isFew || call.bins * SHORT > GROUPS * bytes) return launchGlobalReduceBy(call, source, update, table, shape);
  if constexpr (SHORT < WORD)
    if (call.bins * WORD > bytes)
      return launchSharedReduceBy<BlockShortSums<Update>>(call, source, update, table, SHORT, followsClearing);
  launchSharedReduceBy<SharedWords<Update>>(call, source, update, table, WORD, followsClearing);
}

// Updates that start from nothing but the values: words are where the results will be.
template <class Policy, class Update, class Source, class A>
GPUOPT_HIDDEN void reduceByDirectly(const ReduceByCall<A>& call, const Source& source, const Update& update) {
  using Word = typename Update::Word;
  static_assert(sizeof(Word) == sizeof(A));
  const WordTable<Word> table{reinterpret_cast<Word*>(call.out), call.bins};
  if constexpr (Policy::KEEPS)
    launch(encodeWordsKernel<Update, A>, binsConfig(call), update, call.out, table);
  else
    launch(clearWordsKernel<Update>, binsConfig(call), update, table);
  if (call.n > 0) launchReduceBy(call, source, update, table, true);
  if constexpr (Update::DECODES) launch(decodeWordsKernel<Update, A>, binsConfig(call), update, table, call.out);
}

// Looks for the largest magnitude in a sample of the pairs; whether all of them are in it.
template <class Source, class A>
GPUOPT_HIDDEN bool sampleMagnitudes(const ReduceByCall<A>& call, const Source& source, std::size_t sampled,
                                    Magnitudes<A>* magnitudes) {
  if constexpr (mayBeMisaligned<false, Source>)
    if (source.head < call.n && source.isMisaligned())
      return sampleMagnitudes(call, source.elementwise(), sampled, magnitudes);
  const StepArgs shape = stepArgs(source, call.n);
  const std::size_t every = largerOf(shape.end * Source::STEP / sampled, std::size_t{1});
  launch(sampleMagnitudesKernel<Source, A>,
         readingConfig(call, elementShape<Source>(ceilDivide(call.n, every), call.bins)), source, shape, every,
         call.bins, magnitudes);
  return every == 1;
}

// Sums in fixed point. The second reading ends at once if it is not needed.
template <bool KEEPS = false, class Source, class A>
GPUOPT_HIDDEN void reduceByFixedPoint(const ReduceByCall<A>& call, const Source& source,
                                      std::size_t sampled = sampledMagnitudes) {
  using Sum = unsigned long long;
  const std::size_t sumBytes = 2 * std::size_t{call.bins} * sizeof(Sum), stateBytes = sizeof(Magnitudes<A>);
  const std::size_t bytes = sumBytes + stateBytes + std::size_t{call.bins} * sizeof(unsigned);
  const ScratchMemory scratch(bytes, call.stream);
  check(cudaMemsetAsync(scratch.data(), 0, bytes, call.stream), "cudaMemsetAsync");
  auto* const sums = reinterpret_cast<Sum*>(scratch.data());
  auto* const magnitudes = reinterpret_cast<Magnitudes<A>*>(scratch.data() + sumBytes);
  auto* const flags = reinterpret_cast<unsigned*>(scratch.data() + sumBytes + stateBytes);
  const FixedPointSum<A> first(magnitudes, flags, call.bins, false), again(magnitudes, flags, call.bins, true);
  if (call.n > 0) {
    const bool isAll = sampleMagnitudes(call, source, sampled, magnitudes);
    launchReduceBy(call, source, first, WordTable<Sum>{sums, call.bins}, false);
    if (!isAll) launchReduceBy(call, source, again, WordTable<Sum>{sums + call.bins, call.bins}, false);
  }
  launch(decodeSumsKernel<KEEPS, A>, binsConfig(call), call.n, first, again, sums, call.bins, call.out);
}

template <class Policy, class Op, class A>
inline constexpr bool isFixedPoint = std::is_same_v<Op, Plus>&& std::is_floating_point_v<A> && !Policy::FAST_SUMS;

template <class A, class Op>
auto updateOf([[maybe_unused]] const Op& op) {
  if constexpr (std::is_same_v<Op, Plus>)
    return DirectSum<A>{};
  else if constexpr (isOneOf<Op, Minimum, Maximum>)
    return KeyedExtreme<std::is_same_v<Op, Maximum>, A>{};
  else
    return OperationUpdate<Op, A>(op);
}

// Blocks of the cluster that adds few values in fixed point; 0 if there are too many values or bins.
inline unsigned clusterBlocks(std::size_t n, std::size_t bins, bool hasClusters) {
  if (n > (hasClusters ? maxClusterValues : maxOneBlockValues) || bins > maxClusterBins) return 0;
  if (n <= maxOneBlockValues) return 1;
  return n <= 2 * maxOneBlockValues ? maxClusterBlocks / 2 : maxClusterBlocks;
}

template <bool KEEPS, class Source, class A>
GPUOPT_HIDDEN void launchClusterSums(const ReduceByCall<A>& call, const Source& vectors, unsigned blocks) {
  withReadable<false>(vectors, call.n, [&](const auto& source) {
    LaunchConfig config = gridConfig(static_cast<int>(clusterSumThreads), blocks, call.stream, call.function);
    config.cluster = blocks;
    config.sharedBytes = ClusterSums<A>::sharedBytes(call.bins);
    launch(clusterSumsKernel<KEEPS, std::decay_t<decltype(source)>, A>, config, source, stepArgs(source, call.n),
           call.n, call.bins, call.out);
  });
}

template <class Policy, class Op, class A, class Source>
void reduceByOp(const ReduceByCall<A>& call, const Source& source, const Op& op) {
  if constexpr (isFixedPoint<Policy, Op, A>) {
    const bool hasClusters = hasClusterCode(computeCapability(currentDevice()));
    if (const unsigned blocks = clusterBlocks(call.n, call.bins, hasClusters); blocks > 0)
      launchClusterSums<Policy::KEEPS>(call, source, blocks);
    else
      reduceByFixedPoint<Policy::KEEPS>(call, source);
  } else {
    reduceByDirectly<Policy>(call, source, updateOf<A>(op));
  }
}

// Keys are read through an iterator; anything else is a function.
template <class Keys, class = void>
inline constexpr bool isKeys = false;
template <class Keys>
inline constexpr bool isKeys<Keys, std::void_t<typename std::iterator_traits<Unwrapped<Keys>>::value_type>> = true;

// Keys of a container as an iterator; others as they are.
template <class Keys>
auto keysOf(Keys& keys, [[maybe_unused]] std::size_t n, [[maybe_unused]] const char* function) {
  if constexpr (isRange<Keys>) {
    requireSize(keys, n, "keys", function);
    return dataOf(keys);
  } else {
    return keys;
  }
}

// Checks where the results go.
template <class A>
void requireReduceByOut(std::size_t bins, A* out, std::size_t alignment, const char* function) {
  requireBins(bins, function);
  if (out == nullptr) throwInvalid({function, ": out is null, but there are ", bins, " bins"});
  requireArray({out, bins, sizeof(A), alignment, "out"}, function);
}

// Checks the arguments, and launches.
template <class Policy, class It, class Keys, class A, class Op>
void reduceByChecked(const char* function, It values, std::size_t n, const Keys& keys, std::size_t bins, A* out,
                     const Op& op, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  requireReduceByOut(bins, out, sizeof(A), function);  // atomics need that alignment
  const ReduceByCall<A> call{function, stream, n, static_cast<unsigned>(bins), out};
  const auto requireOutApart = [&](auto in, const char* name) {
    if constexpr (std::is_pointer_v<decltype(in)>)
      if (n > 0) requireDisjoint(namedArray(in, n, name), namedArray(out, bins, "out"), function);
  };
  requireReadable(deviceIterator(values, n, function, "values"), n, function, "values");
  if constexpr (isKeys<Keys>) {
    requireReadable(deviceIterator(keys, n, function, "keys"), n, function, "keys");
    const auto source = sourceOf<false>(function, n, KeyedByInput<A>{call.bins}, values, keys);
    requireOutApart(Unwrap<It>::pointer(values), "values");
    requireOutApart(Unwrap<Keys>::pointer(keys), "keys");
    reduceByOp<Policy>(call, source, op);
  } else {
    const auto source = sourceOf<false>(function, n, KeyedByFunction<A, Keys>{keys, call.bins}, values);
    requireOutApart(Unwrap<It>::pointer(values), "values");
    reduceByOp<Policy>(call, source, op);
  }
}

// Whether keys tell the bin of a T, as far as the host compiler can tell.
template <class Keys, class T>
constexpr bool tellsKey() {
  if constexpr (isKeys<Keys>)
    return std::is_integral_v<HistogramElement<Keys>>;
  else
    return tellsBin<Keys, T>();
}

// The types of a reduction by keys.
template <class It, class Keys, class OutIt, class Op>
constexpr bool requireReduceBy() {
  constexpr bool MEMORY = isMemory<OutIt>;
  static_assert(MEMORY, "gpuopt::reduceBy: out must be a pointer, or Thrust's iterator of memory");
  if constexpr (MEMORY) {
    using Out = std::remove_pointer_t<Unwrapped<OutIt>>;
    using A = std::conditional_t<isHalf<Out>, float, Out>;  // in which halves are combined
    constexpr bool HAS_INSTRUCTION = isOneOf<Op, Plus, Minimum, Maximum>, IS_OP_CODE = requireDeviceCode<Op>();
    constexpr bool KNOWN = HAS_INSTRUCTION || NeutralElement<Op, std::remove_const_t<A>>::exists;
    constexpr bool IS_NUMBER =
        (HAS_INSTRUCTION ? std::is_arithmetic_v<A> : std::is_trivially_copyable_v<A>)&&!std::is_const_v<A> &&
        (sizeof(A) == 4 || sizeof(A) == 8);
    static_assert(KNOWN || !IS_OP_CODE,
                  "gpuopt::reduceBy: what does a bin without values get? Specialise gpuopt::NeutralElement for op and "
                  "the type of out");
    constexpr bool IS_STRUCT = HAS_INSTRUCTION && std::is_class_v<A>;
    static_assert(!IS_STRUCT,
                  "gpuopt::reduceBy: structures are combined member by member: a call for each, with "
                  "gpuopt::member<&T::x>(values) and an array of results of its own; or with an op for the structures, "
                  "if they have 4 or 8 bytes");
    static_assert(
        IS_NUMBER || IS_STRUCT,
        "gpuopt::reduceBy: out must have numbers of 4 or 8 bytes, or halves; with an op of your own, anything of that "
        "size");
    using T = HistogramElement<It>;
    constexpr bool IS_DEVICE_CODE = requireNoHostLambda<Keys>(), TELLS = tellsKey<Keys, T>();
    constexpr bool CONVERTS = std::is_constructible_v<A, T> || std::is_enum_v<T>;
    static_assert(
        TELLS || !IS_DEVICE_CODE,
        "gpuopt::reduceBy: keys must be integers, or a function object with a const call operator that takes a "
        "value and returns an integer");
    static_assert(CONVERTS, "gpuopt::reduceBy: values must convert to the type of out");
    return KNOWN && IS_OP_CODE && IS_NUMBER && IS_DEVICE_CODE && TELLS && CONVERTS;
  } else {
    return false;
  }
}

}  // namespace detail

GPUOPT_NAMESPACE_END
