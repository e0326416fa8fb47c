/// \file
/// Histograms whose bins are sums of weights: the sums of reduceBy, whose key is the bin of a sample.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/edge_arguments.cuh>
#include <gpuopt/device/keyed/reduce_by.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A policy of histograms, of reduceBy, or both, with the members of both.
template <class Base>
struct NoPolicy {};
template <class Policy, class Base>
using PolicyBeside = std::conditional_t<std::is_base_of_v<Base, Policy>, NoPolicy<Base>, Base>;
template <class Policy>
struct BothPolicies : Policy, PolicyBeside<Policy, HistogramPolicy>, PolicyBeside<Policy, ReduceByPolicy> {};
template <class Policy>
struct WeightedPolicy : BothPolicies<Policy> {
  static constexpr bool KEEPS = BothPolicies<Policy>::KEEPS || BothPolicies<Policy>::ADDS;
};

// A weight, and the slot of its sample.
template <class A, class SlotOf>
struct WeightedSample {
  SlotOf slotOf;
  template <class W, class T>
  __device__ KeyedValue<A> operator()(const W& weight, const T& sample) const {
    return {slotOf(sample), static_cast<A>(weight)};
  }
};

// The bins of samples need registers, and so do loads that take one for each element.
template <class T, class U, class A, class SlotOf>
inline constexpr bool prefetchesSteps<PairSource<T, U, WeightedSample<A, SlotOf>, false>> = false;

// The types of weights and of their sums.
template <class WeightIt, class SumIt>
constexpr bool requireSums() {
  constexpr bool MEMORY = isMemory<SumIt>;
  static_assert(MEMORY, "gpuopt: sums must be a pointer, or Thrust's iterator of memory");
  if constexpr (MEMORY) {
    using A = std::remove_pointer_t<Unwrapped<SumIt>>;
    constexpr bool IS_NUMBER = std::is_arithmetic_v<A> && !std::is_const_v<A> && (sizeof(A) == 4 || sizeof(A) == 8);
    static_assert(IS_NUMBER, "gpuopt: sums of weights must be numbers of 4 or 8 bytes that are not const");
    constexpr bool CONVERTS = std::is_constructible_v<A, HistogramElement<WeightIt>>;
    static_assert(CONVERTS || !IS_NUMBER, "gpuopt: weights must convert to the type of their sums");
    return IS_NUMBER && CONVERTS;
  } else {
    return false;
  }
}

// Where sums of weights go, without types. The names are for messages.
template <class A>
struct WeightedCall {
  const char* function;
  cudaStream_t stream;
  std::size_t n;
  A* sums;
  std::size_t slots;
};

template <class Policy, class A>
WeightedCall<A> weightedCall(const char* function, cudaStream_t stream, std::size_t n, A* sums, std::size_t bins) {
  return {function, stream, n, sums, slotsOf<WeightedPolicy<Policy>>(bins)};
}

// The bins of a container of sums.
template <class Policy, class Sums>
std::size_t binsOfSums(const Sums& sums, const char* function) {
  return binsOfSlots<WeightedPolicy<Policy>>(sizeOf(sums), function, "", "sums");
}

// Input in memory does not overlap the sums.
template <class A, class It>
void requireApartFromSums(const WeightedCall<A>& call, It iterator, std::size_t n, const char* name) {
  const auto in = Unwrap<It>::pointer(iterator);
  if constexpr (std::is_pointer_v<std::decay_t<decltype(in)>>)
    if (n > 0) requireDisjoint(namedArray(in, n, name), namedArray(call.sums, call.slots, "sums"), call.function);
}

template <class A>
void requireSumsOf(const WeightedCall<A>& call) {
  if (call.sums == nullptr) throwInvalid({call.function, ": sums is null, but there are ", call.slots, " sums"});
  requireArray({call.sums, call.slots, sizeof(A), sizeof(A), "sums"}, call.function);  // atomics need that alignment
}

template <class A, class It>
void requireWeightedInput(const WeightedCall<A>& call, It in, const char* name) {
  requireReadable(deviceIterator(in, call.n, call.function, name), call.n, call.function, name);
  requireApartFromSums(call, in, call.n, name);
}

// Adds the weights of all samples; checks the arguments.
template <class Policy, class A, class It, class WeightIt, class SlotOf>
void sumWeights(const WeightedCall<A>& call, It in, WeightIt weights, const SlotOf& slotOf) {
  requireSumsOf(call);
  requireWeightedInput(call, in, "in");
  requireWeightedInput(call, weights, "weights");
  const ReduceByCall<A> reduction{call.function, call.stream, call.n, static_cast<unsigned>(call.slots), call.sums};
  const auto source = sourceOf<false>(call.function, call.n, WeightedSample<A, SlotOf>{slotOf}, weights, in);
  withReadable<false>(source, call.n, [&](const auto& readable) {
    reduceByUpdate<WeightedPolicy<Policy>>(reduction, readable, updateOf<WeightedPolicy<Policy>, A>(Plus{}));
  });
}

template <class Policy, class A, class It, class WeightIt, class Edge>
void sumWeightsOfDeviceEdges(const WeightedCall<A>& call, It in, WeightIt weights, const Edge* edges,
                             std::size_t bins) {
  requireDeviceEdges(edges, bins, call.function);
  requireSumsOf(call);
  requireApartFromSums(call, edges, bins + 1, "edges");
  requireSortedOnDevice(edges, bins, call.function, call.stream);
  sumWeights<Policy>(call, in, weights, edgeSlots<WeightedPolicy<Policy>>(edges, bins));
}

template <class Policy, class A, class It, class WeightIt, class Edge>
void sumWeightsOfHostEdges(const WeightedCall<A>& call, It in, WeightIt weights, const Edge* edges, std::size_t size) {
  requireSumsOf(call);
  requireWeightedInput(call, in, "in");
  requireWeightedInput(call, weights, "weights");
  withStoredEdges(edges, size, call.function, call.stream, [&](const Edge* stored) {
    sumWeights<Policy>(call, in, weights, edgeSlots<WeightedPolicy<Policy>>(stored, size - 1));
  });
}

GPUOPT_DETAIL_END
