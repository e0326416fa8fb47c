/// \file
/// The statistics of an array: by gpuopt on the device, and serially on the CPU to check them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_statistics.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

/// Integers are summed in 64 bits, everything else in double precision.
template <class T>
using SumOf = std::conditional_t<!std::is_integral_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class T>
struct Statistics {
  std::size_t count;
  SumOf<T> sum;
  double mean;
  double variance;
  gpuopt::ArgResult<T> least;  ///< the first, if there are several
  gpuopt::ArgResult<T> greatest;
};

/// The statistics of n numbers in device memory. Every call of gpuopt reads them once and gives its result
/// back.
template <class T>
Statistics<T> deviceStatistics(const T* data, std::size_t n) {
  const auto moments = gpuopt::meanVariance<double>(data, n);
  return {moments.count,    gpuopt::reduce<SumOf<T>>(data, n), moments.mean,
          moments.variance, gpuopt::argMin(data, n),           gpuopt::argMax(data, n)};
}

/// Adds with the error of each addition carried along (Neumaier 1974), so that the reference is better than
/// what it checks.
class ExactSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    error_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + error_ : sum_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

/// The same statistics by loops over the numbers, one after another.
template <class T>
Statistics<T> serialStatistics(const std::vector<T>& values) {
  const auto n = static_cast<double>(values.size());
  ExactSum sum, squares;
  std::uint64_t integerSum = 0;
  gpuopt::ArgResult<T> least{values[0], 0}, greatest{values[0], 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T x = values[i];
    sum.add(static_cast<double>(x));
    if constexpr (std::is_integral_v<T>) integerSum += static_cast<std::uint64_t>(x);
    const bool isFirstNaN = x != x && least.value == least.value;
    if (x < least.value || isFirstNaN) least = {x, i};
    if (x > greatest.value || isFirstNaN) greatest = {x, i};
  }
  const double mean = sum.value() / n;
  for (const T x : values) squares.add((static_cast<double>(x) - mean) * (static_cast<double>(x) - mean));
  Statistics<T> result{values.size(), {}, mean, squares.value() / n, least, greatest};
  if constexpr (std::is_integral_v<T>)
    result.sum = static_cast<SumOf<T>>(integerSum);
  else
    result.sum = sum.value();
  return result;
}

/// The sum of the absolute values: what rounding errors are measured by.
template <class T>
double magnitudeOf(const std::vector<T>& values) {
  double sum = 0;
  for (const T x : values) sum += std::fabs(static_cast<double>(x));
  return sum;
}
