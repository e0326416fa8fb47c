/// What rounding, order, NaN, signed zeros and infinities do: error bounds, the same bits on every run, the
/// same bits at every alignment.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

namespace gpuopt::test::semantics_test {
namespace {

struct LowBoundariesByLength : LowBoundaries {
  static constexpr bool BY_LENGTH = true;
};

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

const std::vector<std::size_t> lengths = {1, 2, 5, 31, 33, 142, 1000, 4099, 30011, 300007};

// ------------------------------------------------------------------------------------------------------
// rounding

TEMPLATE_TEST_CASE("The error of a sum grows with the logarithm of its length", "[semantics]", LowBoundaries,
                   ByLength) {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    std::vector<float> values = randomVector<float>(n, 1);
    for (const bool positive : {false, true}) {
      if (positive)
        for (float& value : values) value = std::fabs(value);
      const DeviceArray<float> in(values, 1);
      const ExactSum exact = sumExactly(values);
      const float sum = reduce<DefaultAccumulator, TestType>(in.data(), n);
      REQUIRE(std::fabs(sum - static_cast<double>(exact.sum)) <= exact.tolerance(0x1p-24, n));
      const double wide = reduce<double, TestType>(in.data(), n);
      REQUIRE(std::fabs(wide - static_cast<double>(exact.sum)) <= exact.tolerance(0x1p-53, n));
    }
  }
}

TEST_CASE("Sums of doubles and of halves", "[semantics]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<double> values = randomVector<double>(n, 2);
    const DeviceArray<double> in(values, 1);
    const ExactSum exact = sumExactly(values);
    REQUIRE(std::fabs(reduce(in.data(), n) - static_cast<double>(exact.sum)) <= exact.tolerance(0x1p-53, n));

    const std::vector<__half> halves = randomVector<__half>(n, 3);
    const DeviceArray<__half> inHalves(halves, 1);
    const ExactSum exactHalves = sumExactly(halves);
    REQUIRE(std::fabs(reduce(inHalves.data(), n) - static_cast<double>(exactHalves.sum)) <=
            exactHalves.tolerance(0x1p-24, n));
  }
}

TEST_CASE("Sums and extremes keep denormal numbers", "[semantics]") {
  const std::size_t n = 5000;
  std::vector<float> values = smallIntegers<float>(n, 4);
  for (float& value : values) value *= std::numeric_limits<float>::denorm_min();
  const DeviceArray<float> in(values);
  REQUIRE(reduce(in.data(), n) == foldSerially<float>(values, Plus{}));
  REQUIRE(reduce(in.data(), n, Minimum{}) == -3 * std::numeric_limits<float>::denorm_min());
}

// ---------------------------------------------------------------------------------------------------------
// order

template <class Policy>
struct Bits {
  float sum;
  float product;
  MinMax<float> extremes;
  MeanVariance<float> moments;

  Bits(const float* in, std::size_t n, cudaStream_t stream = nullptr, Workspace* workspace = nullptr)
      : sum(reduce<DefaultAccumulator, Policy>(in, n, Plus{}, stream, workspace)),
        product(dot<DefaultAccumulator, Policy>(in, in, n, stream, workspace)),
        extremes(minMax<DefaultAccumulator, Policy>(in, n, stream, workspace)),
        moments(meanVariance<DefaultAccumulator, Policy>(in, n, stream, workspace)) {}

  friend bool operator==(const Bits& a, const Bits& b) {
    return sameBits(a.sum, b.sum) && sameBits(a.product, b.product) && sameBits(a.extremes, b.extremes) &&
           sameBits(a.moments.mean, b.moments.mean) && sameBits(a.moments.variance, b.moments.variance);
  }
};

TEMPLATE_TEST_CASE("The same call gives the same bits", "[semantics][sweep]", LowBoundaries, LowBoundariesByLength) {
  Workspace workspace;
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const DeviceArray<float> in(randomVector<float>(n, 5), 3);
    const Bits<TestType> first(in.data(), n);
    for (int call = 0; call < 3; ++call) REQUIRE((Bits<TestType>(in.data(), n) == first));
    REQUIRE((Bits<TestType>(in.data(), n, cudaStreamPerThread, &workspace) == first));
    DeviceArray<float> out(1);
    reduceInto<DefaultAccumulator, TestType>(in.data(), n, out.data());
    REQUIRE(sameBits(out.toHost()[0], first.sum));
  }
}

// The order may depend on the offset in a line of 128 bytes, and on nothing else.
TEST_CASE("Inputs 128 bytes apart give the same bits", "[semantics][sweep]") {
  for (const std::size_t n : lengths) {
    const std::vector<float> values = randomVector<float>(n, 6);
    for (const std::size_t offset : {0, 1, 5}) {
      INFO("n " << n << ", offset " << offset);
      const DeviceArray<float> in(values, offset), further(values, offset + 32);
      REQUIRE((Bits<LowBoundaries>(in.data(), n) == Bits<LowBoundaries>(further.data(), n)));
    }
  }
}

template <class Policy>
void checkEveryAlignment(std::size_t n) {
  const std::vector<float> values = randomVector<float>(n, 7);
  const DeviceArray<float> aligned(values);
  const Bits<Policy> first(aligned.data(), n);
  Series cases;
  for (std::size_t offset = 1; offset < 32; ++offset) {
    if (!cases.runsNext()) continue;
    INFO("n " << n << ", offset " << offset);
    const DeviceArray<float> in(values, offset);
    REQUIRE((Bits<Policy>(in.data(), n) == first));
  }
}

TEST_CASE("By length, every alignment gives the same bits", "[semantics][sweep]") {
  for (const std::size_t n : {1, 3, 33, 142, 4099, 30011}) checkEveryAlignment<LowBoundariesByLength>(n);
  for (const std::size_t n : {1000, 30011, 70001}) checkEveryAlignment<ByLength>(n);
}

TEST_CASE("By length, elements of any size give the same bits at every alignment", "[semantics]") {
  const std::size_t n = 10007;
  std::vector<Float3> triples(n);
  const std::vector<float> coordinates = randomVector<float>(3 * n, 12);
  std::memcpy(triples.data(), coordinates.data(), n * sizeof(Float3));
  const std::vector<__half> halves = randomVector<__half>(n, 8);
  const Float3 sum = reduce<DefaultAccumulator, LowBoundariesByLength>(DeviceArray<Float3>(triples).data(), n);
  const float sumOfHalves = reduce<DefaultAccumulator, LowBoundariesByLength>(DeviceArray<__half>(halves).data(), n);
  const float product = dot<DefaultAccumulator, LowBoundariesByLength>(DeviceArray<__half>(halves).data(),
                                                                       DeviceArray<__half>(halves).data(), n);
  for (std::size_t offset = 1; offset < 16; ++offset) {
    INFO("offset " << offset);
    const DeviceArray<Float3> inTriples(triples, offset);
    const DeviceArray<__half> inHalves(halves, offset), other(halves, 16 - offset);
    REQUIRE((sameBits(reduce<DefaultAccumulator, LowBoundariesByLength>(inTriples.data(), n), sum)));
    REQUIRE((sameBits(reduce<DefaultAccumulator, LowBoundariesByLength>(inHalves.data(), n), sumOfHalves)));
    REQUIRE((sameBits(dot<DefaultAccumulator, LowBoundariesByLength>(inHalves.data(), other.data(), n), product)));
  }
}

#ifdef GPUOPT_EMULATION
TEST_CASE("The order in which lanes run changes no bit", "[semantics]") {
  using emulation::LaneOrder;
  const emulation::Schedule schedule = emulation::schedule();
  for (const std::size_t n : lengths) {
    const DeviceArray<float> in(randomVector<float>(n, 9), 1);
    emulation::setLaneOrder(LaneOrder::forward);
    const Bits<LowBoundaries> first(in.data(), n);
    for (const LaneOrder order : {LaneOrder::backward, LaneOrder::random}) {
      emulation::setLaneOrder(order, n);
      INFO("n " << n);
      REQUIRE((Bits<LowBoundaries>(in.data(), n) == first));
    }
  }
  emulation::setLaneOrder(schedule.order, schedule.seed, schedule.blocks);
}
#endif

// ------------------------------------------------------------------------------------- NaN, zeros and
// infinities

template <class Op>
float reduceLow(const DeviceArray<float>& in, Op op) {
  return reduce<DefaultAccumulator, LowBoundaries>(in.data(), in.size(), op);
}

TEST_CASE("A NaN anywhere is the result", "[semantics]") {
  for (const std::size_t n : {1, 2, 33, 1000, 5000, 30011})
    for (const std::size_t index : {std::size_t{0}, n / 3, n - 1}) {
      INFO("n " << n << ", index " << index);
      std::vector<float> values = randomVector<float>(n, 10);
      values[n / 2] = infinity;
      values[index] = nan;
      const DeviceArray<float> in(values, 1);
      REQUIRE(std::isnan(reduceLow(in, Plus{})));
      REQUIRE(std::isnan(reduceLow(in, Multiplies{})));
      REQUIRE(std::isnan(reduceLow(in, Minimum{})));
      REQUIRE(std::isnan(reduceLow(in, Maximum{})));
      REQUIRE(std::isnan(reduce(in.data(), n, Minimum{}, -infinity)));
    }
  const DeviceArray<float> in(std::vector<float>{1, 2});
  REQUIRE(std::isnan(reduce(in.data(), 2, Maximum{}, nan)));
}

TEST_CASE("The minimum prefers -0, the maximum +0, wherever they are", "[semantics]") {
  for (const std::size_t n : {2, 33, 1000, 5000, 30011})
    for (const std::size_t index : {std::size_t{0}, n / 3, n - 1}) {
      INFO("n " << n << ", index " << index);
      std::vector<float> values(n, 0.0F);
      values[index] = -0.0F;
      const DeviceArray<float> one(values, 1);
      REQUIRE(sameBits(reduceLow(one, Minimum{}), -0.0F));
      for (float& value : values) value = -value;
      const DeviceArray<float> allButOne(values, 1);
      REQUIRE(sameBits(reduceLow(allButOne, Maximum{}), 0.0F));
    }
  const DeviceArray<float> negative(std::vector<float>(5000, -0.0F));
  REQUIRE(sameBits(reduceLow(negative, Maximum{}), -0.0F));
  REQUIRE(reduceLow(negative, Plus{}) == 0);  // of either sign: what is added to may be +0
}

TEST_CASE("Infinities", "[semantics]") {
  for (const std::size_t n : {2, 33, 1000, 5000, 30011}) {
    INFO("n " << n);
    std::vector<float> values = randomVector<float>(n, 11);
    values[n - 1] = infinity;
    const DeviceArray<float> one(values, 1);
    REQUIRE(reduceLow(one, Plus{}) == infinity);
    REQUIRE(reduceLow(one, Maximum{}) == infinity);
    REQUIRE(reduceLow(one, Minimum{}) == foldSerially<float>(values, Minimum{}));
    values[0] = -infinity;
    const DeviceArray<float> both(values, 1);
    REQUIRE(std::isnan(reduceLow(both, Plus{})));
    REQUIRE(reduceLow(both, Minimum{}) == -infinity);
    const DeviceArray<float> all(std::vector<float>(n, infinity), 1);
    REQUIRE(reduceLow(all, Minimum{}) == infinity);
    REQUIRE(reduceLow(all, Plus{}) == infinity);
  }
}

// The sum of bytes and shorts is taken in 32 bits, and in 64 on request.
TEST_CASE("Narrow integers do not wrap around", "[semantics]") {
  const std::size_t n = 100000;
  const DeviceArray<signed char> bytes(std::vector<signed char>(n, -128), 1);
  REQUIRE(reduce(bytes.data(), n) == -12800000);
  const DeviceArray<unsigned short> shorts(std::vector<unsigned short>(n, 65535), 1);
  REQUIRE(reduce<unsigned long long>(shorts.data(), n) == 6553500000ULL);
  REQUIRE(reduce(shorts.data(), n) == static_cast<unsigned>(6553500000ULL));  // modulo 2^32
}

}  // namespace
}  // namespace gpuopt::test::semantics_test
