/// \file
/// Histograms of pairs (x, y) in two dimensions, as NumPy's histogram2d.
///
///     gpuopt::histogram2d(x, y, n, counts, {64, 0.0f, 1.0f}, {32, -1.0f, 1.0f}, stream);  // {bins, lower, upper}
///     gpuopt::histogram2d(x, y, counts, {64, 0, 1}, {32, -1, 1});                         // containers or spans
///     gpuopt::histogram2dWeighted(x, y, n, weights, sums, {64, 0, 1}, {32, -1, 1});       // sums of weights
///
/// The counter of x in bin i and y in bin j is number i * (bins of y) + j: a matrix with a row for each bin of x.
///
/// **Common to all functions.** The bins of each axis are exactly those of histogram(). Pairs of which one sample is in
/// no bin are not counted. Counts and their cost are those of histogramBy() with as many bins as the product; sums and
/// their cost those of histogramWeighted(). Asynchronous on `stream`, without synchronisation; can be captured into a
/// graph. x and y are pointers to device memory, or iterators that the device can index.
///
/// **Errors.** As for histogram(), and more than 2^31 - 3 counters. The message names the axis.
///
/// More: docs/histogram.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/pairs.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// Counts the pairs (x[i], y[i]) in each of the bins of two axes: ++counts[xBin * yAxis.bins + yBin].
///
/// \tparam Policy HistogramPolicy, AddCounts, CloseLastBin for both axes, or a type derived from them
/// \param x,y n integers or floating-point numbers each, of one type or two
/// \param n the number of pairs
/// \param counts xAxis.bins * yAxis.bins integers of 4 or 8 bytes in device memory, row-major
/// \param xAxis,yAxis the bins of x and of y, {bins, lower, upper}; the limits as for histogram()
template <class Policy = HistogramPolicy, class XIt, class YIt, class CountIt>
void histogram2d(XIt x, YIt y, std::size_t n, CountIt counts, HistogramAxis<detail::LimitOf<XIt>> xAxis,
                 HistogramAxis<detail::LimitOf<YIt>> yAxis, StreamRef stream = {}) {
  constexpr bool HAS_BINS = detail::requirePairs<Policy, XIt, YIt>(), WRITES = detail::requireCounters<CountIt>();
  if constexpr (HAS_BINS && WRITES) {
    constexpr const char* function = "gpuopt::histogram2d";
    using T = detail::HistogramElement<XIt>;
    using U = detail::HistogramElement<YIt>;
    const auto slotOf = detail::pairBins<Policy, T, U>(xAxis, yAxis, function);
    detail::histogramOfPairs<Policy>(function, x, y, n, detail::Unwrap<CountIt>::pointer(counts), slotOf, stream);
  }
}

/// The same for containers or spans: `y` has as many elements as `x`, or more, and `counts` one for each pair of bins,
/// or more.
template <class Policy = HistogramPolicy, class X, class Y, class Counts, class = detail::EnableRange<X>,
          class = detail::EnableRange<Y>, class = detail::EnableRange<Counts>>
void histogram2d(X&& x, Y&& y, Counts&& counts, HistogramAxis<detail::LimitOfRange<X>> xAxis,
                 HistogramAxis<detail::LimitOfRange<Y>> yAxis, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogram2d";
  detail::requireSize(y, detail::sizeOf(x), "y", function);
  detail::requireSize(counts, detail::cappedProduct(xAxis.bins, yAxis.bins), "counts", function);
  gpuopt::histogram2d<Policy>(detail::dataOf(x), detail::dataOf(y), detail::sizeOf(x), detail::dataOf(counts), xAxis,
                              yAxis, stream);
}

/// Adds up the weights of the pairs in each of the bins of two axes: sums[xBin * yAxis.bins + yBin] += weights[i].
///
/// \tparam Policy HistogramPolicy, AddCounts, CloseLastBin, FastSums, or a type derived from them
/// \param x,y n integers or floating-point numbers each, of one type or two
/// \param n the number of pairs
/// \param weights n numbers, each converted to the type of `sums`
/// \param sums xAxis.bins * yAxis.bins numbers of 4 or 8 bytes in device memory, row-major
/// \param xAxis,yAxis the bins of x and of y, {bins, lower, upper}; the limits as for histogram()
template <class Policy = HistogramPolicy, class XIt, class YIt, class WeightIt, class SumIt>
void histogram2dWeighted(XIt x, YIt y, std::size_t n, WeightIt weights, SumIt sums,
                         HistogramAxis<detail::LimitOf<XIt>> xAxis, HistogramAxis<detail::LimitOf<YIt>> yAxis,
                         StreamRef stream = {}) {
  using Both = detail::WeightedPolicy<Policy>;
  constexpr bool HAS_BINS = detail::requirePairs<Both, XIt, YIt>(), ADDS = detail::requireSums<WeightIt, SumIt>();
  if constexpr (HAS_BINS && ADDS) {
    constexpr const char* function = "gpuopt::histogram2dWeighted";
    using T = detail::HistogramElement<XIt>;
    using U = detail::HistogramElement<YIt>;
    const auto slotOf = detail::pairBins<Both, T, U>(xAxis, yAxis, function);
    const auto call = detail::weightedCall<Policy>(function, stream, n, detail::Unwrap<SumIt>::pointer(sums),
                                                   xAxis.bins * yAxis.bins);
    detail::sumWeightsOfPairs<Policy>(call, x, y, weights, slotOf);
  }
}

/// The same for containers or spans: `y` and `weights` have as many elements as `x`, or more, and `sums` one for each
/// pair of bins, or more.
template <class Policy = HistogramPolicy, class X, class Y, class Weights, class Sums, class = detail::EnableRange<X>,
          class = detail::EnableRange<Y>, class = detail::EnableRange<Weights>, class = detail::EnableRange<Sums>>
void histogram2dWeighted(X&& x, Y&& y, Weights&& weights, Sums&& sums, HistogramAxis<detail::LimitOfRange<X>> xAxis,
                         HistogramAxis<detail::LimitOfRange<Y>> yAxis, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogram2dWeighted";
  detail::requireSize(y, detail::sizeOf(x), "y", function);
  detail::requireSize(weights, detail::sizeOf(x), "weights", function);
  detail::requireSize(sums, detail::cappedProduct(xAxis.bins, yAxis.bins), "sums", function);
  gpuopt::histogram2dWeighted<Policy>(detail::dataOf(x), detail::dataOf(y), detail::sizeOf(x), detail::dataOf(weights),
                                      detail::dataOf(sums), xAxis, yAxis, stream);
}

GPUOPT_OTHER_CALLS(histogram2d,
                   "(x, y, n, counts, xAxis, yAxis), or containers (x, y, counts, xAxis, yAxis), then a stream, with "
                   "{bins, lower, upper} for an axis")
GPUOPT_OTHER_CALLS(histogram2dWeighted,
                   "(x, y, n, weights, sums, xAxis, yAxis), or containers (x, y, weights, sums, xAxis, yAxis), then a "
                   "stream, with {bins, lower, upper} for an axis")

GPUOPT_NAMESPACE_END
