/// \file
/// Reductions of values by small integer keys: the loads of a histogram, with other updates.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/cached_words.cuh>
#include <gpuopt/device/keyed/cluster_sums.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/keyed/reduce_by_kernels.cuh>
#include <gpuopt/device/keyed/scaled_sums.cuh>
#include <gpuopt/device/large_clusters.cuh>
#include <gpuopt/histogram_types.cuh>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

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

// The words of an update. Sums of 8 bytes have a packed form of 6.
template <class Update, class A>
constexpr KeyedCell wordCell() {
  constexpr std::size_t WORD = sizeof(typename Update::Word);
  KeyedCell cell{WORD, isLongSum<Update> ? 6 : WORD, sizeof(A),
                 addsInLoops<Update> ? maxLoopingGroups : maxReduceByGroups};
  cell.isCount = false;
  cell.addsInLoops = addsInLoops<Update>;
  cell.addsGlobally = std::is_same_v<Update, DirectSum<A>>;
  cell.isSampled = std::is_same_v<Update, FixedPointSum<A>>;
  cell.isEncoded = Update::DECODES;
  cell.isScaled = isScaledSum<Update>;
  if constexpr (addsInLoops<Update>) cell.hotBytes = HotWords<Update>::hotBytes;
  cell.cacheBytes = CachedWords<Update>::sharedBytes;
  return cell;
}

template <class Update, class Policy, class A, class Source>
KeyedPlan planReduceBy(const Source&, std::size_t n, std::size_t bins, const KeyedTuning& tuning = {}) {
  KeyedRequest request = keyedRequest<Source>(n, bins, wordCell<Update, A>());
  request.stageBytes = StagedForm<Source>::sharedBytes;
  request.adds = Policy::KEEPS;
  request.hasClusters = hasClusterCode(computeCapability(currentDevice()));
  request.hasLargeClusters =
      request.hasClusters && request.cell.isSampled && n <= maxClusterValues && runsLargeClusters(currentDevice());
  return planKeyed(request, tuning);
}

// The kernel of a plan whose blocks have their words in shared memory.
template <class Source, class Update>
GPUOPT_HIDDEN auto sharedReduceBy(const KeyedPlan& plan) {
  if constexpr (isLongSum<Update>)
    return plan.algorithm == KeyedAlgorithm::packed ? sharedReduceByKernel<BlockShortSums<Update>, Source, Update>
                                                    : sharedReduceByKernel<SharedWords<Update>, Source, Update>;
  else if constexpr (addsInLoops<Update>)
    return plan.findsHot ? sharedReduceByKernel<SharedWords<Update>, Source, Update>
                         : sharedReduceByKernel<CopiedWords<Update>, Source, Update>;
  else
    return &sharedReduceByKernel<SharedWords<Update>, Source, Update>;
}

template <class Source>
GPUOPT_HIDDEN auto scaledSumsOf(const KeyedPlan& plan) {
  return plan.scaledBytes == longSumBytes ? &scaledSumsKernel<true, Source> : &scaledSumsKernel<false, Source>;
}

template <class Source, class A, class Update>
GPUOPT_HIDDEN void launchReduceBy(const ReduceByCall<A>& call, const KeyedPlan& plan, const Source& source,
                                  const Update& update, const WordTable<typename Update::Word>& table) {
  if (plan.algorithm == KeyedAlgorithm::nothing) return;
  const LaunchConfig config = keyedConfig(plan, call.function, call.stream);
  if (plan.algorithm == KeyedAlgorithm::global)
    return launch(globalReduceByKernel<Source, Update>, config, source, stepArgs(source, call.n), call.n, update, table,
                  plan.caches);
  const ReduceByArgs args{static_cast<unsigned>(plan.groups), static_cast<unsigned>(plan.groupSlots),
                          static_cast<unsigned>(plan.copies), plan.clearing == KeyedClearing::kernel, plan.findsHot};
  if constexpr (isScaledSum<Update>)
    if (plan.scaledBytes > 0)
      return launch(scaledSumsOf<Source>(plan), config, source, stepArgs(source, call.n), update, table, args);
  if constexpr (StagedForm<Source>::exists)
    if (plan.stages) {  // structures on their way are in shared memory, too
      const auto staged = StagedForm<Source>::of(source, call.n, plan.sharedBytes - StagedForm<Source>::sharedBytes);
      return launch(sharedReduceBy<std::decay_t<decltype(staged)>, Update>(plan), config, staged,
                    stepArgs(staged, call.n), call.n, update, table, args);
    }
  launch(sharedReduceBy<Source, Update>(plan), config, source, stepArgs(source, call.n), call.n, update, table, args);
}

// Updates that start from nothing but the values: words are where the results will be.
template <class Policy, class Update, class Source, class A>
GPUOPT_HIDDEN void reduceByUpdate(const ReduceByCall<A>& call, const Source& source, const Update& update) {
  using Word = typename Update::Word;
  static_assert(sizeof(Word) == sizeof(A));
  const KeyedPlan plan = planReduceBy<Update, Policy, A>(source, call.n, call.bins);
  const WordTable<Word> table{reinterpret_cast<Word*>(call.out), call.bins};
  if constexpr (Policy::KEEPS && Update::DECODES)
    launchForCells(EncodeWords<Update, A>{update, call.out, table.words}, call.bins, call.function, call.stream);
  else if constexpr (!Policy::KEEPS)
    launchForCells(FillCells<Word>{table.words, update.neutral()}, call.bins, call.function, call.stream);
  launchReduceBy(call, plan, source, update, table);
  if constexpr (Update::DECODES)
    launchForCells(DecodeWords<Update, A>{update, table.words, call.out}, call.bins, call.function, call.stream);
}

// Looks for the largest magnitude in a sample of the pairs; whether all of them are in it.
template <class Source, class A>
GPUOPT_HIDDEN bool sampleMagnitudes(const ReduceByCall<A>& call, const KeyedPlan& plan, const Source& source,
                                    Magnitudes<A>* magnitudes) {
  launch(sampleMagnitudesKernel<Source, A>,
         gridConfig(static_cast<int>(plan.threads), plan.sampleBlocks, call.stream, call.function), source,
         stepArgs(source, call.n), plan.sampleEvery, call.bins, magnitudes);
  return plan.sampleEvery == 1;
}

template <bool KEEPS, class Source, class A>
GPUOPT_HIDDEN void launchClusterSums(const ReduceByCall<A>& call, const KeyedPlan& plan, const Source& source) {
  LaunchConfig config = keyedConfig(plan, call.function, call.stream);
  config.cluster = static_cast<unsigned>(plan.blocks);
  launch(clusterSumsKernel<KEEPS, Source, A>, config, source, stepArgs(source, call.n), call.n, call.bins, call.out);
}

// The update that has got no memory yet: sums in fixed point. The second reading ends at once if it is not needed.
template <class Policy, class Source, class A>
GPUOPT_HIDDEN void reduceByUpdate(const ReduceByCall<A>& call, const Source& source, const FixedPointSum<A>&,
                                  const KeyedTuning& tuning = {}) {
  const KeyedPlan plan = planReduceBy<FixedPointSum<A>, Policy, A>(source, call.n, call.bins, tuning);
  if (plan.algorithm == KeyedAlgorithm::cluster) return launchClusterSums<Policy::KEEPS>(call, plan, source);
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
    const bool isAll = sampleMagnitudes(call, plan, source, magnitudes);
    launchReduceBy(call, plan, source, first, WordTable<Sum>{sums, call.bins});
    if (!isAll) launchReduceBy(call, plan, source, again, WordTable<Sum>{sums + call.bins, call.bins});
  }
  launchForCells(DecodeSums<Policy::KEEPS, A>{call.n, first, again, sums, call.bins, call.out}, call.bins,
                 call.function, call.stream);
}

template <class Policy, class A, class Op>
auto updateOf([[maybe_unused]] const Op& op) {
  if constexpr (std::is_same_v<Op, Plus> && std::is_floating_point_v<A> && !Policy::FAST_SUMS)
    return FixedPointSum<A>(nullptr, nullptr, 0, false);
  else if constexpr (std::is_same_v<Op, Plus>)
    return DirectSum<A>{};
  else if constexpr (isOneOf<Op, Minimum, Maximum>)
    return KeyedExtreme<std::is_same_v<Op, Maximum>, A>{};
  else
    return OperationUpdate<Op, A>(op);
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

// Checks the inputs, and calls use(source of values of type A with their slots). They do not overlap `bins` results.
template <class A, class It, class Keys, class Out, class Use>
void withKeyedSource(const char* function, It values, std::size_t n, const Keys& keys, std::size_t bins, Out* out,
                     const Use& use) {
  const auto requireOutApart = [&](auto in, const char* name) {
    if constexpr (std::is_pointer_v<decltype(in)>)
      if (n > 0) requireDisjoint(namedArray(in, n, name), namedArray(out, bins, "out"), function);
  };
  const auto slots = static_cast<unsigned>(bins);
  requireReadable(deviceIterator(values, n, function, "values"), n, function, "values");
  if constexpr (isKeys<Keys>) {
    requireReadable(deviceIterator(keys, n, function, "keys"), n, function, "keys");
    const auto source = sourceOf<false>(function, n, KeyedByInput<A>{slots}, values, keys);
    requireOutApart(Unwrap<It>::pointer(values), "values");
    requireOutApart(Unwrap<Keys>::pointer(keys), "keys");
    withReadable<false>(source, n, use);
  } else {
    const auto source = sourceOf<false>(function, n, KeyedByFunction<A, Keys>{keys, slots}, values);
    requireOutApart(Unwrap<It>::pointer(values), "values");
    withReadable<false>(source, n, use);
  }
}

// Checks the arguments, and launches.
template <class Policy, class It, class Keys, class A, class Op>
void reduceByChecked(const char* function, It values, std::size_t n, const Keys& keys, std::size_t bins, A* out,
                     const Op& op, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  requireReduceByOut(bins, out, sizeof(A), function);  // atomics need that alignment
  const ReduceByCall<A> call{function, stream, n, static_cast<unsigned>(bins), out};
  withKeyedSource<A>(function, values, n, keys, bins, out,
                     [&](const auto& readable) { reduceByUpdate<Policy>(call, readable, updateOf<Policy, A>(op)); });
}

// The plan of such a call in words. Halves are combined as floats.
template <class Policy, class It, class Keys, class Out, class Op>
std::string explainReduceByChecked(const char* function, It values, std::size_t n, const Keys& keys, std::size_t bins,
                                   Out* out, const Op& op) {
  using A = std::conditional_t<isHalf<Out>, float, Out>;
  requireReduceByOut(bins, out, isHalf<Out> ? alignof(Out) : sizeof(Out), function);
  std::string text;
  withKeyedSource<A>(function, values, n, keys, bins, out, [&](const auto& readable) {
    using Update = decltype(updateOf<Policy, A>(op));
    text = planInWords(planReduceBy<Update, Policy, A>(readable, n, bins));
  });
  return text;
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
