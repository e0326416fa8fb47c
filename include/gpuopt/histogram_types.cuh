/// \file
/// What callers choose about histograms and reduceBy: policies, axes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// What a histogram does with its counters. To change a value, derive a type and pass it as the first template
/// argument; `AddCounts`, `CountOutside` and `CloseLastBin` are such types.
struct HistogramPolicy {
  static constexpr bool ADDS = false;            ///< whether counts are added to what is there; else they replace it
  static constexpr bool COUNTS_OUTSIDE = false;  ///< whether elements in no bin have counters, two after the bins
  static constexpr bool CLOSED = false;          ///< whether elements that equal `upper` are in the last bin
};

/// Counts are added to those that are there.
struct AddCounts : HistogramPolicy {
  static constexpr bool ADDS = true;  ///< counts are added
};

/// Elements that are in no bin have two counters: counts[bins] for those below the first bin, counts[bins + 1] for
/// those above the last one and for NaN. `counts` then has bins + 2 elements, whose sum is n.
struct CountOutside : HistogramPolicy {
  static constexpr bool COUNTS_OUTSIDE = true;  ///< such elements are counted, too
};

/// The last bin has the elements that equal `upper`, too, as NumPy's does: for bins between limits.
struct CloseLastBin : HistogramPolicy {
  static constexpr bool CLOSED = true;  ///< such elements are in the last bin
};

/// How reduceBy adds up floating-point numbers, and where its results go. `FastSums` and `CombineWithOut` are the other
/// choices; a type derived from one of them may have both.
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
