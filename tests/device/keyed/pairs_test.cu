/// Histograms of pairs against serial counts, at every edge, size and alignment; weights, policies, containers, wrong
/// arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "support/random.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::pairs_test {
namespace {

// The bin of a whole number, or of a number between two; -1 outside. Limits and widths are whole, so this is exact.
template <class T>
std::int64_t binOf(T x, std::int64_t bins, std::int64_t lower, std::int64_t width) {
  if (!(x >= static_cast<T>(lower)) || !(x < static_cast<T>(lower + bins * width))) return -1;
  return (static_cast<std::int64_t>(std::floor(static_cast<double>(x))) - lower) / width;
}

template <class T>
std::vector<T> samplesFor(std::size_t n, std::size_t factor, std::size_t range) {
  std::vector<T> samples(n);
  for (std::size_t i = 0; i < n; ++i) {
    samples[i] = static_cast<T>(static_cast<std::int64_t>(i * factor % range) - (std::is_signed_v<T> ? 3 : 0));
    if constexpr (std::is_floating_point_v<T>) {
      if (i % 3 == 1) samples[i] = std::nextafter(samples[i], T(1000));
      if (i % 3 == 2) samples[i] = std::nextafter(samples[i], T(-1000));
      if (i % 97 == 5) samples[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return samples;
}

// Axes of whole widths.
struct Axis {
  std::size_t bins;
  std::int64_t lower, width;
  std::int64_t upper() const { return lower + static_cast<std::int64_t>(bins) * width; }
};

template <class T, class U, class Count>
void checkPairs(std::size_t n, Axis x, Axis y, std::size_t offset) {
  CAPTURE(sizeof(T), sizeof(U), n, x.bins, y.bins, offset);
  if (!runsNextCase()) return;
  const std::vector<T> xs = samplesFor<T>(n, 7919, static_cast<std::size_t>(x.upper()) + 5);
  const std::vector<U> ys = samplesFor<U>(n, 104729, static_cast<std::size_t>(y.upper()) + 5);
  std::vector<Count> counted(x.bins * y.bins, 0);
  std::vector<float> summed(x.bins * y.bins, 0), weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = static_cast<float>(i % 13 + 1);
    const std::int64_t xBin = binOf(xs[i], static_cast<std::int64_t>(x.bins), x.lower, x.width);
    const std::int64_t yBin = binOf(ys[i], static_cast<std::int64_t>(y.bins), y.lower, y.width);
    if (xBin < 0 || yBin < 0) continue;
    const auto slot = static_cast<std::size_t>(xBin) * y.bins + static_cast<std::size_t>(yBin);
    ++counted[slot];
    summed[slot] += weights[i];
  }
  const DeviceArray<T> xIn(xs, offset);
  const DeviceArray<U> yIn(ys, offset / 2);
  const DeviceArray<float> by(weights, offset);
  DeviceArray<Count> counts(counted.size());
  DeviceArray<float> sums(counted.size());
  histogram2d(xIn.data(), yIn.data(), n, counts.data(), {x.bins, x.lower, x.upper()}, {y.bins, y.lower, y.upper()});
  CHECK(counts.toHost() == counted);
  if constexpr (std::is_same_v<T, U>) {  // weights know the bins, not the types of samples
    histogram2dWeighted(xIn.data(), yIn.data(), n, by.data(), sums.data(), {x.bins, x.lower, x.upper()},
                        {y.bins, y.lower, y.upper()});
    CHECK(sums.toHost() == summed);
  }
}

struct AddClosed : AddCounts {
  static constexpr bool CLOSED = true;
};

}  // namespace
}  // namespace gpuopt::test::pairs_test

using namespace gpuopt;
using namespace gpuopt::test;
using namespace gpuopt::test::pairs_test;

TEST_CASE("Pairs in bins of two axes", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 33, 257, 20001}) {
    checkPairs<float, float, unsigned>(n, {10, 0, 3}, {7, 1, 2}, n % 3);
    checkPairs<float, double, int>(n, {1, 0, 20}, {40, -2, 1}, n % 2);
    checkPairs<unsigned char, std::int32_t, std::uint64_t>(n, {16, 0, 4}, {5, 0, 3}, 1);
    checkPairs<std::int64_t, std::int16_t, unsigned>(n, {3, -1, 5}, {3, -2, 4}, 2);
  }
}

TEST_CASE("Pairs in more bins than shared memory has room for", "[device]") {
  checkPairs<float, float, unsigned>(4000, {300, 0, 1}, {301, 0, 1}, 1);
}

TEST_CASE("Many pairs in many bins", "[device][sweep]") {
  checkPairs<float, float, unsigned>(70001, {300, 0, 1}, {301, 0, 1}, 1);
  checkPairs<float, float, unsigned>(70001, {300, 0, 1}, {901, 0, 1}, 0);
}

TEST_CASE("Pairs of tenths: the bins of each axis are those of histogram", "[device]") {
  const std::size_t n = 3000;
  std::vector<float> xs(n), ys(n);
  for (std::size_t i = 0; i < n; ++i) {
    xs[i] = static_cast<float>(i % 12) / 10;
    ys[i] = static_cast<float>(i * 7 % 11) / 10;
  }
  const DeviceVector<float> x(xs), y(ys);
  DeviceVector<unsigned> pairs(100), rows(10);
  histogram2d(x, y, pairs, {10, 0.0f, 1.0f}, {10, 0.0f, 1.1f});
  const std::vector<unsigned> counts = pairs.toHost();
  histogram(x, rows, 0.0f, 1.0f);
  const std::vector<unsigned> rowCounts = rows.toHost();
  for (std::size_t row = 0; row < 10; ++row) {
    unsigned sum = 0;
    for (std::size_t col = 0; col < 10; ++col) sum += counts[row * 10 + col];
    CHECK(sum == rowCounts[row]);
  }
}

TEST_CASE("Pairs: policies, containers, a stream", "[device]") {
  const DeviceVector<float> x{0, 1, 2, 2, 0.5f}, y{0, 2, 2, -1, 1};
  DeviceVector<unsigned> counts(4);
  histogram2d(x, y, counts, {2, 0, 2}, {2, 0, 2});
  CHECK(counts.toHost() == std::vector<unsigned>{1, 1, 0, 0});
  histogram2d<CloseLastBin>(x, y, counts, {2, 0, 2}, {2, 0, 2});
  CHECK(counts.toHost() == std::vector<unsigned>{1, 1, 0, 2});
  histogram2d<AddClosed>(x, y, counts, {2, 0, 2}, {2, 0, 2});
  CHECK(counts.toHost() == std::vector<unsigned>{2, 2, 0, 4});
  DeviceVector<float> sums(4);
  const DeviceVector<float> weights{1, 2, 4, 8, 16};
  histogram2dWeighted<CloseLastBin>(x, y, weights, sums, {2, 0, 2}, {2, 0, 2});
  CHECK(sums.toHost() == std::vector<float>{1, 16, 0, 6});
  const int bins = 2;  // any integer
  const Stream stream;
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  histogram2dWeighted<AddCounts>(x, y, weights, sums, {bins, 0, 2}, {bins, 0, 2.0}, stream);
  stream.wait();
  CHECK(sums.toHost() == std::vector<float>{2, 32, 0, 6});
}

TEST_CASE("Pairs: wrong arguments", "[device]") {
  const DeviceVector<float> x{0, 1, 2}, y{0, 1, 2};
  DeviceVector<unsigned> counts(4);
  const auto said = [&](HistogramAxis<float> xAxis, HistogramAxis<float> yAxis) {
    return messageOf<std::invalid_argument>([&] { histogram2d(x.data(), y.data(), 3, counts.data(), xAxis, yAxis); });
  };
  CHECK(said({0, 0, 1}, {2, 0, 1}) == "gpuopt::histogram2d: x: bins is 0; it comes before lower and upper");
  CHECK(said({2, 0, 1}, {2, 1, 0}) == "gpuopt::histogram2d: y: lower (1) is not less than upper (0)");
  CHECK(said({100000, 0, 1}, {100000, 0, 1}) ==
        "gpuopt::histogram2d: bins of x (100000) times bins of y (100000) exceed 2147483645");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2d(x.data(), static_cast<float*>(nullptr), 3, counts.data(), {2, 0, 1}, {2, 0, 1});
        }) == "gpuopt::histogram2d: y is null, but n is 3");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2d(x.data(), y.data(), 3, static_cast<int*>(nullptr), {2, 0, 1}, {2, 0, 1});
        }) == "gpuopt::histogram2d: counts is null, but there are 4 counters");
  // WRITTEN histogram: histogram2d(x, y, counts, {10, 0, 1}, {10, 0, 1}), where counts has 10 elements
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2d(x, y, counts, {10, 0, 1}, {10, 0, 1});
        }) == "gpuopt::histogram2d: counts has 4 elements, but 100 are needed");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2d(x, DeviceVector<float>(2), counts, {2, 0, 1}, {2, 0, 1});
        }) == "gpuopt::histogram2d: y has 2 elements, but 3 are needed");
  DeviceVector<float> sums(4);
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2dWeighted(x.data(), sums.data(), 3, x.data(), sums.data(), {2, 0, 1}, {2, 0, 1});
        }) == "gpuopt::histogram2dWeighted: y and sums overlap: sums begins at byte 0 of the 12 of y");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogram2dWeighted(x, y, DeviceVector<float>(1), sums, {2, 0, 1}, {2, 0, 1});
        }) == "gpuopt::histogram2dWeighted: weights has 1 elements, but 3 are needed");
}
