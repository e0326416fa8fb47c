/// histogramChannels with bins of their own for each channel: against serial counts, by every kernel, at any alignment;
/// wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram_channels.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::channels_test {
namespace {

template <int CHANNELS, class T>
using Axes = HistogramAxis<std::conditional_t<std::is_integral_v<T>, std::int64_t, T>>[CHANNELS];

// The slot of a sample: bins below the first bin, bins + 1 above. Limits and widths of bins are whole numbers.
template <class T, class Axis>
std::size_t slotOf(T x, const Axis& axis) {
  const double low = static_cast<double>(axis.lower), high = static_cast<double>(axis.upper);
  const double number = static_cast<double>(x);
  if (number < low) return axis.bins;
  if (!(number < high)) return axis.bins + 1;
  return static_cast<std::size_t>((number - low) * static_cast<double>(axis.bins) / (high - low));
}

template <int CHANNELS, class Count, class T>
void checkOwn(std::size_t n, const Axes<CHANNELS, T>& axes, std::size_t offset) {
  INFO(CHANNELS << " channels of " << sizeof(T) << " bytes, n = " << n << ", offset " << offset);
  if (!runsNextCase()) return;
  std::vector<T> samples(n * CHANNELS);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<T>(i * 2654435761u >> 8);
  if (n > 0) samples[0] = static_cast<T>(axes[0].upper);
  std::vector<Count> inside, outside;
  for (int c = 0; c < CHANNELS; ++c) {
    std::vector<Count> own(axes[c].bins + 2, 0);
    for (std::size_t i = static_cast<std::size_t>(c); i < samples.size(); i += CHANNELS)
      ++own[slotOf(samples[i], axes[c])];
    outside.insert(outside.end(), own.begin(), own.end());
    inside.insert(inside.end(), own.begin(), own.end() - 2);
  }
  const DeviceArray<T> in(samples, offset);
  DeviceArray<Count> counts(inside.size()), more(outside.size());
  histogramChannels<CHANNELS>(in.data(), n, counts.data(), axes);
  CHECK(counts.toHost() == inside);
  histogramChannels<CHANNELS, CountOutside>(in.data(), n, more.data(), axes);
  CHECK(more.toHost() == outside);
}

}  // namespace
}  // namespace gpuopt::test::channels_test

using namespace gpuopt;
using namespace gpuopt::test;
using namespace gpuopt::test::channels_test;

TEST_CASE("histogramChannels: bins of its own for each channel", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 100, 4001, 30001})
    for (const std::size_t offset : std::vector<std::size_t>{0, 1}) {
      checkOwn<3, unsigned, std::uint8_t>(n, {{256, 0, 256}, {10, 0, 200}, {1, 50, 100}}, offset);
      checkOwn<2, unsigned, std::int8_t>(n, {{128, -128, 128}, {3, -3, 9}}, offset);
      checkOwn<4, std::uint64_t, std::uint16_t>(n, {{500, 0, 65000}, {64, 0, 65536}, {7, 7, 77}, {2, 0, 2}}, offset);
    }
}

TEST_CASE("histogramChannels: bins of its own, of wider samples", "[device]") {
  checkOwn<2, unsigned, std::int32_t>(9001, {{100, 0, 10000000}, {16, -16000000, 16000000}}, 1);
  checkOwn<3, int, float>(9001, {{1000, 0, 16000000}, {1, 0, 10000000}, {16, 0, 1 << 24}}, 1);
}

TEST_CASE("histogramChannels: bins of its own, more than shared memory has room for", "[device]") {
  checkOwn<2, unsigned, std::int32_t>(20000, {{65536, 0, 65536}, {30000, 0, 60000}}, 1);
}

TEST_CASE("histogramChannels: bins of its own, of containers; wrong arguments", "[device]") {
  const DeviceVector<unsigned char> pixels{0, 9, 1, 8, 1, 7};
  DeviceVector<unsigned> counts(5);
  histogramChannels<2>(pixels, counts, {{2, 0, 2}, {3, 7, 10}});
  CHECK(counts.toHost() == std::vector<unsigned>{1, 2, 1, 1, 1});
  histogramChannels<2, CloseLastBin>(pixels, counts, {{1, 0, 1}, {4, 5, 9}});
  CHECK(counts.toHost() == std::vector<unsigned>{3, 0, 0, 1, 2});
  // WRITTEN histogram: histogramChannels<2>(samples, counts, {{2, 0, 2}, {4, 0, 4}}), where counts has 5 elements
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramChannels<2>(pixels, counts, {{2, 0, 2}, {4, 0, 4}});
        }) == "gpuopt::histogramChannels: counts has 5 elements, but 6 are needed");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramChannels<2>(pixels, counts, {{2, 0, 2}, {0, 0, 4}});
        }) == "gpuopt::histogramChannels: bins is 0");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramChannels<2>(pixels, counts, {{2, 0, 2}, {3, 4, 4}});
        }) == "gpuopt::histogramChannels: channel 1: lower (4) is not less than upper (4)");
  const HistogramAxis<std::int64_t> many[2] = {{2000000000, 0, 2}, {2000000000, 0, 2}};
  CHECK(messageOf<std::invalid_argument>([&] { histogramChannels<2>(pixels.data(), 3, counts.data(), many); }) ==
        "gpuopt::histogramChannels: the bins of all channels (4000000000) exceed 2147483645");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramChannels<2>(static_cast<unsigned char*>(nullptr), 3, counts.data(), {{2, 0, 2}, {3, 0, 4}});
        }) == "gpuopt::histogramChannels: samples is null, but n is 3");
}
