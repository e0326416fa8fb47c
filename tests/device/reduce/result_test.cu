/// combine: the results of the parts of an array become the result of the whole, on the host and on the device.
// SPDX-License-Identifier: MIT
#include "moments_oracle.cuh"
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/portion.hpp"

#include <gpuopt/reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace gpuopt::test::result_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The bounds of parts of n elements, some of them empty.
std::vector<std::size_t> randomBounds(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::size_t> bounds{0, n};
  for (unsigned cuts = seed % 7; cuts > 0; --cuts) {
    bounds.push_back(generator() % (n + 1));
    if (cuts % 3 == 0) bounds.push_back(bounds.back());
  }
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

// Results of parts, given by their first elements and lengths, combined by op from the left on the host.
template <class Find, class Op>
auto combineParts(const std::vector<std::size_t>& bounds, Find find, Op op) {
  auto whole = find(std::size_t{0}, std::size_t{0});
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) whole = op(whole, find(bounds[i], bounds[i + 1] - bounds[i]));
  return whole;
}

struct Combine {
  template <class R>
  __host__ __device__ R operator()(const R& a, const R& b) const {
    return combine(a, b);
  }
};

template <class Select>
struct CombineArg {
  template <class R>
  __host__ __device__ R operator()(const R& a, const R& b) const {
    return combine(a, b, Select{});
  }
};

template <class T>
bool same(const MinMax<T>& a, const MinMax<T>& b) {
  return sameBits(a.minimum, b.minimum) && sameBits(a.maximum, b.maximum);
}
template <class T>
bool same(const ArgResult<T>& a, const ArgResult<T>& b) {
  return sameBits(a.value, b.value) && a.index == b.index;
}
template <class T>
bool same(const MeanVariance<T>& a, const MeanVariance<T>& b) {
  return a.count == b.count && sameBits(a.mean, b.mean) && sameBits(a.variance, b.variance);
}

template <class T>
void checkSplits(const std::vector<T>& values) {
  const std::size_t n = values.size();
  const DeviceArray<T> in(values);
  const T* data = in.data();
  const auto extremes = [=](std::size_t first, std::size_t count) { return minMax(data + first, count); };
  const auto sums = [=](std::size_t first, std::size_t count) { return sumMinMax(data + first, count); };
  const auto smallest = [=](std::size_t first, std::size_t count) {
    return argMin(data + first, count).shifted(first);
  };
  const auto largest = [=](std::size_t first, std::size_t count) { return argMax(data + first, count).shifted(first); };
  const auto moments = [=](std::size_t first, std::size_t count) { return meanVariance(data + first, count); };
  for (unsigned seed = 0; seed < 9; ++seed) {
    if (!runsNextCase()) continue;
    const auto bounds = randomBounds(n, seed);
    CAPTURE(n, seed);
    CHECK(same(combineParts(bounds, extremes, Combine{}), minMax(data, n)));
    CHECK(same(combineParts(bounds, smallest, CombineArg<Minimum>{}), argMin(data, n)));
    CHECK(same(combineParts(bounds, largest, CombineArg<Maximum>{}), argMax(data, n)));
    CHECK(areMoments(combineParts(bounds, moments, Combine{}), values, 16));
    const auto all = combineParts(bounds, sums, Combine{}), direct = sumMinMax(data, n);
    CHECK(all.minimum == direct.minimum);
    CHECK(all.maximum == direct.maximum);
    const ExactSum exact = sumExactly(values);
    CHECK(std::fabs(static_cast<double>(all.sum) - static_cast<double>(exact.sum)) <= exact.tolerance(1.2e-7, n));
  }
}

TEST_CASE("The results of parts combine to that of the whole", "[combine][sweep]") {
  for (const std::size_t n : {1, 5, 100, 3001}) {
    checkSplits(randomVector<float>(n, 1));
    checkSplits(smallIntegers<int>(n, 2));  // with many ties
    checkSplits(smallIntegers<float>(n, 3));
    checkSplits(randomVector<short>(n, 4));
    checkSplits(randomVector<double>(n, 5));
  }
}

TEST_CASE("Parts combine in any order", "[combine]") {
  const std::vector<int> values = smallIntegers<int>(1000, 6);
  const DeviceArray<int> in(values);
  const auto early = argMax(in.data(), 600), late = argMax(in.data() + 600, 400).shifted(600);
  CHECK(same(combine(early, late, Maximum{}), argMax(in.data(), 1000)));
  CHECK(same(combine(late, early, Maximum{}), argMax(in.data(), 1000)));
}

TEST_CASE("A result of no elements changes nothing", "[combine]") {
  const float* none = nullptr;
  const auto empty = meanVariance(none, 0);
  const MeanVariance<float> results[] = {{3, 0.1F, 0.7F},         {7, -3e38F, 1e-3F}, {1, 2, 0},
                                         {5, infinity, infinity}, {49, 1e-40F, 0.3F}, {0, 0, 0}};
  for (const auto& some : results) {
    CAPTURE(some.count, some.mean, some.variance);
    CHECK(same(combine(some, empty), some));
    CHECK(same(combine(empty, some), some));
  }
  const MinMax<float> extremes{-2, 3};
  CHECK(same(combine(minMax(none, 0), extremes), extremes));
  CHECK(same(combine(extremes, minMax(none, 0)), extremes));
  for (const float value : {2.0F, infinity, -infinity}) {
    const ArgResult<float> found{value, 7};
    CHECK(same(combine(argMin(none, 0), found, Minimum{}), found));
    CHECK(same(combine(found, argMin(none, 0).shifted(100), Minimum{}), found));
    CHECK(same(combine(argMax(none, 0), found, Maximum{}), found));
    CHECK(same(combine(found, argMax(none, 0), Maximum{}), found));
  }
  CHECK(combine(argMin(none, 0), argMin(none, 0).shifted(10), Minimum{}).index == ArgResult<float>::none);
  const SumMinMax<float, float> all{4, -2, 3}, sum = combine(all, sumMinMax(none, 0));
  CHECK((sum.sum == 4 && sum.minimum == -2 && sum.maximum == 3));
}

TEST_CASE("Indices are shifted, but for none", "[combine]") {
  CHECK(ArgResult<int>{5, 3}.shifted(100).index == 103);
  CHECK(ArgResult<int>{5, 3}.shifted(100).value == 5);
  CHECK(ArgResult<int>{5, ArgResult<int>::none}.shifted(100).index == ArgResult<int>::none);
}

TEST_CASE("NaN: the first of either part stays", "[combine]") {
  const float first = AnyBits::at<float>(0), nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(first == first);
  const ArgResult<float> number{-5, 2}, early{nan, 40}, late{-nan, 60};
  for (const auto& found : {combine(number, late, Minimum{}), combine(late, number, Minimum{}),
                            combine(number, late, Maximum{}), combine(late, number, Maximum{})})
    CHECK(same(found, late));
  CHECK(same(combine(early, late, Minimum{}), early));
  CHECK(same(combine(late, early, Maximum{}), early));
  CHECK(std::isnan(combine(MinMax<float>{1, 2}, MinMax<float>{nan, nan}).minimum));
  CHECK(std::isnan(combine(MeanVariance<float>{4, 1, 1}, MeanVariance<float>{2, nan, nan}).mean));
}

TEST_CASE("Moments near the largest number combine within range", "[combine]") {
  const MeanVariance<float> low{100, -3e38F, 0}, high{300, 3e38F, 0};
  CHECK(combine(high, high).mean == 3e38F);
  CHECK(combine(high, high).variance == 0);
  CHECK(std::fabs(combine(low, high).mean - 1.5e38F) < 1e32F);
  CHECK(combine(low, high).variance == infinity);
}

template <class R, class Op>
__global__ void combineKernel(const R* a, const R* b, R* out, Op op) {
  *out = op(*a, *b);
}

template <class R, class Op>
R onDevice(const R& a, const R& b, Op op) {
  const DeviceArray<R> left(std::vector<R>{a}), right(std::vector<R>{b});
  DeviceArray<R> out(1);
  launch(combineKernel<R, Op>, blocksOf(1), left.data(), right.data(), out.data(), op);
  return out.toHost()[0];
}

TEST_CASE("Results combine in kernels too", "[combine]") {
  CHECK(same(onDevice(MinMax<float>{-1, 2}, {-3, 1}, Combine{}), {-3, 2}));
  CHECK(same(onDevice(ArgResult<float>{2, 8}, {2, 4}, CombineArg<Maximum>{}), {2, 4}));
  const MeanVariance<double> a{10, 2, 3}, b{30, 4, 1}, found = onDevice(a, b, Combine{});
  CHECK(found.count == 40);
  CHECK(found.mean == 3.5);
  CHECK(std::fabs(found.variance - 2.25) < 1e-14);  // (10 * 3 + 30 * 1) / 40 + 0.25 * 0.75 * 2^2
  // Results are accumulators: a reduction combines those of many chunks.
  std::vector<MeanVariance<double>> chunks(1000, MeanVariance<double>{1, 0, 0});
  for (std::size_t i = 0; i < 1000; ++i) chunks[i].mean = static_cast<double>(i);
  const DeviceArray<MeanVariance<double>> in(chunks);
  const auto whole = reduce(in.data(), 1000, Combine{});
  CHECK(whole.count == 1000);
  CHECK(std::fabs(whole.mean - 499.5) < 1e-9);
  CHECK(std::fabs(whole.variance - (1000.0 * 1000.0 - 1) / 12) < 1e-6);
}

// The value is the element at the index, bit by bit.
TEST_CASE("argMin and argMax keep the bits of a NaN", "[extremes][sweep]") {
  for (const std::uint32_t bits : {0x7fc12345u, 0xffc00001u, 0x7fc00000u, 0xffffffffu}) {
    float nan = 0;
    std::memcpy(&nan, &bits, sizeof nan);
    for (const std::size_t n : {1, 2, 31, 300, 5000, 300000}) {
      std::vector<float> values = randomVector<float>(n, 7);
      values[n / 2] = nan;
      if (n > 2) values[n - 1] = std::numeric_limits<float>::quiet_NaN();
      const DeviceArray<float> in(values, n % 2);
      CAPTURE(n, bits);
      CHECK(same(argMin(in.data(), n), {nan, n / 2}));
      CHECK(same(argMax(in.data(), n), {nan, n / 2}));
      CHECK(same(argMin<DefaultAccumulator, ByLength>(in.data(), n), {nan, n / 2}));
    }
  }
}

}  // namespace
}  // namespace gpuopt::test::result_test
