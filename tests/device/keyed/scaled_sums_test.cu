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
constexpr std::size_t longBins = 28800;                       // integers of 64 bits fit
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Pairs {
  std::vector<float> values;
  std::vector<int> keys;
};

// Whether sums that are exact in any order are exact: NaN where that is the sum.
void checkExact(const Pairs& pairs, std::size_t bins) {
  std::vector<double> expected(bins);
  for (std::size_t i = 0; i < pairs.values.size(); ++i)
    if (static_cast<std::size_t>(pairs.keys[i]) < bins)
      expected[static_cast<std::size_t>(pairs.keys[i])] += double{pairs.values[i]};
  const DeviceArray<float> in(pairs.values);
  const DeviceArray<int> by(pairs.keys);
  DeviceArray<float> out(bins);
  reduceBy<FastSums>(in.data(), pairs.values.size(), by.data(), bins, out.data());
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
  // The sample has nothing larger than 1, so that integers are from 2^-11 on, and below 2^8.
  for (const float rare : {times2To(1, -11), times2To(1, -12), times2To(5, -40), 255.0f, 256.0f, -257.0f,
                           times2To(1, 100), infinity, -infinity, std::nanf(""), 0.0f})
    for (const std::size_t bins : {std::size_t{1000}, longBins + 1}) checkExact(withRare(1, rare, bins), bins);
}

TEST_CASE("scaled sums: values of any magnitude, with a scale or without", "[device]") {
  for (const int exponent : {-126, -93, -92, -91, 0, 100, 112, 113, 114, 115})
    for (const std::size_t bins : {std::size_t{300}, longBins + 1})
      checkExact(withRare(times2To(1, exponent), times2To(3, exponent - 2), bins), bins);
}

TEST_CASE("scaled sums: carries of both halves of a word, in both directions", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{1, 101, longBins + 1, longBins + 2}) {
    const std::size_t half = detail::reduceByWords(bins) / 2;  // of slots, which share words with the others
    const std::size_t keys[] = {5, 5 + half, 5, 5 + half, 0, bins - 1, bins};
    Pairs up, down, mixed;
    for (std::size_t i = 0; i < 4 * n; ++i) {
      const float value = i % 11 == 0 ? -1.75f : 1.75f;
      const std::size_t key = keys[i * i % 7 + (i % 5 == 0 ? 1 : 0)] % (bins + 1);
      up.values.push_back(value);
      down.values.push_back(-value);
      mixed.values.push_back(key < half ? value : -value);
      for (Pairs* const pairs : {&up, &down, &mixed}) pairs->keys.push_back(static_cast<int>(key));
    }
    for (const Pairs* const pairs : {&up, &down, &mixed}) checkExact(*pairs, bins);
  }
}

TEST_CASE("scaled sums: runs, and values of which a sample says that they are too different", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{10, 38400}) {
    Pairs runs, shortRuns, unequalRuns, different;  // most steps are of one run, or few
    std::size_t run = 0, left = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t key = i * 7919 % bins;
      if (--left == 0) {
        ++run;
        left = 1 + run * run % 83;
      }
      unequalRuns.values.push_back(static_cast<float>(i % 3));
      unequalRuns.keys.push_back(static_cast<int>((i % 59 == 7 ? i : run) * 7919 % (bins + 1)));
      runs.values.push_back(static_cast<float>(i % 5));
      runs.keys.push_back(static_cast<int>(i / 61 * 7919 % bins));
      shortRuns.values.push_back(static_cast<float>(i % 7));
      shortRuns.keys.push_back(static_cast<int>(i / 6 * 7919 % bins));
      different.values.push_back(times2To(i % 2 == 0 ? 1 : -3, static_cast<int>(key % 64) - 32));
      different.keys.push_back(static_cast<int>(key));
    }
    checkExact(runs, bins);
    checkExact(shortRuns, bins);
    checkExact(unequalRuns, bins);
    checkExact(different, bins);
  }
}

TEST_CASE("scaled sums: which plans have them", "[host]") {
  const auto plan = [](std::size_t elements, std::size_t bins, const detail::KeyedCell& cell, std::size_t stage = 0) {
    detail::KeyedRequest request;
    request.n = elements;
    request.slots = bins;
    request.elementBytes = 8;
    request.cell = cell;
    request.sharedBytes = 227 << 10;
    request.stageBytes = stage;
    request.multiprocessors = 132;
    const detail::KeyedPlan planned = detail::planKeyed(request);
    CHECK(planned.sharedBytes >= bins * planned.scaledBytes);
    CHECK(planned.sharedBytes <= request.sharedBytes);
    return planned;
  };
  const detail::KeyedCell floats = detail::wordCell<detail::DirectSum<float>, float>();
  const std::size_t many = std::size_t{1} << 27, most = 132 * detail::maxLongSums;
  CHECK(plan(many, longBins, floats).scaledBytes == 8);
  CHECK(plan(many, longBins + 1, floats).scaledBytes == 6);
  CHECK(plan(many, 38400, floats).scaledBytes == 6);
  CHECK(plan(many, 38401, floats).scaledBytes == 0);
  CHECK(plan(most - 1, 100, floats).scaledBytes == 8);
  CHECK(plan(most, 100, floats).scaledBytes == 6);
  CHECK(plan(detail::maxGlobalSums + 1, 100, floats).scaledBytes == 8);
  CHECK(plan(detail::maxGlobalSums, 100, floats).scaledBytes == 0);
  CHECK(plan(many, 100, floats, 1000).scaledBytes == 0);
  CHECK(plan(many, 100, detail::wordCell<detail::DirectSum<double>, double>()).scaledBytes == 0);
  CHECK(plan(many, 100, detail::wordCell<detail::DirectSum<int>, int>()).scaledBytes == 0);
  CHECK(plan(many, 100, detail::wordCell<detail::FixedPointSum<float>, float>()).scaledBytes == 0);
  CHECK(plan(132 * detail::minScaledElements, 100, floats).threads == detail::keyedThreads);
  CHECK(plan(132 * detail::minScaledElements - 1, 100, floats).threads == detail::keyedThreads / 2);
  CHECK(plan(1 << 16, 100, floats).blocks == 64);
  CHECK(plan(132 << 12, 1 << 12, floats).scaledBytes == 8);  // as many values of a block as bins
  CHECK(plan((132 << 12) - 1, 1 << 12, floats).scaledBytes == 0);
}

}  // namespace gpuopt::test::scaled_sums_test
