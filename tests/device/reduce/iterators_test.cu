/// Reductions of what is no array: iterators of one's own on both devices, Thrust's on a GPU.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#ifndef GPUOPT_EMULATION
#include <thrust/device_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#endif

#include <cmath>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::iterators_test {
namespace {

// The least that a reduction asks of an iterator: its types and operator[].
template <class T, class Reference = T>
struct IteratorTypes {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = Reference;
};

// i^2 mod 1001, from no memory at all.
struct Squares : IteratorTypes<int> {
  __host__ __device__ int operator[](std::ptrdiff_t i) const {
    return static_cast<int>((i % 1001) * (i % 1001) % 1001);
  }
};

// Every third element, from the last to the first.
struct Strided : IteratorTypes<float, const float&> {
  const float* last;
  explicit Strided(const float* l) : last(l) {}
  __device__ const float& operator[](std::ptrdiff_t i) const { return last[-3 * i]; }
};

// Bits of a word, behind a proxy that converts to bool.
struct Bit {
  unsigned word;
  int bit;
  __device__ operator bool() const { return (word >> bit & 1u) != 0; }
};

struct BitsOf : IteratorTypes<bool, Bit> {
  const unsigned* words;
  explicit BitsOf(const unsigned* w) : words(w) {}
  __device__ Bit operator[](std::ptrdiff_t i) const { return {words[i / 32], static_cast<int>(i % 32)}; }
};

template <class It>
inline constexpr bool isReadAsArray =
    std::is_pointer_v<std::decay_t<decltype(detail::Unwrap<It>::pointer(std::declval<It>()))>>;

static_assert(isReadAsArray<const float*> && !isReadAsArray<Squares> && !isReadAsArray<Strided>);

const std::vector<std::size_t> lengths = {0, 1, 2, 31, 33, 257, 1000, 4099, 20011, 100003};

TEST_CASE("An iterator without memory", "[iterators]") {
  const Squares squares;
  for (const std::size_t n : lengths) {
    long long sum = 0;
    int largest = 0;
    std::size_t at = ArgResult<int>::none;
    for (std::size_t i = 0; i < n; ++i) {
      const int value = squares[static_cast<std::ptrdiff_t>(i)];
      sum += value;
      if (value > largest || i == 0) {
        largest = value;
        at = i;
      }
    }
    INFO("n " << n);
    REQUIRE(reduce<long long>(squares, n) == sum);
    REQUIRE((reduce<long long, LowBoundaries>(squares, n, Plus{}, 3) == sum + 3));
    REQUIRE((reduce<long long, ByLength>(squares, n) == sum));
    REQUIRE(argMax<DefaultAccumulator, LowBoundaries>(squares, n).index == at);
    if (n > 0) REQUIRE(minMax<DefaultAccumulator, LowBoundaries>(squares, n).maximum == largest);
    DeviceArray<long long> out(1);
    reduceInto<long long>(squares, n, out.data());
    REQUIRE(out.toHost()[0] == sum);
  }
}

TEST_CASE("A strided iterator, alone and beside an array", "[iterators]") {
  const std::size_t n = 20011;
  const std::vector<float> values = smallIntegers<float>(3 * n, 1);
  const std::vector<double> weights = smallIntegers<double>(n, 2);
  const DeviceArray<float> in(values, 1);
  const DeviceArray<double> inWeights(weights, 1);
  const Strided strided(in.data() + 3 * n - 1);
  float sum = 0;
  double product = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += values[3 * n - 1 - 3 * i];
    product += static_cast<double>(values[3 * n - 1 - 3 * i]) * weights[i];
  }
  REQUIRE(reduce(strided, n) == sum);
  REQUIRE((reduce<double, LowBoundaries>(strided, n) == sum));
  REQUIRE(dot(strided, inWeights.data(), n) == product);
  REQUIRE((dot<DefaultAccumulator, LowBoundaries>(inWeights.data(), strided, n) == product));
  const auto moments = meanVariance<double, LowBoundaries>(strided, n);
  REQUIRE(std::fabs(moments.mean - static_cast<double>(sum) / static_cast<double>(n)) < 1e-12);
}

TEST_CASE("An iterator over proxies", "[iterators]") {
  const std::size_t n = 32 * 1000;
  const std::vector<unsigned> words = randomVector<unsigned>(1000, 3);
  const DeviceArray<unsigned> in(words);
  unsigned count = 0;
  for (const unsigned word : words)
    for (int bit = 0; bit < 32; ++bit) count += word >> bit & 1u;
  REQUIRE(reduce<unsigned>(BitsOf(in.data()), n) == count);
  REQUIRE((reduce<unsigned, LowBoundaries>(BitsOf(in.data()), n) == count));
  REQUIRE(reduce(BitsOf(in.data()), n) == count);
}

#ifndef GPUOPT_EMULATION

struct Negate {
  __host__ __device__ float operator()(float x) const { return -x; }
};

struct ProductOfTuple {
  template <class Tuple>
  __host__ __device__ double operator()(const Tuple& t) const {
    return static_cast<double>(thrust::get<0>(t)) * static_cast<double>(thrust::get<1>(t));
  }
};

using Vector = thrust::device_vector<float>;
static_assert(isReadAsArray<Vector::iterator> && isReadAsArray<Vector::const_iterator>);
static_assert(isReadAsArray<thrust::device_ptr<float>>);
static_assert(!isReadAsArray<thrust::transform_iterator<Negate, Vector::iterator>>);
static_assert(!isReadAsArray<thrust::transform_iterator<Negate, thrust::device_ptr<float>>>);
static_assert(!isReadAsArray<thrust::counting_iterator<int>> && !isReadAsArray<thrust::constant_iterator<int>>);
static_assert(!isReadAsArray<thrust::permutation_iterator<Vector::iterator, thrust::device_vector<int>::iterator>>);

TEST_CASE("Thrust's iterators", "[iterators]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<float> values = smallIntegers<float>(n, 4);
    const std::vector<float> others = smallIntegers<float>(n, 5);
    std::vector<int> indices(n);
    for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<int>(n - 1 - i);
    const Vector in(values.begin(), values.end());
    const Vector inOthers(others.begin(), others.end());
    const thrust::device_vector<int> inIndices(indices.begin(), indices.end());
    float sum = 0;
    double product = 0, reversedProduct = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += values[i];
      product += static_cast<double>(values[i]) * static_cast<double>(others[i]);
      reversedProduct += static_cast<double>(values[n - 1 - i]) * static_cast<double>(others[i]);
    }
    REQUIRE(reduce(in.begin(), n) == sum);
    REQUIRE(reduce(in.data(), n) == sum);
    REQUIRE(reduce<double>(thrust::make_transform_iterator(in.begin(), Negate{}), n) == -sum);
    REQUIRE(reduce<double>(thrust::make_transform_iterator(in.data(), Negate{}), n) == -sum);
    REQUIRE(reduce<double, LowBoundaries>(
                thrust::make_transform_iterator(thrust::raw_pointer_cast(in.data()), Negate{}), n) == -sum);
    REQUIRE(reduce(thrust::make_counting_iterator(std::size_t{1}), n) == n * (n + 1) / 2);
    REQUIRE(reduce(thrust::make_constant_iterator(3), n) == 3 * static_cast<int>(n));
    REQUIRE(dot(in.begin(), inOthers.data(), n) == static_cast<float>(product));
    const auto permuted = thrust::make_permutation_iterator(in.begin(), inIndices.begin());
    REQUIRE(reduce(permuted, n) == sum);
    REQUIRE(dot<double>(permuted, inOthers.begin(), n) == reversedProduct);
    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(in.begin(), inOthers.begin()));
    REQUIRE(transformReduce<double>(pairs, n, ProductOfTuple{}, Plus{}) == product);
    if (n > 0) REQUIRE(argMax(thrust::make_counting_iterator(-5), n).index == n - 1);
  }
}

#endif

}  // namespace
}  // namespace gpuopt::test::iterators_test
