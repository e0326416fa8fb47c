/// \file
/// Histograms of pairs: the slot of a pair follows from the bins of both samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/keyed/weighted.cuh>
#include <gpuopt/histogram_types.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Two samples that are read as one element.
template <class T, class U>
struct SamplePair {
  T x;
  U y;
};

// Row-major: the slot of the pair (x, y) is xBin * yBins + yBin, or the number of slots if one of them is in no bin.
template <class XBins, class YBins>
struct PairBins {
  XBins xBinOf;
  YBins yBinOf;
  unsigned xBins, yBins;

  template <class T, class U>
  __device__ unsigned operator()(const T& x, const U& y) const {
    const unsigned xBin = xBinOf(x), yBin = yBinOf(y);
    return xBin < xBins && yBin < yBins ? xBin * yBins + yBin : xBins * yBins;
  }

  template <class T, class U>
  __device__ unsigned operator()(const SamplePair<T, U>& pair) const {
    return (*this)(pair.x, pair.y);
  }
};

// The bins of both axes need the registers that the next steps would take.
template <class T, class U, class XBins, class YBins>
inline constexpr bool prefetchesSteps<PairSource<T, U, PairBins<XBins, YBins>, true>> = false;
template <class T, class U, class XBins, class YBins>
inline constexpr bool prefetchesSteps<PairSource<T, U, PairBins<XBins, YBins>, false>> = false;

// Both samples by one iterator: weights are an input of their own.
template <class XIt, class YIt>
struct SamplePairIterator {
  using value_type = SamplePair<HistogramElement<XIt>, HistogramElement<YIt>>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = value_type;
  using iterator_category = std::random_access_iterator_tag;

  XIt x;
  YIt y;

  __device__ value_type operator[](difference_type i) const { return {x[i], y[i]}; }
};

template <class Policy, class XIt, class YIt>
constexpr bool requirePairs() {
  constexpr bool HAS_BINS = requireNumbers<HistogramElement<XIt>>() && requireNumbers<HistogramElement<YIt>>();
  static_assert(!Policy::COUNTS_OUTSIDE, "gpuopt: histograms of pairs do not count what is outside of their bins");
  return HAS_BINS && !Policy::COUNTS_OUTSIDE;
}

// The slots of pairs. The name of the axis comes before what is wrong with it.
template <class Policy, class T, class U>
auto pairBins(const HistogramAxis<BinLimit<T>>& x, const HistogramAxis<BinLimit<U>>& y, const char* function) {
  const auto xBins = binsBetween<Policy, T>(x.bins, x.lower, x.upper, message({function, ": x"}).c_str());
  const auto yBins = binsBetween<Policy, U>(y.bins, y.lower, y.upper, message({function, ": y"}).c_str());
  if (y.bins > maxBins / x.bins)
    throwInvalid({function, ": bins of x (", x.bins, ") times bins of y (", y.bins, ") exceed ", maxBins});
  return PairBins<std::decay_t<decltype(xBins)>, std::decay_t<decltype(yBins)>>{
      xBins, yBins, static_cast<unsigned>(x.bins), static_cast<unsigned>(y.bins)};
}

// Counts n pairs; checks the arguments.
template <class Policy, class Count, class XIt, class YIt, class SlotOf>
void histogramOfPairs(const char* function, XIt x, YIt y, std::size_t n, Count* counts, const SlotOf& slotOf,
                      cudaStream_t stream) {
  const std::size_t slots = std::size_t{slotOf.xBins} * slotOf.yBins;
  requireCounts(counts, slots, function);
  requireReadable(deviceIterator(x, n, function, "x"), n, function, "x");
  requireReadable(deviceIterator(y, n, function, "y"), n, function, "y");
  const auto source = sourceOf<false>(function, n, slotOf, x, y);
  requireApart(Unwrap<XIt>::pointer(x), n, counts, slots, function, "x");
  requireApart(Unwrap<YIt>::pointer(y), n, counts, slots, function, "y");
  const HistogramCall<Count> call{function, stream, counts, slots, Policy::ADDS};
  withReadable<false>(source, n,
                      [&](const auto& readable) { launchPlan(call, planHistogram(call, n, readable), readable); });
}

// Adds the weights of n pairs; checks the arguments.
template <class Policy, class A, class XIt, class YIt, class WeightIt, class SlotOf>
void sumWeightsOfPairs(const WeightedCall<A>& call, XIt x, YIt y, WeightIt weights, const SlotOf& slotOf) {
  requireSumsOf(call);
  requireWeightedInput(call, x, "x");
  requireWeightedInput(call, y, "y");
  const SamplePairIterator<Unwrapped<XIt>, Unwrapped<YIt>> pairs{Unwrap<XIt>::pointer(x), Unwrap<YIt>::pointer(y)};
  sumWeights<Policy>(call, pairs, weights, slotOf);
}

GPUOPT_DETAIL_END
