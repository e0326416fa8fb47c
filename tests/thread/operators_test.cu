/// The operations, their identities and the accumulators that go with them.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/thread/operators.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::operators_test {
namespace {

template <class Op, class T>
using AccumulatorOf = typename AccumulatorFor<Op, T>::type;

static_assert(std::is_same_v<AccumulatorOf<Plus, signed char>, int>);
static_assert(std::is_same_v<AccumulatorOf<Plus, short>, int>);
static_assert(std::is_same_v<AccumulatorOf<Plus, unsigned char>, unsigned>);
static_assert(std::is_same_v<AccumulatorOf<Multiplies, unsigned short>, unsigned>);
static_assert(std::is_same_v<AccumulatorOf<Plus, int>, int>);
static_assert(std::is_same_v<AccumulatorOf<Plus, unsigned long long>, unsigned long long>);
static_assert(std::is_same_v<AccumulatorOf<Plus, float>, float>);
static_assert(std::is_same_v<AccumulatorOf<Plus, double>, double>);
static_assert(std::is_same_v<AccumulatorOf<Plus, __half>, float>);
static_assert(std::is_same_v<AccumulatorOf<Maximum, __nv_bfloat16>, float>);
static_assert(std::is_same_v<AccumulatorOf<Minimum, signed char>, signed char>);
static_assert(std::is_same_v<AccumulatorOf<BitXor, unsigned char>, unsigned char>);
static_assert(std::is_same_v<AccumulatorOf<Plus, Words5>, Words5>);
static_assert(std::is_same_v<AccumulatorOf<UnknownPlus, short>, short>);

static_assert(isCommutative<Plus> && isCommutative<Minimum> && isCommutative<BitXor>);
static_assert(!isCommutative<UnknownPlus> && !isCommutative<CombineSpans>);

static_assert(!NeutralElement<Plus, Words5>::exists && !NeutralElement<UnknownPlus, int>::exists &&
              !NeutralElement<BitAnd, float>::exists);
static_assert(NeutralElement<Minimum, signed char>::value() == 127 &&
              NeutralElement<Maximum, signed char>::value() == -128);
static_assert(NeutralElement<Minimum, unsigned>::value() == 0xffffffffu &&
              NeutralElement<Maximum, unsigned>::value() == 0);
static_assert(NeutralElement<Minimum, float>::value() == std::numeric_limits<float>::infinity());
static_assert(NeutralElement<Maximum, double>::value() == -std::numeric_limits<double>::infinity());
static_assert(NeutralElement<BitAnd, unsigned char>::value() == 255 &&
              NeutralElement<BitAnd, long long>::value() == -1);
static_assert(NeutralElement<BitAnd, bool>::value() && !NeutralElement<BitOr, bool>::value());
static_assert(NeutralElement<Minimum, bool>::value() && !NeutralElement<Maximum, bool>::value());

// Narrow types wrap around as their arithmetic does. The product of two unsigned shorts must not overflow an
// int on the way.
static_assert(Plus{}(static_cast<signed char>(127), static_cast<signed char>(1)) == -128);
static_assert(Plus{}(static_cast<unsigned short>(65535), static_cast<unsigned short>(2)) == 1);
static_assert(Multiplies{}(static_cast<unsigned short>(65535), static_cast<unsigned short>(65535)) == 1);
static_assert(BitXor{}(static_cast<unsigned char>(0xF0), static_cast<unsigned char>(0xFF)) == 0x0F);

template <class T>
bool sameBits(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// IEEE 754-2019, 9.6, in words.
template <class T>
T minimumByTheBook(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T maximumByTheBook(T a, T b) {
  return -minimumByTheBook<T>(-a, -b);
}

template <class T>
__global__ void extremesKernel(const T* in, int n, T* minima, T* maxima) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      minima[i * n + k] = Minimum{}(in[i], in[k]);
      maxima[i * n + k] = Maximum{}(in[i], in[k]);
    }
}

TEMPLATE_TEST_CASE("Minimum and Maximum are IEEE's minimum and maximum", "[operators]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  const std::vector<TestType> values = {
      Limits::quiet_NaN(), -Limits::infinity(), Limits::lowest(),     -1, -Limits::denorm_min(),
      TestType(-0.0),      TestType(0.0),       Limits::denorm_min(), 1,  (Limits::max)(),
      Limits::infinity()};
  const std::size_t n = values.size();
  const DeviceArray<TestType> in(values);
  DeviceArray<TestType> minima(n * n), maxima(n * n);
  launch(extremesKernel<TestType>, blocksOf(1), in.data(), static_cast<int>(n), minima.data(), maxima.data());
  const std::vector<TestType> smallest = minima.toHost();
  const std::vector<TestType> largest = maxima.toHost();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const TestType a = values[i], b = values[k];
      INFO(a << " and " << b << " give " << smallest[i * n + k] << " and " << largest[i * n + k]);
      REQUIRE(sameBits(smallest[i * n + k], minimumByTheBook(a, b)));
      REQUIRE(sameBits(largest[i * n + k], maximumByTheBook(a, b)));
      REQUIRE(sameBits(Minimum{}(a, b), minimumByTheBook(a, b)));
      REQUIRE(sameBits(Maximum{}(a, b), maximumByTheBook(a, b)));
    }
}

template <class Op, class T>
void requireNeutral(Op op, const std::vector<T>& values) {
  static_assert(NeutralElement<Op, T>::exists);
  const T identity = NeutralElement<Op, T>::value();
  for (const T value : values) {
    REQUIRE(op(identity, value) == value);
    REQUIRE(op(value, identity) == value);
  }
}

TEMPLATE_TEST_CASE("An identity changes nothing", "[operators]", signed char, unsigned char, short, unsigned short, int,
                   unsigned, long long, unsigned long long, float, double) {
  std::vector<TestType> values = randomVector<TestType>(100, 1);
  values.insert(values.end(), {std::numeric_limits<TestType>::lowest(), (std::numeric_limits<TestType>::max)(), 0, 1});
  requireNeutral(Plus{}, values);
  requireNeutral(Multiplies{}, values);
  requireNeutral(Minimum{}, values);
  requireNeutral(Maximum{}, values);
  if constexpr (std::is_integral_v<TestType>) {
    requireNeutral(BitAnd{}, values);
    requireNeutral(BitOr{}, values);
    requireNeutral(BitXor{}, values);
  }
}

}  // namespace
}  // namespace gpuopt::test::operators_test
