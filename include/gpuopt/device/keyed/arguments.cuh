/// \file
/// What the public functions of histograms check of the types of their arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/bins.cuh>
#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/reduce/source.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The element type of an input.
template <class It>
using HistogramElement = typename std::iterator_traits<Unwrapped<It>>::value_type;

// The type of the limits of its bins; of what has none, which a static_assert says, double.
template <class T, bool = hasBins<T>>
struct LimitType {
  using type = BinLimit<T>;
};
template <class T>
struct LimitType<T, false> {
  using type = double;
};
template <class It>
using LimitOf = typename LimitType<HistogramElement<It>>::type;
template <class R>
using LimitOfRange = LimitOf<RangeData<R>>;

template <class T>
constexpr bool requireNumbers() {
  static_assert(hasBins<T>,
                "gpuopt: the elements must be integers or floating-point numbers: histogramBy() takes a function that "
                "tells the bin of any element");
  return hasBins<T>;
}

// The counters that are written through an iterator.
template <class CountIt>
constexpr bool requireCounters() {
  constexpr bool MEMORY = isMemory<CountIt>;
  static_assert(MEMORY, "gpuopt: counts must be a pointer, or Thrust's iterator of memory");
  if constexpr (MEMORY) {
    using Count = std::remove_pointer_t<Unwrapped<CountIt>>;
    static_assert(!std::is_const_v<Count>, "gpuopt: the elements of counts are const");
    static_assert(isCount<std::remove_const_t<Count>>, "gpuopt: counts must be integers of 4 or 8 bytes");
    return !std::is_const_v<Count> && isCount<std::remove_const_t<Count>>;
  } else {
    return false;
  }
}

// Whether binOf(element) is an integer, as far as the host compiler can tell.
template <class BinOf, class T>
constexpr bool tellsBin() {
  if constexpr (isDeviceLambda<BinOf>)
    return true;
  else if constexpr (isCallable<const BinOf&, const T&>)
    return std::is_integral_v<std::decay_t<CallResult<const BinOf&, const T&>>>;
  else
    return false;
}

template <class BinOf, class T>
constexpr bool requireBinOf() {
  constexpr bool IS_DEVICE_CODE = requireDeviceCode<BinOf>(), TELLS = tellsBin<BinOf, T>();
  static_assert(TELLS || !IS_DEVICE_CODE,
                "gpuopt::histogramBy: binOf must be a function object with a const call operator that takes an element "
                "and returns an integer");
  return IS_DEVICE_CODE && TELLS;
}

// The bins of a number of counters.
template <class Policy>
std::size_t binsOfSlots(std::size_t slots, const char* function, const char* whose = "for each histogram ",
                        const char* name = "counts") {
  constexpr std::size_t OUTSIDE = Policy::COUNTS_OUTSIDE ? 2 : 0;
  if (slots <= OUTSIDE) throwInvalid({function, ": ", name, " has ", whose, slots, " elements, so bins is 0"});
  return slots - OUTSIDE;
}

// The bins of a container of counters.
template <class Policy, class Counts>
std::size_t binsOf(const Counts& counts, const char* function) {
  return binsOfSlots<Policy>(sizeOf(counts), function, "");
}

// A source of T at any address, for plans.
template <class T, class F>
using PlannedSource = std::conditional_t<readsVectors<T>, ArraySource<T, F, true>, IteratorSource<const T*, F>>;

GPUOPT_DETAIL_END
