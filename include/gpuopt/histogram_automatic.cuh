/// \file
/// Histograms whose limits, or number of bins, follow from the elements.
///
///     gpuopt::DeviceVector<unsigned> counts(gpuopt::binsNeeded(ids));    // the largest id and 1
///     gpuopt::bincount(ids, counts);
///
///     auto [least, greatest] = gpuopt::histogramMinMax(samples, counts); // bins from the least to the greatest
///     element
///
/// These functions wait for the device, because a value goes to the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_statistics.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class T>
constexpr bool requireIntegers() {
  static_assert(std::is_integral_v<T>, "gpuopt::binsNeeded: the elements must be integers");
  return std::is_integral_v<T>;
}

// The policy with a closed last bin.
template <class Policy>
struct WithLastBin : Policy {
  static constexpr bool CLOSED = true;
};

// Limits that are apart, for elements that are all equal.
template <class Limit>
void moveApart(Limit& lower, Limit& upper) {
  if (lower != upper) return;
  if constexpr (std::is_integral_v<Limit>) {
    upper == greatest<Limit> ? --lower : ++upper;
  } else {
    lower -= Limit(0.5);
    upper += Limit(0.5);
  }
}

}  // namespace detail

/// How many bins bincount() needs to count all elements that are not negative: the largest one and 1, or 0 without any.
///
/// Cost: one reading. Throws std::invalid_argument if bincount() allows fewer.
///
/// \param in,n integers in device memory, or an iterator, and their number
/// \param stream the elements are those of its order
template <class It>
[[nodiscard]] std::size_t binsNeeded(It in, std::size_t n, StreamRef stream = {}) {
  using T = detail::HistogramElement<It>;
  if constexpr (detail::requireIntegers<T>()) {
    if (n == 0) return 0;
    const auto largest = gpuopt::reduce(in, n, Maximum{}, stream);
    if constexpr (std::is_signed_v<T>)
      if (largest < 0) return 0;
    const auto bins = static_cast<std::uint64_t>(largest);
    if (bins >= detail::maxBins)
      detail::throwInvalid({"gpuopt::binsNeeded: the largest element (", std::to_string(bins), ") needs more than ",
                            detail::maxBins, " bins"});
    return bins + 1;
  } else {
    return 0;
  }
}

/// The same for a container or span, in the order of `stream`.
template <class In, class = detail::EnableRange<In>>
[[nodiscard]] std::size_t binsNeeded(In&& in, StreamRef stream = {}) {
  return gpuopt::binsNeeded(detail::dataOf(in), detail::sizeOf(in), stream);
}

/// Counts the elements in each of `bins` bins of equal width from the least to the greatest element, which is in the
/// last bin, as NumPy does; if all are equal, half of 1 is below them and half above, or of integers one bin of them.
///
/// Cost: two readings. Throws std::invalid_argument as histogram() does, for infinities and NaN among the elements,
/// too.
///
/// \tparam Policy HistogramPolicy, AddCounts, or a type derived from one
/// \param in n > 0 integers or floating-point numbers
/// \param counts `bins` counters
/// \param bins,n as for histogram()
/// \param stream the elements are those of its order; the counts follow in it
/// \return the limits
template <class Policy = HistogramPolicy, class It, class CountIt>
MinMax<detail::LimitOf<It>> histogramMinMax(It in, std::size_t n, CountIt counts, std::size_t bins,
                                            StreamRef stream = {}) {
  using Limit = detail::LimitOf<It>;
  if (n == 0) detail::throwInvalid({"gpuopt::histogramMinMax: n is 0, so there are no limits"});
  const auto extremes = gpuopt::minMax(in, n, stream);
  auto lower = static_cast<Limit>(extremes.minimum), upper = static_cast<Limit>(extremes.maximum);
  detail::moveApart(lower, upper);
  gpuopt::histogram<detail::WithLastBin<Policy>>(in, n, counts, bins, lower, upper, stream);
  return {lower, upper};
}

/// The same for containers or spans, in the order of `stream`: as many bins as `counts` has elements.
template <class Policy = HistogramPolicy, class In, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
MinMax<detail::LimitOfRange<In>> histogramMinMax(In&& in, Counts&& counts, StreamRef stream = {}) {
  return gpuopt::histogramMinMax<Policy>(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(counts),
                                         detail::binsOf<Policy>(counts, "gpuopt::histogramMinMax"), stream);
}

GPUOPT_NAMESPACE_END
