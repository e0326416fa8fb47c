/// Which bin an element is in: integers of every size against exact arithmetic, floating point against the edges as
/// documented, at and beside every edge; limits beyond the type, many bins, wrong limits.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"

#include <gpuopt/histogram.cuh>
#include <gpuopt/map.cuh>

#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::bins_test {
namespace {

__extension__ typedef __int128 Wide;

template <class T, class Limit>
long long exactBin(T x, std::size_t bins, Limit lower, Limit upper) {
  if (static_cast<Wide>(x) < static_cast<Wide>(lower)) return -1;
  if (static_cast<Wide>(x) >= static_cast<Wide>(upper)) return static_cast<long long>(bins);
  const Wide range = static_cast<Wide>(upper) - static_cast<Wide>(lower);
  return static_cast<long long>((static_cast<Wide>(x) - static_cast<Wide>(lower)) * static_cast<Wide>(bins) / range);
}

// lower + bin * (upper - lower) / bins rounded to N, where a long double has more digits than a double.
template <class N>
N edgeOf(std::size_t bin, std::size_t bins, N lower, N upper) {
  const long double low = lower, range = static_cast<long double>(upper) - low;
  return static_cast<N>(low + static_cast<long double>(bin) * range / static_cast<long double>(bins));
}

// The last bin whose edge is not above x.
template <class N>
long long floatBin(N x, std::size_t bins, N lower, N upper) {
  if (x < lower) return -1;
  if (!(x < upper)) return static_cast<long long>(bins);
  std::size_t bin = 0, end = bins;
  while (end - bin > 1) {
    const std::size_t middle = (bin + end) / 2;
    if (edgeOf(middle, bins, lower, upper) <= x)
      bin = middle;
    else
      end = middle;
  }
  return static_cast<long long>(bin);
}

// The slot of each value, as the device computes it.
template <class T>
std::vector<long long> slotsOnDevice(const std::vector<T>& values, std::size_t bins, detail::BinLimit<T> lower,
                                     detail::BinLimit<T> upper) {
  const DeviceArray<T> in(values);
  DeviceArray<unsigned> out(values.size());
  transform(in.data(), values.size(), out.data(), detail::evenBins<T>(bins, lower, upper, "test"));
  std::vector<long long> slots;
  for (const unsigned slot : out.toHost())
    slots.push_back(slot == bins ? -1 : slot == bins + 1 ? static_cast<long long>(bins) : slot);
  return slots;
}

// Values around `count` evenly spaced edges, and at the ends of the type.
template <class T>
std::vector<T> aroundEdges(std::size_t bins, detail::BinLimit<T> lower, detail::BinLimit<T> upper) {
  constexpr T LEAST = (std::numeric_limits<T>::min)(), MOST = (std::numeric_limits<T>::max)();
  std::vector<T> values{LEAST, MOST, T(0)};
  const Wide range = static_cast<Wide>(upper) - static_cast<Wide>(lower);
  for (std::size_t i = 0; i <= 200; ++i) {
    const Wide bin = static_cast<Wide>(bins) * static_cast<Wide>(i) / 200;
    const Wide edge = static_cast<Wide>(lower) + (bin * range + static_cast<Wide>(bins) - 1) / static_cast<Wide>(bins);
    for (Wide value = edge - 1; value <= edge + 1; ++value)
      if (value >= static_cast<Wide>(LEAST) && value <= static_cast<Wide>(MOST))
        values.push_back(static_cast<T>(value));
  }
  return values;
}

template <class T>
void checkIntegers(std::size_t bins, detail::BinLimit<T> lower, detail::BinLimit<T> upper) {
  INFO(sizeof(T) << " bytes, " << bins << " bins over [" << lower << ", " << upper << ")");
  std::vector<T> values = aroundEdges<T>(bins, lower, upper);
  for (const T value : randomVector<T>(100, 7)) values.push_back(value);
  std::vector<long long> expected;
  for (const T value : values) expected.push_back(exactBin(value, bins, lower, upper));
  CHECK(slotsOnDevice(values, bins, lower, upper) == expected);
}

template <class N>
void checkNumbers(std::size_t bins, N lower, N upper) {
  INFO(sizeof(N) << " bytes, " << bins << " bins over [" << lower << ", " << upper << ")");
  constexpr N INFINITE = std::numeric_limits<N>::infinity();
  const N width = (upper - lower) / static_cast<N>(bins);
  std::vector<N> values{lower,    upper,     std::nextafter(lower, -INFINITE),    std::nextafter(upper, lower),
                        INFINITE, -INFINITE, std::numeric_limits<N>::quiet_NaN(), N(0),
                        -N(0)};
  for (std::size_t i = 0; i <= 500; ++i) {
    const N edge = edgeOf(bins * i / 500, bins, lower, upper);
    values.insert(values.end(),
                  {std::nextafter(edge, -INFINITE), edge, std::nextafter(edge, INFINITE), edge + width / 3});
  }
  const std::vector<long long> slots = slotsOnDevice(values, bins, lower, upper);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const N x = values[i];
    const bool isInside = x > lower && x < upper && std::nextafter(x, INFINITE) < upper;
    const bool isRounded = std::is_same_v<N, double> && isInside;  // a long double is not enough for some edges
    const long long least = floatBin(isRounded ? std::nextafter(x, -INFINITE) : x, bins, lower, upper);
    const long long most = floatBin(isRounded ? std::nextafter(x, INFINITE) : x, bins, lower, upper);
    wrong += slots[i] < least || slots[i] > most ? 1 : 0;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("histogram: integers of up to 4 bytes are in the bin of the exact quotient", "[device]") {
  for (const std::size_t bins :
       std::vector<std::size_t>{1, 2, 3, 7, 10, 100, 255, 256, 257, 1000, 65536, 1 << 24, 0x7ffffffd}) {
    checkIntegers<std::uint8_t>(bins, 0, 256);
    checkIntegers<std::uint8_t>(bins, 5, 200);
    checkIntegers<std::uint8_t>(bins, -1000, 1000);
    checkIntegers<std::int8_t>(bins, -128, 128);
    checkIntegers<std::int16_t>(bins, -7, 6);
    checkIntegers<std::uint16_t>(bins, 0, 65536);
    checkIntegers<std::int32_t>(bins, -2147483648LL, 2147483648LL);
    checkIntegers<std::int32_t>(bins, -5, -4);
    checkIntegers<std::uint32_t>(bins, 0, 4294967296LL);
    checkIntegers<std::uint32_t>(bins, 1, 4294967295LL);
    checkIntegers<std::uint32_t>(bins, 4294967290LL, 4294967300LL);
    checkIntegers<std::int32_t>(bins, 2147483000LL, 2147483000LL + 4294967296LL);
  }
}

TEST_CASE("histogram: integers are below or above limits that are beyond their type", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{1, 10, 0x7ffffffd}) {
    checkIntegers<std::uint8_t>(bins, 256, 300);
    checkIntegers<std::uint8_t>(bins, 300, 400);
    checkIntegers<std::uint8_t>(bins, -5, 0);
    checkIntegers<std::int8_t>(bins, 128, 129);
    checkIntegers<std::int16_t>(bins, -70000, -60000);
    checkIntegers<std::uint16_t>(bins, 65536, 65537);
    checkIntegers<std::int32_t>(bins, std::int64_t{1} << 40, (std::int64_t{1} << 40) + 7);
    checkIntegers<std::int32_t>(bins, -3000000000LL, -2147483648LL);
    checkIntegers<std::uint32_t>(bins, -7, 0);
    checkIntegers<std::uint32_t>(bins, 4294967296LL, 4294967300LL);
  }
}

TEST_CASE("histogram: integers of 8 bytes are in the bin of the exact quotient", "[device]") {
  constexpr std::int64_t LEAST = (std::numeric_limits<std::int64_t>::min)();
  constexpr std::int64_t MOST = (std::numeric_limits<std::int64_t>::max)();
  for (const std::size_t bins : std::vector<std::size_t>{1, 2, 3, 10, 256, 1000, 65536, 1 << 24, 0x7ffffffd}) {
    checkIntegers<std::int64_t>(bins, LEAST, MOST);
    checkIntegers<std::int64_t>(bins, -1000000007, 998244353);
    checkIntegers<std::int64_t>(bins, 0, 3);
    checkIntegers<std::int64_t>(bins, 0, static_cast<std::int64_t>(bins));
    checkIntegers<std::int64_t>(bins, 0, static_cast<std::int64_t>(bins) + 1);
    checkIntegers<std::uint64_t>(bins, 0, ~std::uint64_t{0});
    checkIntegers<std::uint64_t>(bins, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 12345);
  }
}

TEST_CASE("histogram: floating-point numbers are in the last bin whose edge is not above them", "[device]") {
  for (const std::size_t bins :
       std::vector<std::size_t>{1, 2, 3, 10, 100, 255, 256, 4096, 65536, 1 << 20, (1 << 20) + 1, 1 << 24}) {
    checkNumbers<float>(bins, 0, 1);
    checkNumbers<float>(bins, -3, 10);
    checkNumbers<float>(bins, 0.1F, 0.7F);
    checkNumbers<float>(bins, 1e6F, 1e6F + 1);  // edges are closer than numbers
    checkNumbers<float>(bins, -1e38F, 1e38F);
    checkNumbers<float>(bins, 0, 256);
    checkNumbers<float>(bins, -1, 1);
    checkNumbers<float>(bins, -7, 0);
    checkNumbers<float>(bins, 3, 3 + 0x1p-10F);
    checkNumbers<float>(bins, -1e-40F, 1);  // a limit that is not normal
    checkNumbers<float>(bins, 1e-40F, 2);
    checkNumbers<float>(bins, -1.5e38F, 1.5e38F);
    checkNumbers<double>(bins, -5e-324, 1);
    checkNumbers<double>(bins, -1, 1);
    checkNumbers<double>(bins, 0, 1);
    checkNumbers<double>(bins, -0.3, 1e9);
    checkNumbers<double>(bins, 1e12, 1e12 + 2);
  }
}

TEST_CASE("histogram: an edge that is written as a number begins its bin", "[device]") {
  const std::vector<double> tenths{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  const std::vector<long long> expected{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(slotsOnDevice(tenths, 10, 0.0, 1.0) == expected);
  CHECK(slotsOnDevice(std::vector<float>(tenths.begin(), tenths.end()), 10, 0.0F, 1.0F) == expected);
  std::vector<float> hundredths;
  std::vector<long long> bins;
  for (int i = -100; i < 200; ++i) {
    hundredths.push_back(static_cast<float>(i / 100.0));
    bins.push_back(i + 100);
  }
  CHECK(slotsOnDevice(hundredths, 300, -1.0F, 2.0F) == bins);
}

TEST_CASE("histogram: halves are compared as floats", "[device]") {
  std::vector<__half> values;
  for (int i = -20; i < 120; ++i) values.push_back(__half(static_cast<float>(i) / 64));
  std::vector<long long> expected;
  for (const __half value : values) expected.push_back(floatBin(static_cast<float>(value), 10, 0.0F, 1.5F));
  CHECK(slotsOnDevice(values, 10, 0.0F, 1.5F) == expected);
}

TEST_CASE("histogram: limits that make no bins throw", "[device]") {
  const auto message = [](auto value, std::size_t bins, auto lower, auto upper) {
    using T = decltype(value);
    return messageOf<std::invalid_argument>([=] { detail::evenBins<T>(bins, lower, upper, "gpuopt::histogram"); });
  };
  const float infinite = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  // WRITTEN histogram: `histogram(in, n, counts, 0, lower, upper)`
  CHECK(message(0, 0, 0, 1) == "gpuopt::histogram: bins is 0; it comes before lower and upper");
  CHECK(message(0, std::size_t{1} << 31, 0, 1) == "gpuopt::histogram: bins (2147483648) exceeds 2147483645");
  // WRITTEN histogram: `histogram(in, n, counts, bins, 5, 5)`
  CHECK(message(0, 10, 5, 5) == "gpuopt::histogram: lower (5) is not less than upper (5)");
  CHECK(message(0.0F, 10, 1.5F, 1.25F) == "gpuopt::histogram: lower (1.5) is not less than upper (1.25)");
  CHECK(message(0.0F, 10, nan, 1.0F) == "gpuopt::histogram: lower (nan) is not less than upper (1)");
  CHECK(message(0.0F, 10, 0.0F, infinite) ==
        "gpuopt::histogram: lower and upper must be finite: lower is 0, upper inf");
  CHECK(message(0.0, 10, -double{infinite}, 1.0) ==
        "gpuopt::histogram: lower and upper must be finite: lower is -inf, upper 1");
  CHECK(message(0, 10, std::int64_t{-1}, std::int64_t{1} << 32) ==
        "gpuopt::histogram: upper - lower (4294967297) exceeds 2^32, for elements of 4 bytes");
}

}  // namespace gpuopt::test::bins_test
