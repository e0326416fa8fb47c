/// meanVariance: against two passes in long double, on data that the difference of sums of squares cannot
/// stand.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "moments_oracle.cuh"
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::mean_variance_test {
namespace {

template <class T>
using MomentsOf = decltype(meanVariance(std::declval<const T*>(), std::size_t{}));

static_assert(std::is_same_v<MomentsOf<float>, MeanVariance<float>> &&
              std::is_same_v<MomentsOf<__half>, MeanVariance<float>>);
static_assert(std::is_same_v<MomentsOf<double>, MeanVariance<double>> &&
              std::is_same_v<MomentsOf<int>, MeanVariance<double>>);
static_assert(std::is_same_v<decltype(meanVariance<double>(std::declval<float*>(), 1)), MeanVariance<double>>);

template <class A, class Policy, class T>
void checkMoments(const std::vector<T>& values, std::size_t offset) {
  const DeviceArray<T> in(values, offset);
  const auto found = meanVariance<A, Policy>(in.data(), values.size());
  INFO("n " << values.size() << ", mean " << found.mean << ", variance " << found.variance);
  REQUIRE(areMoments(found, values));
}

const std::vector<std::size_t> lengths = {1, 2, 3, 31, 33, 142, 1000, 4099, 30011, 100003};

TEMPLATE_TEST_CASE("Moments of random numbers", "[meanVariance]", signed char, int, float, double, __half,
                   __nv_bfloat16) {
  for (const std::size_t n : lengths) {
    const std::vector<TestType> values = randomVector<TestType>(n, 1);
    for (const std::size_t offset : {0, 1, 3}) checkMoments<DefaultAccumulator, LowBoundaries>(values, offset);
  }
}

TEST_CASE("Moments in double, and under the policies of the library", "[meanVariance]") {
  for (const std::size_t n : lengths) {
    const std::vector<float> values = randomVector<float>(n, 1);
    checkMoments<DefaultAccumulator, ReducePolicy>(values, 3);
    checkMoments<double, LowBoundaries>(values, 1);
    checkMoments<double, ByLength>(values, 1);
    checkMoments<double, LowBoundaries>(randomVector<__half>(n, 1), 1);
    checkMoments<double, ByLength>(randomVector<signed char>(n, 1), 1);
  }
}

// The variance is 1e-14 of the squared mean: in float, the difference of the sums of squares has no correct
// digit.
TEST_CASE("A mean far from zero", "[meanVariance]") {
  for (const std::size_t n : lengths) {
    std::vector<float> values = randomVector<float>(n, 2);
    for (float& value : values) value = 1e6F + 0.2F * value;
    checkMoments<DefaultAccumulator, LowBoundaries>(values, 1);
    checkMoments<double, ReducePolicy>(values, 1);
    std::vector<double> wide = randomVector<double>(n, 3);
    for (double& value : wide) value = 1e9 + 0.1 * value;
    checkMoments<DefaultAccumulator, LowBoundaries>(wide, 1);
  }
}

TEST_CASE("Small integers have exact moments", "[meanVariance]") {
  const std::vector<int> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const DeviceArray<int> in(values, 1);
  const auto found = meanVariance(in.data(), 8);
  REQUIRE(found.count == 8);
  REQUIRE(found.mean == 5);
  REQUIRE(found.variance == 4);
  REQUIRE(std::fabs(found.sampleVariance() - 32.0 / 7) < 1e-14);
}

// Neither the neutral elements of idle threads nor combining may overflow where the result does not.
TEST_CASE("Equal elements have no variance, however large they are", "[meanVariance]") {
  for (const float value : {0.0F, 1.0F, -3.3e7F, 1e18F, 1e25F, -1e37F})
    for (const std::size_t n : {1, 4, 100, 5000, 30000}) {
      const std::vector<float> values(n, value);
      const DeviceArray<float> in(values);
      const auto found = meanVariance<DefaultAccumulator, LowBoundaries>(in.data(), n);
      INFO("n " << n << ", value " << value << ", mean " << found.mean << ", variance " << found.variance);
      REQUIRE(std::fabs(found.mean - value) <= 1e-6F * std::fabs(value));
      if (std::fabs(value) < 1e18F) REQUIRE(std::sqrt(found.variance) <= 1e-6F * std::fabs(value));
      REQUIRE_FALSE(std::isnan(found.variance));
    }
}

TEST_CASE("NaN and infinities reach the result", "[meanVariance]") {
  std::vector<float> values = randomVector<float>(5000, 4);
  values[1234] = std::numeric_limits<float>::quiet_NaN();
  const DeviceArray<float> in(values);
  REQUIRE(std::isnan(meanVariance<DefaultAccumulator, LowBoundaries>(in.data(), 5000).mean));
  REQUIRE(std::isnan(meanVariance<DefaultAccumulator, LowBoundaries>(in.data(), 5000).variance));
  REQUIRE_FALSE(std::isnan(meanVariance<DefaultAccumulator, LowBoundaries>(in.data(), 1234).mean));
  values[1234] = std::numeric_limits<float>::infinity();
  const DeviceArray<float> infinite(values);
  const auto ofInfinite = meanVariance<DefaultAccumulator, LowBoundaries>(infinite.data(), 5000);
  REQUIRE_FALSE(std::isfinite(ofInfinite.mean));
  REQUIRE(std::isnan(ofInfinite.variance));
}

TEST_CASE("No elements and one", "[meanVariance]") {
  const auto none = meanVariance(static_cast<const float*>(nullptr), 0);
  REQUIRE(none.count == 0);
  REQUIRE(none.mean == 0);
  REQUIRE(none.variance == 0);
  REQUIRE(none.sampleVariance() == 0);
  const DeviceArray<double> in(std::vector<double>{7.5});
  DeviceArray<MeanVariance<double>> out(1);
  meanVarianceInto(in.data(), 1, out.data());
  const auto one = out.toHost()[0];
  REQUIRE(one.count == 1);
  REQUIRE(one.mean == 7.5);
  REQUIRE(one.variance == 0);
  REQUIRE(one.sampleVariance() == 0);
}

}  // namespace
}  // namespace gpuopt::test::mean_variance_test
