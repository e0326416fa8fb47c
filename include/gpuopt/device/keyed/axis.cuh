/// \file
/// One axis of a histogram that has several.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// Bins of equal width over [lower, upper): one axis of a histogram of pairs, or one of its channels. Write it in
/// braces: `{bins, lower, upper}`.
///
/// \tparam Limit the type of the limits, as for histogram(): std::int64_t for integers
template <class Limit>
struct HistogramAxis {
  /// Of numbers of any types, as an argument of a function takes them.
  ///
  /// \param binCount the number of bins
  /// \param least,end the limits
  template <class Bins, class Lower, class Upper>
  HistogramAxis(Bins binCount, Lower least, Upper end)
      : bins(static_cast<std::size_t>(binCount)), lower(static_cast<Limit>(least)), upper(static_cast<Limit>(end)) {}

  std::size_t bins;  ///< the number of bins
  Limit lower;       ///< where the first one begins
  Limit upper;       ///< where the last one ends
};

GPUOPT_NAMESPACE_END
