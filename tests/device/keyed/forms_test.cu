/// histogramEdges, histogramChannels, histogramRows: against serial counts, by every kernel, of any alignment, with
/// wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"

#include <gpuopt/histogram.cuh>

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::forms_test {
namespace {

struct AddOutside : CountOutside {
  static constexpr bool ADDS = true;
};

template <class T>
std::vector<T> sortedEdges(std::size_t bins, unsigned seed) {
  std::vector<T> edges = randomVector<T>(bins + 1, seed);
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 10; i + 1 < edges.size(); i += 17) edges[i] = edges[i + 1];  // empty bins
  return edges;
}

// The number of edges that are not above x, less one.
template <class T>
long long binBetween(const std::vector<T>& edges, T x) {
  if (!(x == x)) return static_cast<long long>(edges.size());
  return std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1;
}

template <class T, class Count>
void checkEdges(std::size_t n, std::size_t bins) {
  INFO(sizeof(T) << " bytes, n = " << n << ", " << bins << " bins");
  const std::vector<T> edges = sortedEdges<T>(bins, 3);
  std::vector<T> values = randomVector<T>(n, 4);
  for (std::size_t i = 0; i < n / 3; ++i) values[3 * i] = edges[i % edges.size()];
  if constexpr (!std::is_integral_v<T>)
    if (n > 0) values[n / 2] = std::numeric_limits<T>::quiet_NaN();
  const std::vector<Count> expected = countsOf<Count>(values, bins, [&](T x) { return binBetween(edges, x); });
  const DeviceArray<T> in(values, 1), onDevice(edges);
  DeviceArray<Count> all(bins + 2), inside(bins);
  histogramEdges<CountOutside>(in.data(), n, onDevice.data(), bins, all.data());
  CHECK(all.toHost() == expected);
  histogramEdges(in.data(), n, edges, inside.data());
  CHECK(inside.toHost() == insideOf(expected));
  histogramEdges<AddCounts>(in.data(), n, onDevice.data(), bins, inside.data());
  std::vector<Count> twice = insideOf(expected);
  for (Count& count : twice) count *= 2;
  CHECK(inside.toHost() == twice);
}

template <int CHANNELS, class T, class Count>
void checkChannels(std::size_t n, std::size_t bins, long long upper, std::size_t offset) {
  INFO(CHANNELS << " channels of " << sizeof(T) << " bytes, n = " << n << ", " << bins << " bins, offset " << offset);
  const std::vector<T> samples = randomVector<T>(n * CHANNELS, 8);
  std::vector<Count> expected, expectedInside;
  for (std::size_t c = 0; c < CHANNELS; ++c) {
    std::vector<T> channel;
    for (std::size_t i = 0; i < n; ++i) channel.push_back(samples[i * CHANNELS + c]);
    const auto counts = countsOf<Count>(channel, bins, [&](T x) {
      const auto value = static_cast<long long>(x);
      if (value < 0) return -1LL;
      return value < upper ? value * static_cast<long long>(bins) / upper : static_cast<long long>(bins);
    });
    expected.insert(expected.end(), counts.begin(), counts.end());
    expectedInside.insert(expectedInside.end(), counts.begin(), counts.end() - 2);
  }
  const DeviceArray<T> in(samples, offset);
  DeviceArray<Count> all(expected.size()), inside(expectedInside.size());
  histogramChannels<CHANNELS, CountOutside>(in.data(), n, all.data(), bins, 0, upper);
  CHECK(all.toHost() == expected);
  if constexpr (CHANNELS == 3) {
    histogramChannels<CHANNELS>(in.data(), n, inside.data(), bins, 0, upper);
    CHECK(inside.toHost() == expectedInside);
  }
}

template <class T, class Count>
void checkRows(std::size_t rows, std::size_t cols, std::size_t ld, std::size_t bins) {
  INFO(sizeof(T) << " bytes, " << rows << " x " << cols << ", ld " << ld << ", " << bins << " bins");
  const std::vector<T> values = randomVector<T>(rows * ld, 8);
  std::vector<Count> expected;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(r * ld);
    const std::vector<T> row(first, first + static_cast<std::ptrdiff_t>(cols));
    const auto counts = countsOf<Count>(row, bins, [&](T x) { return x < 0 ? -1 : x; });
    expected.insert(expected.end(), counts.begin(), counts.end());
  }
  const DeviceArray<T> in(values, 1);
  DeviceArray<Count> counts(expected.size());
  const auto end = static_cast<long long>(bins);
  histogramRows<CountOutside>(in.data(), rows, cols, ld, counts.data(), bins, 0, end);
  CHECK(counts.toHost() == expected);
  histogramRows<AddOutside>(in.data(), rows, cols, ld, counts.data(), bins, 0, end);
  for (Count& count : expected) count *= 2;
  CHECK(counts.toHost() == expected);
}

}  // namespace

TEST_CASE("histogramEdges: every element is counted between its edges", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 100, 30000}) {
    checkEdges<float, unsigned>(n, 1);
    checkEdges<float, unsigned>(n, 100);
    checkEdges<double, unsigned>(n, 1000);
    checkEdges<std::int32_t, unsigned>(n, 33);
    checkEdges<std::int64_t, unsigned long long>(n, 500);
  }
}

TEST_CASE("histogramEdges: edges that do not fit into shared memory", "[device]") {
  checkEdges<float, unsigned>(20000, 50000);
  checkEdges<float, unsigned>(70000, 60000);
}

TEST_CASE("histogramEdges: halves between floats", "[device]") {
  std::vector<__half> values;
  for (int i = -20; i < 120; ++i) values.push_back(__half(static_cast<float>(i) / 64));
  const std::vector<float> edges{0, 0.1F, 0.5F, 1.5F};
  const DeviceArray<__half> in(values);
  DeviceArray<unsigned> counts(3);
  histogramEdges(in.data(), values.size(), edges, counts.data());
  CHECK(counts.toHost() == std::vector<unsigned>{7, 25, 64});
  histogramEdges(in.data(), values.size(), std::array<float, 2>{0, 1}, counts.data());
  CHECK(counts.toHost() == std::vector<unsigned>{64, 25, 64});
}

TEST_CASE("histogramEdges: wrong arguments throw before anything is written", "[device]") {
  const std::vector<unsigned> old{5, 6, 7};
  DeviceArray<unsigned> counts(old);
  const DeviceArray<float> in(std::vector<float>(20, 0.5F));
  const float* const null = nullptr;
  const auto message = [&](const std::vector<float>& edges) {
    return messageOf<std::invalid_argument>([&] { histogramEdges(in.data(), 20, edges, counts.data()); });
  };
  // WRITTEN histogram: `histogramEdges(in, n, edges, counts)`, where `edges` is not sorted
  CHECK(message({0, 2, 1, 3}) ==
        "gpuopt::histogramEdges: edges are not sorted: edges[2] (1) is less than the one before it, or NaN");
  CHECK(message({std::numeric_limits<float>::quiet_NaN(), 1}) ==
        "gpuopt::histogramEdges: edges are not sorted: edges[0] (nan) is less than the one before it, or NaN");
  CHECK(message({1}) == "gpuopt::histogramEdges: edges has 1 elements, but a bin needs 2");
  CHECK(messageOf<std::invalid_argument>([&] { histogramEdges(in.data(), 20, null, 3, counts.data()); }) ==
        "gpuopt::histogramEdges: edges is null, but bins is 3");
  CHECK(messageOf<std::invalid_argument>([&] { histogramEdges(in.data(), 20, in.data(), 0, counts.data()); }) ==
        "gpuopt::histogramEdges: bins is 0");
#if GPUOPT_CHECK_POINTERS
  const DeviceArray<float> unsorted(std::vector<float>{0, 2, 1});
  CHECK(messageOf<std::invalid_argument>([&] { histogramEdges(in.data(), 20, unsorted.data(), 2, counts.data()); }) ==
        "gpuopt::histogramEdges: edges are not sorted: edges[2] (1) is less than the one before it, or NaN");
#endif
  CHECK(counts.toHost() == old);
}

TEST_CASE("histogramChannels: each channel is counted apart", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 15, 17, 1000, 30000})
    for (const std::size_t offset : std::vector<std::size_t>{0, 1, 2}) {
      checkChannels<3, std::uint8_t, unsigned>(n, 256, 256, offset);
      checkChannels<4, std::uint8_t, unsigned long long>(n, 100, 200, offset);
      checkChannels<3, std::uint16_t, unsigned>(n, 1000, 50000, offset);
      checkChannels<4, std::uint16_t, unsigned>(n, 256, 65536, offset);
      checkChannels<2, std::int32_t, unsigned>(n, 7, 1 << 30, offset);
    }
}

TEST_CASE("histogramChannels: more counters than shared memory has room for", "[device]") {
  checkChannels<3, std::uint16_t, unsigned>(70000, 65536, 65536, 1);
  checkChannels<4, std::uint16_t, unsigned>(70000, 65536, 65536, 0);
  checkChannels<3, std::uint8_t, unsigned>(70000, 30000, 256, 0);
}

TEST_CASE("histogramChannels: wrong arguments throw before anything is written", "[device]") {
  const std::vector<unsigned short> old(60, 7);
  DeviceArray<unsigned short> samples(old);
  const unsigned short* const null = nullptr;
  auto* const counts = reinterpret_cast<unsigned*>(samples.data());
  const auto message = [&](const unsigned short* in) {
    return messageOf<std::invalid_argument>([&] { histogramChannels<3>(in, 10, counts, 4, 0, 256); });
  };
  CHECK(message(null) == "gpuopt::histogramChannels: samples is null, but n is 10");
  CHECK(message(samples.data() + 6) ==
        "gpuopt::histogramChannels: counts and samples overlap: samples begins at byte 12 of the 48 of counts");
  const auto* misaligned = reinterpret_cast<const unsigned short*>(reinterpret_cast<const char*>(samples.data()) + 1);
  CHECK(message(misaligned) == "gpuopt::histogramChannels: samples is misaligned: its address modulo 2 is 1");
  CHECK(samples.toHost() == old);
}

TEST_CASE("histogramChannels: too many bins throw", "[device]") {
  DeviceArray<unsigned> counts(3);
  const DeviceArray<unsigned char> in(std::vector<unsigned char>(20, 3));
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramChannels<4>(in.data(), 5, counts.data(), std::size_t{1} << 30, 0, 256);
        }) == "gpuopt::histogramChannels: 4 times bins (1073741824) exceeds 2147483645");
}

TEST_CASE("histogramRows: rows of any length, with gaps, few and many", "[device]") {
  checkRows<std::int8_t, unsigned>(100, 33, 40, 50);
  checkRows<std::int8_t, unsigned>(3, 70001, 70003, 100);
  checkRows<std::int16_t, unsigned long long>(17, 1000, 1000, 300);
  checkRows<std::int8_t, unsigned>(1, 20000, 20000, 1);
  checkRows<std::int8_t, unsigned>(70, 1, 1, 100);
  checkRows<std::int16_t, unsigned>(2, 500, 501, 60000);  // counters in global memory
}

TEST_CASE("histogramRows: empty matrices and wrong arguments", "[device]") {
  const std::vector<unsigned> old{5, 6, 7, 8};
  DeviceArray<unsigned> counts(old);
  const DeviceArray<int> in(std::vector<int>(20, 3));
  CHECK(messageOf<std::invalid_argument>([&] { histogramRows(in.data(), 2, 10, 9, counts.data(), 2, 0, 4); }) ==
        "gpuopt::histogramRows: ld (9) is less than cols (10)");
  CHECK(messageOf<std::invalid_argument>([&] { histogramRows(in.data(), 2, 10, 10, counts.data(), 0, 0, 4); }) ==
        "gpuopt::histogramRows: bins is 0; it comes before lower and upper");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramRows(in.data(), std::size_t{1} << 40, 0, 10, counts.data(), std::size_t{1} << 30, 0, 4);
        }) == "gpuopt::histogramRows: 1099511627776 rows of 1073741824 counters are more than memory can hold");
  histogramRows(in.data(), 0, 10, 10, counts.data(), 2, 0, 4);
  CHECK(counts.toHost() == old);
  histogramRows(in.data(), 2, 0, 10, counts.data(), 2, 0, 4);
  CHECK(counts.toHost() == std::vector<unsigned>(4, 0));
}

}  // namespace gpuopt::test::forms_test
