/// minMax, sumMinMax, argMin, argMax: against serial code, ties, infinities, NaN.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::extremes_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
using ArgOf = decltype(argMin(std::declval<const T*>(), std::size_t{}));

static_assert(std::is_same_v<ArgOf<signed char>, ArgResult<signed char>>);
static_assert(std::is_same_v<ArgOf<__half>, ArgResult<float>>);
static_assert(std::is_same_v<decltype(minMax(std::declval<__nv_bfloat16*>(), 1)), MinMax<float>>);
static_assert(std::is_same_v<decltype(sumMinMax(std::declval<short*>(), 1)), SumMinMax<short, int>>);
static_assert(std::is_same_v<decltype(minMax<double>(std::declval<float*>(), 1)), MinMax<double>>);
static_assert(std::is_same_v<decltype(argMax<int>(std::declval<short*>(), 1)), ArgResult<int>>);
static_assert(std::is_same_v<decltype(sumMinMax<double>(std::declval<float*>(), 1)), SumMinMax<float, double>>);

// Every extreme of one part of an array, under one policy, against the serial ones.
template <class Policy, class T>
void checkExtremes(const DeviceArray<T>& in, const std::vector<T>& values, std::size_t first, std::size_t n) {
  static Series cases;
  if (!cases.runsNext()) return;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first), end = begin + static_cast<std::ptrdiff_t>(n);
  const auto smallest = std::min_element(begin, end), largest = std::max_element(begin, end);  // the first of several
  const T* data = in.data() + first;
  INFO("n " << n << ", first " << first);

  const auto extremes = minMax<DefaultAccumulator, Policy>(data, n);
  using A = decltype(extremes.minimum);
  const A minimum = static_cast<A>(*smallest), maximum = static_cast<A>(*largest);
  REQUIRE(extremes.minimum == minimum);
  REQUIRE(extremes.maximum == maximum);

  const auto [value, index] = argMin<DefaultAccumulator, Policy>(data, n);
  REQUIRE(value == minimum);
  REQUIRE(index == static_cast<std::size_t>(smallest - begin));
  const auto top = argMax<DefaultAccumulator, Policy>(data, n);
  REQUIRE(top.value == maximum);
  REQUIRE(top.index == static_cast<std::size_t>(largest - begin));

  const auto all = sumMinMax<double, Policy>(data, n);
  REQUIRE(all.minimum == minimum);
  REQUIRE(all.maximum == maximum);
  double sum = 0, magnitude = 0;
  for (auto each = begin; each != end; ++each) {
    sum += static_cast<double>(*each);
    magnitude += std::fabs(static_cast<double>(*each));
  }
  REQUIRE(std::fabs(all.sum - sum) <= 1e-14 * magnitude);
}

template <class Policy, class T>
void checkData(const std::vector<T>& values) {
  const DeviceArray<T> in(values);
  for (const std::size_t first : {0, 1, 3, 31}) {
    for (const std::size_t n : {1, 2, 33, 142, 700, 4099}) checkExtremes<Policy>(in, values, first, n);
    checkExtremes<Policy>(in, values, first, values.size() - first);
  }
}

TEMPLATE_TEST_CASE("Extremes of random numbers", "[extremes][sweep]", signed char, unsigned short, unsigned long long,
                   float, double, __half) {
  checkData<LowBoundaries>(randomVector<TestType>(90001, 1));  // of narrow types with many ties
}

TEMPLATE_TEST_CASE("Extremes under the policies of the library", "[extremes][sweep]", ReducePolicy, ByLength) {
  checkData<TestType>(randomVector<float>(90001, 1));
  checkData<TestType>(smallIntegers<float>(30001, 2));
}

TEMPLATE_TEST_CASE("All elements equal", "[extremes]", signed char, double) {
  using Limits = std::numeric_limits<TestType>;
  for (const TestType value : {TestType(0), TestType(-5), Limits::lowest(), (Limits::max)()}) {
    const std::vector<TestType> values(20011, value);
    const DeviceArray<TestType> in(values);
    for (const std::size_t n : {1, 100, 4099, 20011}) {
      INFO("n " << n);
      REQUIRE(argMin<DefaultAccumulator, LowBoundaries>(in.data(), n).index == 0);
      REQUIRE(argMax<DefaultAccumulator, LowBoundaries>(in.data(), n).index == 0);
      REQUIRE(argMin<DefaultAccumulator, LowBoundaries>(in.data(), n).value == value);
      REQUIRE(minMax<DefaultAccumulator, LowBoundaries>(in.data(), n).maximum == value);
    }
  }
}

// Two equal extremes anywhere: in the head and the tail, in one step, in two threads, warps, tiles, blocks.
TEST_CASE("Of equal extremes the first wins", "[extremes][sweep]") {
  const std::size_t n = 40009;
  std::vector<float> values = randomVector<float>(n + 1, 3);
  DeviceArray<float> in(values);
  Series cases;
  const std::vector<std::size_t> indices = {0,     1,     2,     3,     4,     7,     30,    31,    32,    127,
                                            128,   129,   511,   512,   1023,  1024,  2047,  2048,  4095,  4096,
                                            8191,  8192,  10239, 10240, 16383, 16384, 20000, 20479, 20480, 32767,
                                            32768, 40000, n - 5, n - 4, n - 3, n - 2, n - 1};
  for (const std::size_t first : indices)
    for (const std::size_t second : {first + 1, first + 2, first + 64, first + 2048, first + 10240, n - 1}) {
      if (second >= n || !cases.runsNext()) continue;
      const float ends[] = {values[1 + first], values[1 + second]};
      values[1 + first] = values[1 + second] = -2;
      in.fill(values);
      INFO("indices " << first << " and " << second);
      REQUIRE(argMin<DefaultAccumulator, LowBoundaries>(in.data() + 1, n).index == first);
      values[1 + first] = values[1 + second] = 2;
      in.fill(values);
      REQUIRE(argMax<DefaultAccumulator, LowBoundaries>(in.data() + 1, n).index == first);
      values[1 + first] = ends[0];
      values[1 + second] = ends[1];
    }
}

TEST_CASE("The default policy finds the first of equal extremes too", "[extremes]") {
  const std::size_t n = 300007;
  std::vector<int> values = randomVector<int>(n, 4);
  DeviceArray<int> in(values, 3);
  for (const std::size_t first :
       {std::size_t{0}, std::size_t{28}, std::size_t{29}, std::size_t{16384}, std::size_t{150001}, n - 2}) {
    const int old = values[first];
    values[first] = values[n - 1] = std::numeric_limits<int>::lowest();
    in.fill(values);
    REQUIRE(argMin(in.data(), n).index == first);
    REQUIRE(argMin<DefaultAccumulator, ByLength>(in.data(), n).index == first);
    values[first] = old;
  }
}

TEST_CASE("Infinite elements only", "[extremes]") {
  for (const float value : {infinity, -infinity})
    for (const std::size_t n : {1, 33, 5000, 30000}) {
      const std::vector<float> values(n, value);
      const DeviceArray<float> in(values, 1);
      INFO("n " << n << ", value " << value);
      REQUIRE(minMax<DefaultAccumulator, LowBoundaries>(in.data(), n).minimum == value);
      REQUIRE(minMax<DefaultAccumulator, LowBoundaries>(in.data(), n).maximum == value);
      for (const auto& found : {argMin<DefaultAccumulator, LowBoundaries>(in.data(), n),
                                argMax<DefaultAccumulator, LowBoundaries>(in.data(), n)}) {
        REQUIRE(found.value == value);
        REQUIRE(found.index == 0);
      }
      REQUIRE(sumMinMax<DefaultAccumulator, LowBoundaries>(in.data(), n).sum == value);
    }
}

TEST_CASE("The first NaN wins", "[extremes][sweep]") {
  const std::size_t n = 30011;
  std::vector<float> values = randomVector<float>(n, 5);
  values[100] = -infinity;
  values[200] = infinity;
  DeviceArray<float> in(values, 1);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{30}, std::size_t{31}, std::size_t{99},
                                  std::size_t{4099}, std::size_t{12288}, n - 2, n - 1})
    for (const std::size_t second : {first + 1, first + 3, first + 8192, n - 1}) {
      if (second >= n) continue;
      std::vector<float> withNan = values;
      withNan[first] = withNan[second] = nan;
      in.fill(withNan);
      INFO("indices " << first << " and " << second);
      const auto smallest = argMin<DefaultAccumulator, LowBoundaries>(in.data(), n),
                 largest = argMax<DefaultAccumulator, LowBoundaries>(in.data(), n);
      REQUIRE(smallest.index == first);
      REQUIRE(std::isnan(smallest.value));
      REQUIRE(largest.index == first);
      REQUIRE(std::isnan(largest.value));
      const auto extremes = minMax<DefaultAccumulator, LowBoundaries>(in.data(), n);
      REQUIRE((std::isnan(extremes.minimum) && std::isnan(extremes.maximum)));
      REQUIRE(std::isnan(sumMinMax<DefaultAccumulator, LowBoundaries>(in.data(), n).minimum));
    }
}

TEST_CASE("NaN only, halves with NaN", "[extremes]") {
  const std::vector<float> values(5000, nan);
  const DeviceArray<float> in(values);
  REQUIRE(argMin<DefaultAccumulator, LowBoundaries>(in.data(), 5000).index == 0);
  REQUIRE(std::isnan(argMax<DefaultAccumulator, LowBoundaries>(in.data(), 5000).value));
  std::vector<__half> halves = smallIntegers<__half>(5000, 6);
  halves[4321] = __half(nan);
  const DeviceArray<__half> inHalves(halves, 1);
  REQUIRE(argMax<DefaultAccumulator, LowBoundaries>(inHalves.data(), 5000).index == 4321);
  REQUIRE(std::isnan(minMax<DefaultAccumulator, LowBoundaries>(inHalves.data(), 5000).minimum));
}

// To minMax -0 is less than +0. To argMin they are a tie, and value and index speak of the same element.
TEST_CASE("Zeros of both signs", "[extremes]") {
  std::vector<float> values(4099, 1.0F);
  values[1000] = 0.0F;
  values[3000] = -0.0F;
  const DeviceArray<float> in(values);
  const auto extremes = minMax<DefaultAccumulator, LowBoundaries>(in.data(), values.size());
  REQUIRE((extremes.minimum == 0 && std::signbit(extremes.minimum)));
  const auto found = argMin<DefaultAccumulator, LowBoundaries>(in.data(), values.size());
  REQUIRE(found.value == 0);
  REQUIRE(std::signbit(found.value) == std::signbit(values[found.index]));
  REQUIRE(found.index == 1000);
}

TEST_CASE("Extremes of no elements", "[extremes]") {
  const float* none = nullptr;
  REQUIRE(minMax(none, 0).minimum == infinity);
  REQUIRE(minMax(none, 0).maximum == -infinity);
  REQUIRE(argMin(none, 0).index == ArgResult<float>::none);
  REQUIRE(argMin(none, 0).value == infinity);
  REQUIRE(argMax(none, 0).index == ArgResult<float>::none);
  REQUIRE(sumMinMax(none, 0).sum == 0);
  REQUIRE(minMax(static_cast<const int*>(nullptr), 0).minimum == (std::numeric_limits<int>::max)());
}

TEST_CASE("Extremes in device memory", "[extremes]") {
  const std::vector<short> values = {3, -4, 5, -4, 5};
  const DeviceArray<short> in(values, 1);
  Workspace workspace;
  DeviceArray<MinMax<short>> extremes(1);
  DeviceArray<SumMinMax<short, long long>> sums(1);
  DeviceArray<ArgResult<short>> smallest(1), largest(1);
  minMaxInto(in.data(), 5, extremes.data());
  sumMinMaxInto<long long>(in.data(), 5, sums.data(), nullptr, &workspace);
  argMinInto(in.data(), 5, smallest.data());
  argMaxInto<DefaultAccumulator, ByLength>(in.data(), 5, largest.data(), nullptr, &workspace);
  REQUIRE(extremes.toHost()[0].minimum == -4);
  REQUIRE(extremes.toHost()[0].maximum == 5);
  REQUIRE(sums.toHost()[0].sum == 5);
  REQUIRE(smallest.toHost()[0].index == 1);
  REQUIRE(largest.toHost()[0].index == 2);
}

TEST_CASE("Extremes in an accumulator that the caller names", "[extremes]") {
  const std::vector<short> values = {3, -4, 5, -4, 5};
  const DeviceArray<short> in(values, 1);
  REQUIRE(minMax<double>(in.data(), 5).minimum == -4.0);
  REQUIRE((argMax<long long, ByLength>(in.data(), 5).value == 5));
  REQUIRE((argMax<long long, ByLength>(in.data(), 5).index == 2));
}

}  // namespace
}  // namespace gpuopt::test::extremes_test
