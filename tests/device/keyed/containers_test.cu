/// \file
/// Histograms of containers, with a closed last bin, limits and numbers of bins that follow from the elements; what
/// explain says of edges, channels and rows.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram_automatic.cuh>

#include <cuda_fp16.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpuopt::test;
using gpuopt::DeviceVector;
using gpuopt::MatrixView;
using Counts = std::vector<unsigned>;

TEST_CASE("The last bin has what equals upper, if it is closed", "[device]") {
  DeviceVector<unsigned> counts(4);
  gpuopt::histogram<gpuopt::CloseLastBin>(DeviceVector<float>{0, 0.5f, 1, 2, 2, 2.1f, -0.1f}, counts, 0, 2);
  CHECK(counts.toHost() == Counts{1, 1, 1, 2});
  gpuopt::histogram<gpuopt::CloseLastBin>(DeviceVector<int>{0, 1, 7, 8, 9, -1}, counts, 0, 8);
  CHECK(counts.toHost() == Counts{2, 0, 0, 2});
  gpuopt::histogram<gpuopt::CloseLastBin>(DeviceVector<unsigned char>{0, 63, 64, 128, 129}, counts, 0, 128);
  CHECK(counts.toHost() == Counts{1, 1, 1, 1});
  gpuopt::histogramRows<gpuopt::CloseLastBin>(MatrixView{DeviceVector<float>{0, 1, 1, 0, 0, 1}.data(), 2, 3}, counts, 0,
                                              1);
  CHECK(counts.toHost() == Counts{1, 2, 2, 1});
}

TEST_CASE("Edges, channels and rows of containers", "[device]") {
  const DeviceVector<float> samples{0.5f, 1.5f, 1.6f, 2.5f, 3.5f, 9};
  DeviceVector<unsigned> counts(3);
  gpuopt::histogramEdges(samples, std::vector<float>{0, 1, 2, 4}, counts);
  CHECK(counts.toHost() == Counts{1, 2, 2});
  gpuopt::histogramEdges(samples, DeviceVector<float>{1, 2, 3, 10}, counts);
  CHECK(counts.toHost() == Counts{2, 1, 2});
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::histogramEdges(samples, std::array<float, 1>{1}, counts); }) ==
        "gpuopt::histogramEdges: edges has 1 elements, but a bin needs 2");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::histogramEdges(samples, std::vector<float>{0, 1, 2, 3, 4}, counts);
        }) == "gpuopt::histogramEdges: counts has 3 elements, but 4 are needed");

  const DeviceVector<unsigned char> pixels{0, 1, 0, 1, 1, 0};
  DeviceVector<unsigned> channels(6);
  gpuopt::histogramChannels<3>(pixels, channels, 0, 2);
  CHECK(channels.toHost() == Counts{1, 1, 0, 2, 2, 0});
  // WRITTEN histogram: histogramChannels<3>(samples, counts, 0, 256) of 4 samples
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::histogramChannels<3>(DeviceVector<unsigned char>{1, 2, 3, 4}, channels, 0, 2);
        }) == "gpuopt::histogramChannels: samples has 4 elements, not as many for each of 3 channels");

  gpuopt::histogramRows(MatrixView{samples.data(), 3, 2}, channels, 0, 4);
  CHECK(channels.toHost() == Counts{2, 0, 1, 1, 0, 1});
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::histogramRows(MatrixView{samples.data(), 3, 2}, DeviceVector<unsigned>(7), 0, 4);
        }) == "gpuopt::histogramRows: counts has 7 elements, not as many for each of 3 rows");
}

TEST_CASE("The number of bins that all elements need", "[device]") {
  CHECK(gpuopt::binsNeeded(DeviceVector<int>{3, 41, -7}) == 42);
  CHECK(gpuopt::binsNeeded(DeviceVector<int>{-3, -1}) == 0);
  CHECK(gpuopt::binsNeeded(DeviceVector<unsigned char>{255}) == 256);
  CHECK(gpuopt::binsNeeded(DeviceVector<int>{}) == 0);
  CHECK(messageOf<std::invalid_argument>([] {
          static_cast<void>(gpuopt::binsNeeded(DeviceVector<std::uint64_t>{~std::uint64_t{0}}));
        }) == "gpuopt::binsNeeded: the largest element (18446744073709551615) needs more than 2147483645 bins");
  const DeviceVector<int> ids{3, 1, 3};
  DeviceVector<unsigned> counts(gpuopt::binsNeeded(ids));
  gpuopt::bincount(ids, counts);
  CHECK(counts.toHost() == Counts{0, 1, 0, 2});
}

TEST_CASE("Limits that are the least and the greatest element", "[device]") {
  DeviceVector<unsigned> counts(2);
  const auto limits = gpuopt::histogramMinMax(DeviceVector<float>{3, 1, 2, 1.5f}, counts);
  CHECK((limits.minimum == 1 && limits.maximum == 3));
  CHECK(counts.toHost() == Counts{2, 2});
  gpuopt::histogramMinMax<gpuopt::AddCounts>(DeviceVector<double>{7, 7, 7}, counts);
  CHECK(counts.toHost() == Counts{2, 5});
  const auto bytes = gpuopt::histogramMinMax(DeviceVector<signed char>{-128, 127, 0, -1}, counts);
  CHECK((bytes.minimum == -128 && bytes.maximum == 127));
  CHECK(counts.toHost() == Counts{2, 2});
  constexpr std::int64_t MOST = (std::numeric_limits<std::int64_t>::max)();
  const auto longs = gpuopt::histogramMinMax(DeviceVector<std::int64_t>{MOST, MOST}, counts);
  CHECK((longs.minimum == MOST - 1 && longs.maximum == MOST));
  CHECK(counts.toHost() == Counts{0, 2});
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::histogramMinMax(DeviceVector<float>{}, counts); }) ==
        "gpuopt::histogramMinMax: n is 0, so there are no limits");
}

TEST_CASE("What explain says of edges, channels and rows", "[device]") {
  CHECK(contains(gpuopt::explainHistogramEdges<float>(1 << 24, 100), "all bins fit into shared memory"));
  CHECK(contains(gpuopt::explainHistogramEdges<float>(0, 100), "nothing to launch"));
  CHECK(contains(gpuopt::explainHistogramChannels<float, 3>(1 << 24, 100), "all bins fit into shared memory"));
  CHECK(contains(gpuopt::explainHistogramChannels<unsigned char, 4>(1 << 24, 256), "values of bytes"));
  CHECK(contains(gpuopt::explainHistogramRows<float>(10000, 512, 64), ", by vectors, a row for each block in turn, "));
  CHECK(contains(gpuopt::explainHistogramRows<float>(1, 1 << 26, 64), " blocks a row"));
  CHECK(contains(gpuopt::explainHistogramRows<float>(10, 1000, 1000000), "global memory"));
  CHECK(contains(gpuopt::explainHistogram<float>(1 << 24, 100), "all bins fit into shared memory"));
  const DeviceVector<float> values(100);
  const DeviceVector<int> keys(100);
  DeviceVector<float> sums(10);
  DeviceVector<__half> halves(10);
  CHECK(contains(gpuopt::explainReduceBy(values, keys, sums), "fixed point, one cluster, by vectors, 1 block of "));
  CHECK(gpuopt::explainReduceBy(values, keys, sums, gpuopt::Maximum{}).find("shared memory, by vectors, 1 ") == 0);
  CHECK(gpuopt::explainReduceBy(values, keys, halves) == gpuopt::explainReduceBy(values, keys, sums));
}
