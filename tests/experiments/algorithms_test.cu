/// The steps of the matrix product and of the histogram.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/histogram.cuh"
#include "../../examples/experiments/histogram_partition.cuh"
#include "../../examples/experiments/matrix_product.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <vector>

namespace algorithms_test {

using namespace experiments;
using gpuopt::test::DeviceArray;

TEST_CASE("matrix products of every step") {
  for (const ProductSize size :
       {ProductSize{1, 1, 1}, {32, 128, 32}, {37, 130, 45}, {65, 33, 70}, {130, 260, 36}, {128, 256, 48}}) {
    const auto a = gpuopt::test::smallIntegers<float>(size.m * size.k, 1);
    const auto b = gpuopt::test::smallIntegers<float>(size.k * size.n, 2);
    const auto expected = productOnHost(a, b, size);
    const DeviceArray<float> deviceA(a), deviceB(b), deviceColumns(columnMajor(b, size));
    for (const ProductStep& step : productSteps) {
      INFO(step.name << ", " << size.m << " x " << size.k << " by " << size.n);
      DeviceArray<float> c(expected.size());
      launchProduct(step, deviceA.data(), step.columnMajor ? deviceColumns.data() : deviceB.data(), c.data(), size);
      CHECK(c.toHost() == expected);
    }
  }
}

TEST_CASE("histograms of every step") {
  for (const std::size_t n : {1, 15, 256, 5003}) {
    for (const bool isSkewed : {false, true}) {
      auto data = gpuopt::test::randomVector<unsigned char>(n, 3);
      for (std::size_t i = 0; i < n && isSkewed; ++i)
        if (i % 50 != 7) data[i] = 200;
      const DeviceArray<unsigned char> in(data);
      for (const HistogramStep& step : histogramSteps) {
        INFO(step.name << ", " << n << (isSkewed ? " alike" : " random"));
        DeviceArray<unsigned> bins(std::vector<unsigned>(histogramBins, 0));
        launchHistogram(step, in.data(), n, bins.data(), 3);
        CHECK(bins.toHost() == histogramOnHost(data));
      }
    }
  }
}

TEST_CASE("histograms of many bins of every step") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{tileValues}, std::size_t{3 * tileValues + 5}}) {
    auto data = gpuopt::test::randomVector<unsigned>(n, 3);
    for (std::size_t i = 0; i < n; ++i) data[i] = i % 3 == 0 ? data[i] % manyBins : manyBins - 1 - data[i] % 9000;
    const std::vector<unsigned> expected = manyBinsOnHost(data);
    const DeviceArray<unsigned> in(data);
    DeviceArray<unsigned short> values(n);
    DeviceArray<unsigned> sizes(binRanges), ends(binRanges);
    for (const ManyBinsStep& step : manyBinsSteps) {
      INFO(step.name << ", " << n);
      DeviceArray<unsigned> bins(std::vector<unsigned>(manyBins, 0));
      step.launch(in.data(), n, bins.data(), {values.data(), sizes.data(), ends.data()}, 2);
      CHECK((bins.toHost() == expected));
      values.toHost();  // its guards
    }
  }
}

}  // namespace algorithms_test
