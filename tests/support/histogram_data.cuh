/// \file
/// Data and oracles of histograms: inputs of several distributions, serial counts.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

enum class Distribution { uniform, equal, runs, fewOften };

inline constexpr Distribution allDistributions[] = {Distribution::uniform, Distribution::equal, Distribution::runs,
                                                    Distribution::fewOften};

/// n numbers below `end`.
inline std::vector<unsigned> numbersBelow(std::size_t n, unsigned end, Distribution distribution, unsigned seed) {
  std::mt19937_64 generator(seed);
  unsigned last = 0;
  std::vector<unsigned> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto random = static_cast<unsigned>(generator() >> 33);
    const bool isRare = distribution == Distribution::fewOften && random % 8 == 0;
    if (distribution == Distribution::uniform || isRare || (distribution == Distribution::runs && i % 61 == 0))
      last = random % end;
    else if (distribution == Distribution::equal)
      last = end / 3;
    else if (distribution == Distribution::fewOften)
      last = random % (end < 3 ? 1 : 3);
    numbers[i] = last;
  }
  return numbers;
}

/// Counts as histograms with CountOutside: numbers below 0, then those from `bins` on, after the bins.
template <class Count, class T, class BinOf>
std::vector<Count> countsOf(const std::vector<T>& values, std::size_t bins, BinOf binOf) {
  std::vector<Count> counts(bins + 2, 0);
  for (const T& value : values) {
    const auto bin = static_cast<long long>(binOf(value));
    const bool isAbove = bin >= static_cast<long long>(bins);
    ++counts[bin < 0 ? bins : isAbove ? bins + 1 : static_cast<std::size_t>(bin)];
  }
  return counts;
}

/// Without the counts of elements outside.
template <class Count>
std::vector<Count> insideOf(std::vector<Count> counts) {
  counts.resize(counts.size() - 2);
  return counts;
}

}  // namespace gpuopt::test
