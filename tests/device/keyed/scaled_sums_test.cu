/// reduceBy of floats in any order, which blocks add as integers: values that are no such integers, carries, samples
/// that make blocks add in loops.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/histogram.cuh>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpuopt::test::scaled_sums_test {
namespace {

constexpr std::size_t n = detail::maxGlobalSums + 3001;
constexpr std::size_t unsampled = detail::keyedThreads * 32;  // of 32 elements for each thread, one step is in a sample
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Pairs {
  std::vector<float> values;
  std::vector<int> keys;
};

// Whether sums that are exact in any order are exact: NaN where that is the sum.
void checkExact(const Pairs& pairs, std::size_t bins) {
  std::vector<double> expected(bins);
  for (std::size_t i = 0; i < n; ++i)
    if (static_cast<std::size_t>(pairs.keys[i]) < bins)
      expected[static_cast<std::size_t>(pairs.keys[i])] += double{pairs.values[i]};
  const DeviceArray<float> in(pairs.values);
  const DeviceArray<int> by(pairs.keys);
  DeviceArray<float> out(bins);
  reduceBy<FastSums>(in.data(), n, by.data(), bins, out.data());
  const std::vector<float> sums = out.toHost();
  std::size_t wrong = 0;
  for (std::size_t bin = 0; bin < bins; ++bin)
    if (!(sums[bin] == expected[bin] || (std::isnan(sums[bin]) && std::isnan(expected[bin])))) ++wrong;
  INFO(bins << " bins");
  CHECK(wrong == 0);
}

// Keys in turn; some of the last values, of which no sample has one, are `rare`: in a bin of its own, whose sum loses
// nothing beside others.
Pairs withRare(float common, float rare, std::size_t bins) {
  Pairs pairs;
  for (std::size_t i = 0; i < n; ++i) {
    const bool isRare = i >= unsampled && i % 97 == 5;
    pairs.values.push_back(isRare ? rare : i % 3 == 0 ? -common : common);
    pairs.keys.push_back(static_cast<int>(isRare ? bins - 1 : i * 7919 % (bins - 1)));
  }
  return pairs;
}

float times2To(float value, int exponent) { return std::ldexp(value, exponent); }

}  // namespace

TEST_CASE("scaled sums: values beside those that are integers", "[device]") {
  // The sample has nothing larger than 1, so that integers are from 2^-11 to 2^9.
  for (const float rare : {times2To(1, -11), times2To(1, -12), times2To(5, -40), times2To(1, -149), 256.0f, 511.0f,
                           512.0f, -513.0f, times2To(1, 100), infinity, -infinity, std::nanf(""), 0.0f})
    checkExact(withRare(1, rare, 1000), 1000);
}

TEST_CASE("scaled sums: values of any magnitude, with a scale or without", "[device]") {
  for (const int exponent : {-149, -126, -91, -90, -89, 0, 100, 112, 113, 114, 115})
    checkExact(withRare(times2To(1, exponent), times2To(3, exponent - 2 < -149 ? -149 : exponent - 2), 300), 300);
}

TEST_CASE("scaled sums: carries of both halves of a word, in both directions", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{1, 2, 100, 101}) {
    Pairs up, down, mixed;
    for (std::size_t i = 0; i < n; ++i) {
      const float sign = i % 11 == 0 ? -1.0f : 1.0f;
      const auto key = static_cast<int>(i * i % (bins + 1));  // few are frequent, and some are in no bin
      up.values.push_back(sign);
      down.values.push_back(-sign);
      mixed.values.push_back(key % 2 == 0 ? 3 * sign : -3 * sign);
      for (Pairs* const pairs : {&up, &down, &mixed}) pairs->keys.push_back(key);
    }
    for (const Pairs* const pairs : {&up, &down, &mixed}) checkExact(*pairs, bins);
  }
}

TEST_CASE("scaled sums: runs, and values of which a sample says that they are too different", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{10, 38400}) {
    Pairs runs, different;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t run = i / 61 * 7919 % bins, key = i * 7919 % bins;
      runs.values.push_back(static_cast<float>(i % 5));
      runs.keys.push_back(static_cast<int>(run));
      different.values.push_back(times2To(i % 2 == 0 ? 1 : -3, static_cast<int>(key % 64) - 32));
      different.keys.push_back(static_cast<int>(key));
    }
    checkExact(runs, bins);
    checkExact(different, bins);
  }
}

TEST_CASE("scaled sums: which plans have them", "[host]") {
  const auto scales = [](std::size_t elements, std::size_t bins, const detail::KeyedCell& cell, std::size_t stage = 0) {
    detail::KeyedRequest request;
    request.n = elements;
    request.slots = bins;
    request.elementBytes = 8;
    request.cell = cell;
    request.sharedBytes = 227 << 10;
    request.stageBytes = stage;
    request.multiprocessors = 132;
    const detail::KeyedPlan plan = detail::planKeyed(request);
    CHECK((!plan.scales || plan.sharedBytes >= detail::cellsBytes(bins, 6)));
    CHECK(plan.sharedBytes <= request.sharedBytes);
    return plan.scales;
  };
  const detail::KeyedCell floats = detail::wordCell<detail::DirectSum<float>, float>();
  const std::size_t many = std::size_t{1} << 27;
  CHECK(scales(many, 38400, floats));
  CHECK_FALSE(scales(many, 38401, floats));
  CHECK(scales(detail::maxGlobalSums + 1, 100, floats));
  CHECK_FALSE(scales(detail::maxGlobalSums, 100, floats));
  CHECK_FALSE(scales(many, 100, floats, 1000));
  CHECK_FALSE(scales(many, 100, detail::wordCell<detail::DirectSum<double>, double>()));
  CHECK_FALSE(scales(many, 100, detail::wordCell<detail::DirectSum<int>, int>()));
  CHECK_FALSE(scales(many, 100, detail::wordCell<detail::FixedPointSum<float>, float>()));
}

}  // namespace gpuopt::test::scaled_sums_test
