/// Mean and variance by two passes in long double, and how far from them rounding may lead.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/reduction_data.cuh"

#include <gpuopt/reduce_types.cuh>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpuopt::test {

struct TwoPasses {
  double mean = 0;
  double variance = 0;
  double largest = 0;  // magnitude of an element
};

template <class T>
TwoPasses inTwoPasses(const std::vector<T>& values) {
  TwoPasses result;
  const auto n = static_cast<long double>(values.size());
  const long double mean = sumExactly(values).sum / n;
  long double squares = 0;
  for (const T& value : values) {
    const long double x = static_cast<long double>(static_cast<double>(value));
    squares += (x - mean) * (x - mean);
    result.largest = (std::max)(result.largest, static_cast<double>(std::fabs(x)));
  }
  result.mean = static_cast<double>(mean);
  result.variance = static_cast<double>(squares / n);
  return result;
}

/// Whether the moments of finite values are right but for rounding. That moves each partial mean by about log2(n) eps
/// |x|; a mean that is off by d adds d^2, and 2 d sigma, to the variance, on top of the relative error of its own sums.
/// \param serial how many values a thread may add one by one
template <class A, class T>
bool areMoments(const MeanVariance<A>& found, const std::vector<T>& values, double serial = 0) {
  const TwoPasses exact = inTwoPasses(values);
  const double epsilon = static_cast<double>(std::numeric_limits<A>::epsilon());
  const double levels = 4 + std::log2(static_cast<double>(values.size()));
  const double meanError = levels * epsilon * exact.largest;
  const double varianceError = (2 * levels + serial) * epsilon * exact.variance +
                               2 * meanError * std::sqrt(exact.variance) + meanError * meanError;
  return found.count == values.size() && std::fabs(static_cast<double>(found.mean) - exact.mean) <= meanError &&
         std::fabs(static_cast<double>(found.variance) - exact.variance) <= varianceError && found.variance >= 0;
}

}  // namespace gpuopt::test
