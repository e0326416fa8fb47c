/// Reductions of functions of one and of two inputs, and dot products.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::transform_reduce_test {
namespace {

template <class T, class U>
using DotOf = decltype(dot(std::declval<const T*>(), std::declval<const U*>(), std::size_t{}));

static_assert(std::is_same_v<DotOf<float, float>, float> && std::is_same_v<DotOf<float, double>, double>);
static_assert(std::is_same_v<DotOf<__half, __half>, float> && std::is_same_v<DotOf<__half, double>, double>);
static_assert(std::is_same_v<DotOf<signed char, signed char>, int> &&
              std::is_same_v<DotOf<short, long long>, long long>);
static_assert(std::is_same_v<decltype(dot<double>(std::declval<__half*>(), std::declval<__half*>(), 1)), double>);

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

// From five words to one, and of another type.
struct SecondWord {
  __host__ __device__ long long operator()(const Words5& x) const { return static_cast<long long>(x.words[1]) + 1; }
};

struct SquaredDifference {
  template <class T, class U>
  __host__ __device__ double operator()(const T& a, const U& b) const {
    const double difference = static_cast<double>(a) - static_cast<double>(b);
    return difference * difference;
  }
};

// Not symmetric: inputs that changed places would show.
struct FirstAndTwiceSecond {
  template <class T>
  __host__ __device__ double operator()(const T& a, const Bytes3& b) const {
    return static_cast<double>(a) + 2 * (b.words[0] + 3 * b.words[1] + 5 * b.words[2]);
  }
};

const std::vector<std::size_t> lengths = {1, 2, 15, 16, 17, 129, 511, 1000, 4099, 8193, 30011};

TEST_CASE("A function of one input", "[transformReduce]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<float> values = smallIntegers<float>(n, 1);
    std::vector<float> squares = values;
    for (float& square : squares) square *= square;
    const float sum = foldSerially<float>(squares, Plus{});
    const DeviceArray<float> in(values, 3);
    REQUIRE(transformReduce(in.data(), n, Square{}) == sum);
    REQUIRE((transformReduce<DefaultAccumulator, LowBoundaries>(in.data(), n, Square{}, Plus{}, 10) == sum + 10));
    REQUIRE((transformReduce<double, ByLength>(in.data(), n, Square{}, Maximum{}) ==
             foldSerially<float>(squares, Maximum{})));
    DeviceArray<double> out(1);
    transformReduceInto<double>(in.data(), n, out.data(), Square{});
    REQUIRE(out.toHost()[0] == sum);
    transformReduceInto<double>(in.data(), n, out.data(), Square{}, Plus{}, 2);
    REQUIRE(out.toHost()[0] == sum + 2);
  }
}

TEST_CASE("A function to another type", "[transformReduce]") {
  const std::size_t n = 5001;
  const std::vector<Words5> values = Elements<Words5>::make(n, 2);
  const DeviceArray<Words5> in(values, 1);
  long long expected = 0;
  for (const Words5& value : values) expected += SecondWord{}(value);
  const auto sum = transformReduce<DefaultAccumulator, LowBoundaries>(in.data(), n, SecondWord{});
  static_assert(std::is_same_v<decltype(sum), const long long>);
  REQUIRE(sum == expected);
}

// Every combination of two alignments decides anew whether both inputs reach a boundary together.
template <class T, class U, class F>
void checkPairs(F f) {
  const std::size_t longest = 30011 + 40;
  const std::vector<T> values1 = Elements<T>::make(longest, 3);
  const std::vector<U> values2 = Elements<U>::make(longest, 4);
  const DeviceArray<T> in1(values1);
  const DeviceArray<U> in2(values2);
  for (const std::size_t first1 : {0, 1, 4, 7, 16, 33})
    for (const std::size_t first2 : {0, 1, 4, 8, 33})
      for (const std::size_t n : {1, 17, 129, 4099, 30011}) {
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += f(values1[first1 + i], values2[first2 + i]);
        INFO("n " << n << ", first elements " << first1 << " and " << first2);
        REQUIRE((transformReduce<DefaultAccumulator, LowBoundaries>(in1.data() + first1, in2.data() + first2, n, f) ==
                 expected));
        if (n == 129) {
          REQUIRE((transformReduce<DefaultAccumulator, ByLength>(in1.data() + first1, in2.data() + first2, n, f, Plus{},
                                                                 7) == expected + 7));
          DeviceArray<double> out(1);
          transformReduceInto(in1.data() + first1, in2.data() + first2, n, out.data(), f, Plus{}, -1);
          REQUIRE(out.toHost()[0] == expected - 1);
        }
      }
}

TEST_CASE("A function of two inputs of one type", "[transformReduce]") {
  checkPairs<float, float>(SquaredDifference{});
}
TEST_CASE("A function of inputs of 4 and 8 bytes", "[transformReduce]") {
  checkPairs<float, double>(SquaredDifference{});
}
TEST_CASE("A function of inputs of 1 and 8 bytes", "[transformReduce]") {
  checkPairs<signed char, long long>(SquaredDifference{});
}
TEST_CASE("A function of inputs of 2 and 2 bytes", "[transformReduce]") {
  checkPairs<__half, __nv_bfloat16>(SquaredDifference{});
}
TEST_CASE("A function of inputs of 8 and 3 bytes", "[transformReduce]") {
  checkPairs<double, Bytes3>(FirstAndTwiceSecond{});
}

TEST_CASE("Dot products", "[transformReduce]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<__half> halves = smallIntegers<__half>(n, 5);
    const std::vector<signed char> bytes = randomVector<signed char>(n, 6);
    float exact = 0;
    int exactBytes = 0;
    for (std::size_t i = 0; i < n; ++i) {
      exact += static_cast<float>(halves[i]) * static_cast<float>(halves[n - 1 - i]);
      exactBytes += bytes[i] * bytes[i];
    }
    const std::vector<__half> reversed(halves.rbegin(), halves.rend());
    const DeviceArray<__half> a(halves, 1), b(reversed, 2);
    const DeviceArray<signed char> c(bytes, 7);
    REQUIRE(dot(a.data(), b.data(), n) == exact);
    REQUIRE((dot<double, LowBoundaries>(a.data(), b.data(), n) == exact));
    REQUIRE((dot<DefaultAccumulator, ByLength>(c.data(), c.data(), n) == exactBytes));
    REQUIRE(dot<long long>(c.data(), c.data(), n) == exactBytes);
    DeviceArray<float> out(1);
    dotInto(a.data(), b.data(), n, out.data());
    REQUIRE(out.toHost()[0] == exact);
  }
}

// 300 times 300 is no half: the factors must be widened before they are multiplied.
TEST_CASE("Halves are multiplied in float", "[transformReduce]") {
  const std::vector<__half> values(100, __half(300.0F));
  const DeviceArray<__half> in(values);
  REQUIRE(dot(in.data(), in.data(), 100) == 9000000.0F);
}

}  // namespace
}  // namespace gpuopt::test::transform_reduce_test
