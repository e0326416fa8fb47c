/// \file
/// Arithmetic of sizes on the host and in constants. `<algorithm>` and `<numeric>` would take a tenth of what
/// a user's file takes to compile.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class T>
constexpr T smallerOf(T a, T b) {
  return b < a ? b : a;
}

template <class T>
constexpr T largerOf(T a, T b) {
  return a < b ? b : a;
}

template <class T>
constexpr T clampTo(T value, T lowest, T highest) {
  return value < lowest ? lowest : smallerOf(value, highest);
}

constexpr std::size_t greatestCommonDivisor(std::size_t a, std::size_t b) {
  return b == 0 ? a : greatestCommonDivisor(b, a % b);
}

constexpr std::size_t leastCommonMultiple(std::size_t a, std::size_t b) {
  return a / greatestCommonDivisor(a, b) * b;
}

// The largest power of two that divides n; 0 of 0.
constexpr std::size_t powerOfTwoIn(std::size_t n) { return n & (0 - n); }

constexpr std::size_t roundUp(std::size_t size, std::size_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
