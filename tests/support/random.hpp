/// Test data: the same on every machine, and never uniform, because a sum of ones cannot see a permutation.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

/// A vector of n values `make(generator)`, the same for the same seed.
template <class T, class Make>
std::vector<T> generateVector(std::size_t n, unsigned seed, Make make) {
  std::mt19937_64 generator(seed);
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(make(generator));
  return values;
}

/// Floating-point types: values in [-1, 1) that use the whole mantissa; integers: any value.
/// Other types (__half, __nv_bfloat16) are converted from float.
template <class T>
std::vector<T> randomVector(std::size_t n, unsigned seed) {
  return generateVector<T>(n, seed, [](std::mt19937_64& generator) {
    const auto bits = static_cast<std::int64_t>(generator());
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else if constexpr (std::is_same_v<T, double>) {
      return static_cast<double>(bits >> 11) * 0x1p-52;
    } else {
      return static_cast<T>(static_cast<float>(bits >> 39) * 0x1p-24F);
    }
  });
}

/// Whole numbers from -3 to 3 (modulo 2^bits for unsigned types): their sums are exact in every order.
template <class T>
std::vector<T> smallIntegers(std::size_t n, unsigned seed) {
  return generateVector<T>(n, seed, [](std::mt19937_64& generator) {
    const int value = static_cast<int>(generator() % 7) - 3;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(value);
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  });
}

}  // namespace gpuopt::test
