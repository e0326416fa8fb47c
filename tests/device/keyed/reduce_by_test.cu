/// reduceBy: sums, minima and maxima of every type by keys and by functions, in shared and in global memory; sums in
/// fixed point against exact ones, infinities and NaN, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::reduce_by_test {
namespace {

// Keys from -1 to bins + 1.
std::vector<int> keysFor(std::size_t n, std::size_t bins) {
  std::vector<int> keys;
  for (const unsigned number : numbersBelow(n, static_cast<unsigned>(bins) + 3, Distribution::fewOften, 11))
    keys.push_back(static_cast<int>(number) - 1);
  return keys;
}

// The same in runs of 61 equal ones.
std::vector<int> runsFor(std::size_t n, std::size_t bins) {
  std::vector<int> keys;
  for (std::size_t i = 0; i < n; ++i) keys.push_back(static_cast<int>(i / 61 * 7919 % (bins + 3)) - 1);
  return keys;
}

template <class A, class T, class Op>
std::vector<A> reducedSerially(const std::vector<T>& values, const std::vector<int>& keys, std::size_t bins, Op op) {
  std::vector<A> results(bins, NeutralElement<Op, A>::value());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (keys[i] >= 0 && keys[i] < static_cast<int>(bins)) {
      A& result = results[static_cast<std::size_t>(keys[i])];
      result = op(result, static_cast<A>(values[i]));
    }
  return results;
}

template <class A>
bool sameBits(const std::vector<A>& a, const std::vector<A>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(A)) == 0);
}

template <class T, class A, class Op>
void checkExact(const std::vector<T>& values, const std::vector<int>& keys, std::size_t bins, Op op,
                std::size_t offset = 0) {
  if (!runsNextCase()) return;
  const std::size_t n = values.size();
  INFO(sizeof(T) << " to " << sizeof(A) << " bytes, n = " << n << ", " << bins << " bins, offset " << offset);
  const DeviceArray<T> in(values, offset);
  const DeviceArray<int> by(keys, offset / 2);
  DeviceArray<A> out(bins), fast(bins);
  const std::vector<A> expected = reducedSerially<A>(values, keys, bins, op);
  reduceBy(in.data(), n, by.data(), bins, out.data(), op);
  CHECK(sameBits(out.toHost(), expected));
  reduceBy<FastSums>(in.data(), n, by.data(), bins, fast.data(), op);
  CHECK(sameBits(fast.toHost(), expected));
}

template <class T, class A, class Op>
void checkExact(std::size_t n, std::size_t bins, Op op, std::size_t offset = 0) {
  checkExact<T, A>(smallIntegers<T>(n, 3), keysFor(n, bins), bins, op, offset);
}

// Numbers of 64 bits.
std::vector<std::uint64_t> longNumbers(std::size_t n) {
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back((i + 1) * 0x9E3779B97F4A7C15ull >> (i % 3 == 0 ? 20 : 0));
  return values;
}

// Sums of every type, and extremes of every type and kind but one of each pair that differs by its sign alone.
void checkTypes(std::size_t n, std::size_t bins) {
  checkExact<std::int32_t, std::int32_t>(n, bins, Plus{}, 1);
  checkExact<std::int32_t, std::int32_t>(n, bins, Minimum{}, 1);
  checkExact<std::uint32_t, std::uint32_t>(n, bins, Maximum{});
  checkExact<std::int8_t, std::int64_t>(n, bins, Plus{}, 3);
  checkExact<std::uint64_t, std::uint64_t>(n, bins, Plus{});
  checkExact<std::uint64_t, std::uint64_t>(n, bins, Minimum{});
  checkExact<float, float>(n, bins, Plus{}, 1);
  checkExact<float, float>(n, bins, Minimum{}, 1);
  checkExact<float, float>(n, bins, Maximum{}, 1);
  checkExact<float, double>(n, bins, Plus{});
  checkExact<double, double>(n, bins, Plus{}, 1);
  checkExact<double, double>(n, bins, Minimum{}, 1);
}

// Whether sums in fixed point have the same bits if the sample has few of the values.
void keepsBitsWithoutLuck(const std::vector<float>& values, const std::vector<int>& keys, std::size_t bins) {
  const DeviceArray<float> in(values);
  const DeviceArray<int> by(keys);
  DeviceArray<float> out(bins), sampled(bins);
  reduceBy(in.data(), values.size(), by.data(), bins, out.data());
  const auto source = detail::sourceOf<false>(
      "test", values.size(), detail::KeyedByInput<float>{static_cast<unsigned>(bins)}, in.data(), by.data());
  const detail::ReduceByCall<float> call{"test", nullptr, values.size(), static_cast<unsigned>(bins), sampled.data()};
  detail::reduceByUpdate<ReduceByPolicy>(call, source, detail::updateOf<ReduceByPolicy, float>(Plus{}), {256, 1, 0});
  CHECK(sameBits(out.toHost(), sampled.toHost()));
}

// The last decimal of a number.
struct LastDigit {
  __host__ __device__ int operator()(int value) const { return value % 10; }
};

}  // namespace

TEST_CASE("reduceBy: sums, minima and maxima of whole numbers are exact", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 100, 20001})
    for (const std::size_t bins : std::vector<std::size_t>{1, 10, 1000}) checkTypes(n, bins);
}

TEST_CASE("reduceBy: more bins than shared memory has room for", "[device]") {
  checkExact<float, float>(20000, 60000, Plus{});
  checkExact<std::int32_t, std::int32_t>(20000, 60000, Plus{}, 1);
  checkExact<std::int32_t, std::int64_t>(20000, 30000, Minimum{});
}

TEST_CASE("reduceBy: groups of blocks for a part of the bins each", "[device][sweep]") {
  const std::size_t n = 70001;
  checkExact<float, float>(n, 60000, Plus{});
  checkExact<std::int32_t, std::int32_t>(n, 120001, Plus{}, 1);
  checkExact<std::int32_t, std::int64_t>(n, 60000, Minimum{});
  checkExact<std::uint64_t, std::uint64_t>(longNumbers(n), runsFor(n, 80001), 80001, Plus{});
}

TEST_CASE("reduceBy: runs of one key", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{1, 50, 3000}) {
    const std::vector<int> runs = runsFor(30001, bins);
    checkExact<float, float>(smallIntegers<float>(30001, 3), runs, bins, Plus{}, 1);
    checkExact<std::uint64_t, std::uint64_t>(longNumbers(30001), runs, bins, Plus{});
    checkExact<std::int32_t, std::int32_t>(smallIntegers<std::int32_t>(30001, 3), runs, bins, Minimum{});
    checkExact<double, double>(smallIntegers<double>(30001, 3), runs, bins, Minimum{});
  }
}

TEST_CASE("reduceBy: sums of 64 bits carry, and wrap around", "[device][sweep]") {
  for (const std::size_t bins : std::vector<std::size_t>{30, 33000, 33001}) {
    const std::size_t n = 70001;
    std::vector<int> keys = keysFor(n, bins);
    for (std::size_t i = 0; i < n; i += 2) keys[i] = static_cast<int>(i % 40 * (bins / 40));  // some have many
    checkExact<std::uint64_t, std::uint64_t>(longNumbers(n), keys, bins, Plus{});
    checkExact<std::uint64_t, std::uint64_t>(longNumbers(n), keys, bins, Plus{}, 1);
    checkExact<std::int8_t, std::int64_t>(smallIntegers<std::int8_t>(n, 3), keys, bins, Plus{});
  }
}

TEST_CASE("reduceBy: by a function of the value", "[device]") {
  std::vector<int> values(5000), keys;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7919 % 5003) - 100;
  for (const int value : values) keys.push_back(LastDigit{}(value));
  const DeviceArray<int> in(values, 1);
  DeviceArray<int> out(10);
  reduceBy(in.data(), values.size(), LastDigit{}, 10, out.data());
  CHECK(out.toHost() == reducedSerially<int>(values, keys, 10, Plus{}));
}

TEST_CASE("reduceBy: extremes of floats of both signs, zeros and NaN", "[device]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-1.5F, 2, -3, -0.0F, 0, 0, -0.0F, 1, nan, -infinity, infinity, 7};
  const std::vector<int> keys{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 9};
  const DeviceArray<float> in(values);
  const DeviceArray<int> by(keys);
  DeviceArray<float> least(6), most(6);
  reduceBy(in.data(), values.size(), by.data(), 6, least.data(), Minimum{});
  reduceBy(in.data(), values.size(), by.data(), 6, most.data(), Maximum{});
  const std::vector<float> low = least.toHost(), high = most.toHost();
  CHECK(std::isnan(low[3]));
  CHECK(std::isnan(high[3]));
  const auto without = [](std::vector<float> all) {
    all[3] = 0;
    return all;
  };
  CHECK(sameBits(without(low), std::vector<float>{-3, -0.0F, -0.0F, 0, -infinity, infinity}));
  CHECK(sameBits(without(high), std::vector<float>{2, 0, 0, 0, infinity, -infinity}));
}

TEST_CASE("reduceBy: sums in fixed point are near the exact ones, and the same at every alignment", "[device]") {
  const std::size_t n = 30000, bins = 50;
  const std::vector<int> keys = keysFor(n, bins);
  for (const float scale : {1.0F, 1e-40F, 1e-20F, 1e30F}) {
    INFO("scale " << scale);
    std::vector<float> values = randomVector<float>(n, 3);
    for (float& value : values) value *= scale;
    const std::vector<double> exact = reducedSerially<double>(values, keys, bins, Plus{});
    std::vector<float> first;
    for (const std::size_t offset : std::vector<std::size_t>{0, 1, 2}) {
      const DeviceArray<float> in(values, offset);
      const DeviceArray<int> by(keys, offset);
      DeviceArray<float> out(bins);
      reduceBy(in.data(), n, by.data(), bins, out.data());
      const std::vector<float> sums = out.toHost();
      if (offset == 0) first = sums;
      CHECK(sameBits(sums, first));
    }
    double worst = 0;
    for (std::size_t b = 0; b < bins; ++b)
      worst = std::fmax(worst, std::fabs(first[b] - exact[b]) - std::fabs(exact[b]) * 0x1p-24);
    CHECK(worst <= static_cast<double>(scale) * (0x1p-30 + 0x1p-9 * (scale < 1e-30F)));
  }
}

TEST_CASE("reduceBy: a sample that misses the largest magnitude changes nothing", "[device]") {
  const std::size_t n = 30001, bins = 50;
  const std::vector<int> keys = keysFor(n, bins);
  std::vector<float> values = randomVector<float>(n, 3);
  values[n / 2 + 40] = -1000;
  values[n - 1] = 1e20F;
  keepsBitsWithoutLuck(values, keys, bins);
  values[n - 1] = std::numeric_limits<float>::infinity();
  keepsBitsWithoutLuck(values, keys, bins);
}

TEST_CASE("reduceBy: the magnitude of a value whose key is outside does not matter", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{100, 30001})
    for (const float fill : {1e30F, -9e25F, std::numeric_limits<float>::max()}) {
      INFO("n = " << n << ", fill " << fill);
      const std::size_t bins = 7;
      const std::vector<int> keys = keysFor(n, bins);
      std::vector<float> values = randomVector<float>(n, 3);
      const DeviceArray<int> by(keys);
      DeviceArray<float> without(bins), with(bins);
      reduceBy(DeviceArray<float>(values).data(), n, by.data(), bins, without.data());
      for (std::size_t i = 0; i < n; ++i)
        if (keys[i] < 0 || keys[i] >= static_cast<int>(bins)) values[i] = fill;
      reduceBy(DeviceArray<float>(values).data(), n, by.data(), bins, with.data());
      CHECK(sameBits(with.toHost(), without.toHost()));
      keepsBitsWithoutLuck(values, keys, bins);
    }
}

TEST_CASE("reduceBy: the greatest number alone in its bin is the sum", "[device]") {
  constexpr double MOST = std::numeric_limits<double>::max();
  for (const std::size_t n : std::vector<std::size_t>{1, 512, 513, 30001})
    for (const double value : {MOST, -MOST, MOST / 2}) {
      INFO("n = " << n << ", " << value);
      std::vector<double> values(n, 0);
      std::vector<int> keys(n, 1);
      values[n / 2] = value, keys[n / 2] = 0;
      if (n > 2) values[0] = MOST, values[1] = MOST;  // too much for bin 1
      const DeviceArray<double> in(values);
      const DeviceArray<int> by(keys);
      DeviceArray<double> sums(2);
      reduceBy(in.data(), n, by.data(), 2, sums.data());
      const std::vector<double> got = sums.toHost();
      CHECK(std::fabs(got[0] - value) <= (std::fabs(value) == MOST ? 0 : 0x1p-44 * MOST));
      CHECK(got[1] == (n > 2 ? std::numeric_limits<double>::infinity() : 0));
    }
}

TEST_CASE("reduceBy: an infinity whose key is outside is in no bin", "[device]") {
  const std::vector<float> values{1, std::numeric_limits<float>::infinity(), 2, std::nanf(""), 3};
  const DeviceArray<float> in(values);
  const DeviceArray<int> by(std::vector<int>{0, 2, 0, -1, 1});
  DeviceArray<float> out(2);
  reduceBy(in.data(), values.size(), by.data(), 2, out.data());
  CHECK(out.toHost() == std::vector<float>{3, 3});
}

TEST_CASE("reduceBy: a sum that needs every bit of fixed point", "[device]") {
  const std::size_t n = 4097;
  const std::vector<float> values(n, std::numeric_limits<float>::max());
  const DeviceArray<float> in(values);
  const DeviceArray<int> by(std::vector<int>(n, 0));
  DeviceArray<double> out(1);
  reduceBy(in.data(), n, by.data(), 1, out.data());
  CHECK(out.toHost()[0] == static_cast<double>(n) * static_cast<double>(std::numeric_limits<float>::max()));
}

TEST_CASE("reduceBy: sums with infinities and NaN, alone in their bins", "[device]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{1, infinity, 2, -infinity, 3, infinity, -infinity, std::nan(""), 4, 5};
  const std::vector<int> keys{0, 0, 1, 1, 2, 3, 3, 4, 4, 2};
  const DeviceArray<double> in(values);
  const DeviceArray<int> by(keys);
  DeviceArray<double> out(6);
  reduceBy(in.data(), values.size(), by.data(), 6, out.data());
  const std::vector<double> sums = out.toHost();
  CHECK(sums[0] == infinity);
  CHECK(sums[1] == -infinity);
  CHECK(sums[2] == 8);
  CHECK(std::isnan(sums[3]));
  CHECK(std::isnan(sums[4]));
  CHECK(sums[5] == 0);
}

TEST_CASE("reduceBy: wrong arguments throw before anything is written", "[device]") {
  const DeviceArray<float> in(std::vector<float>(20, 3));
  const DeviceArray<int> by(std::vector<int>(20, 1));
  const std::vector<float> old{1, 2, 3};
  DeviceArray<float> out(old);
  const float* const null = nullptr;
  const int* const noKeys = nullptr;
  DeviceArray<int> numbers(5);
  float* const nowhere = nullptr;
  const auto message = [](auto call) { return messageOf<std::invalid_argument>(call); };
  CHECK(message([&] { reduceBy(in.data(), 20, by.data(), 0, out.data()); }) == "gpuopt::reduceBy: bins is 0");
  CHECK(message([&] { reduceBy(in.data(), 20, by.data(), 3, nowhere); }) ==
        "gpuopt::reduceBy: out is null, but there are 3 bins");
  CHECK(message([&] { reduceBy(null, 20, by.data(), 3, out.data()); }) ==
        "gpuopt::reduceBy: values is null, but n is 20");
  CHECK(message([&] { reduceBy(in.data(), 20, noKeys, 3, out.data()); }) ==
        "gpuopt::reduceBy: keys is null, but n is 20");
  CHECK(message([&] { reduceBy(out.data(), 3, by.data(), 3, out.data()); }) ==
        "gpuopt::reduceBy: values and out overlap: out begins at byte 0 of the 12 of values");
  CHECK(message([&] { reduceBy(numbers.data(), 3, LastDigit{}, 3, numbers.data() + 2); }) ==
        "gpuopt::reduceBy: values and out overlap: out begins at byte 8 of the 12 of values");
  const auto* misaligned = reinterpret_cast<const int*>(reinterpret_cast<const char*>(by.data()) + 1);
  CHECK(message([&] { reduceBy(in.data(), 3, misaligned, 3, out.data()); }) ==
        "gpuopt::reduceBy: keys is misaligned: its address modulo 4 is 1");
  CHECK(out.toHost() == old);
}

}  // namespace gpuopt::test::reduce_by_test
