/// \file
/// Where the results of rows, columns and segments go: pointers and iterators, also of another type.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

template <class Out>
using OutputReference = decltype(std::declval<const Out&>()[std::ptrdiff_t{}]);

// Whether T{result} is no narrowing conversion.
template <class Result, class T, class = void>
inline constexpr bool fits = false;
template <class Result, class T>
inline constexpr bool fits<Result, T, std::void_t<decltype(T{std::declval<Result>()})>> = true;

// Whether a result can be stored: it may be rounded to a floating-point type, as long as it is not cut to an integer.
template <class Result, class Reference>
constexpr bool canStore() {
  using T = std::decay_t<Reference>;
  if constexpr (std::is_integral_v<T> && std::is_arithmetic_v<Result>)
    return fits<Result, T>;
  else
    return std::is_assignable_v<Reference, Result>;
}

// Whether Out is a pointer or an iterator that takes the results.
template <class Result, class Out, class = void>
inline constexpr bool isOutput = false;
template <class Result, class Out>
inline constexpr bool isOutput<Result, Out, std::void_t<OutputReference<Out>>> =
    canStore<Result, OutputReference<Out>>();

// Stores result i, rounded to the type of the output.
template <class Out, class Result>
__device__ inline void storeOutput(const Out& out, std::size_t i, const Result& result) {
  using T = std::decay_t<OutputReference<Out>>;
  if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<Result>)
    out[static_cast<std::ptrdiff_t>(i)] = static_cast<T>(result);
  else
    out[static_cast<std::ptrdiff_t>(i)] = result;
}

GPUOPT_DETAIL_END
