/// \file
/// reduceBy with operations of all kinds, onto what is there, of containers; meanBy.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/soa.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::reduce_by_forms {

// The value and where it was, of the greatest value.
struct Best {
  float value;
  int place;
};

struct Better {
  __host__ __device__ Best operator()(const Best& a, const Best& b) const {
    return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
  }
};

struct LastDigit {
  __host__ __device__ int operator()(int value) const { return value % 10; }
};

}  // namespace gpuopt::test::reduce_by_forms

template <>
struct gpuopt::NeutralElement<gpuopt::test::reduce_by_forms::Better, gpuopt::test::reduce_by_forms::Best> {
  static constexpr bool exists = true;
  static gpuopt::test::reduce_by_forms::Best value() { return {-1, -1}; }
};

namespace gpuopt::test::reduce_by_forms {

template <class T>
std::vector<T> valuesFor(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>((i * 2654435761u >> 7) % 1021 + 1);
  return values;
}

// Keys of which some are in no bin; in runs if `length` is more than 1.
inline std::vector<int> keysFor(std::size_t n, std::size_t bins, std::size_t length = 1) {
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<int>(i / length * 7919 % (bins + 2)) - 1;
  return keys;
}

template <class T, class Op>
std::vector<T> reduced(const std::vector<T>& values, const std::vector<int>& keys, std::vector<T> results, Op op) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (keys[i] >= 0 && static_cast<std::size_t>(keys[i]) < results.size()) {
      T& result = results[static_cast<std::size_t>(keys[i])];
      result = op(result, values[i]);
    }
  return results;
}

template <class T, class Op>
void checkOp(Op op) {
  for (const std::size_t length : {1, 50})
    for (const std::size_t bins : {std::size_t{3}, std::size_t{500}, std::size_t{70000}}) {
      CAPTURE(sizeof(T), bins, length);
      const std::vector<T> values = valuesFor<T>(9000);
      const std::vector<int> keys = keysFor(9000, bins, length);
      DeviceVector<T> out(bins);
      reduceBy(DeviceVector<T>(values), DeviceVector<int>(keys), out, op);
      const std::vector<T> none(bins, NeutralElement<Op, T>::value());
      CHECK(out.toHost() == reduced(values, keys, none, op));
    }
}

// Results onto 1000 + the number of the bin.
template <class Policy = CombineWithOut, class T, class Op>
void checkOnto(T, Op op) {
  const std::size_t bins = 40;
  std::vector<T> before(bins);
  for (std::size_t i = 0; i < bins; ++i) before[i] = static_cast<T>(1000 + i);
  for (const std::size_t n : {std::size_t{0}, std::size_t{5000}}) {
    CAPTURE(sizeof(T), n);
    const std::vector<T> values = valuesFor<T>(n);
    const std::vector<int> keys = keysFor(n, bins);
    DeviceVector<T> out(before);
    reduceBy<Policy>(DeviceVector<T>(values), DeviceVector<int>(keys), out, op);
    CHECK(out.toHost() == reduced(values, keys, before, op));
  }
}

struct Point {
  float x, y;
};

// Halves against floats of the same call, rounded on the host; replacing, and onto what is there.
template <class Half, class Op>
void checkHalves(std::size_t n, std::size_t bins, Op op) {
  std::vector<float> values = valuesFor<float>(n), before(bins);
  for (float& value : values) value = std::is_same_v<Op, Multiplies> ? 1 + value / 65536 : value / 64;
  const DeviceVector<float> in(values);
  const DeviceVector<int> keys(keysFor(n, bins));
  std::vector<Half> halvesBefore(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    halvesBefore[i] = Half(static_cast<float>(i % 7) + 0.25f);
    before[i] = static_cast<float>(halvesBefore[i]);
  }
  DeviceVector<float> floats(before), kept(before);
  DeviceVector<Half> halves(halvesBefore), keptHalves(halvesBefore);
  reduceBy(in, keys, floats, op);
  reduceBy(in, keys, halves, op);
  reduceBy<CombineWithOut>(in, keys, kept, op);
  reduceBy<CombineWithOut>(in, keys, keptHalves, op);
  const auto wrong = [&](const std::vector<Half>& found, const std::vector<float>& expected) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      const Half rounded(expected[i]);
      count += std::memcmp(&found[i], &rounded, sizeof(Half)) != 0;
    }
    return count;
  };
  CHECK(wrong(halves.toHost(), floats.toHost()) == 0);
  CHECK(wrong(keptHalves.toHost(), kept.toHost()) == 0);
}

struct FastOnto : FastSums {
  static constexpr bool KEEPS = true;
};

}  // namespace gpuopt::test::reduce_by_forms

using namespace gpuopt::test;
using namespace gpuopt::test::reduce_by_forms;
using gpuopt::DeviceVector;
using gpuopt::reduceBy;

TEST_CASE("reduceBy: operations with a neutral element", "[device]") {
  checkOp<unsigned>(gpuopt::BitXor{});
  checkOp<int>(gpuopt::BitAnd{});
  checkOp<std::uint64_t>(gpuopt::BitOr{});
  checkOp<unsigned>(gpuopt::Multiplies{});
  checkOp<std::uint64_t>(gpuopt::Multiplies{});
}

TEST_CASE("reduceBy: an operation and a type of the caller's", "[device]") {
  const std::size_t n = 5000, bins = 37;
  std::vector<Best> values(n), expected(bins, Best{-1, -1});
  const std::vector<int> keys = keysFor(n, bins);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = {static_cast<float>(i * 7919 % 512), static_cast<int>(i)};
    if (keys[i] >= 0 && keys[i] < static_cast<int>(bins)) {
      Best& best = expected[static_cast<std::size_t>(keys[i])];
      best = Better{}(best, values[i]);
    }
  }
  DeviceVector<Best> out(bins);
  reduceBy(DeviceVector<Best>(values), DeviceVector<int>(keys), out, Better{});
  const std::vector<Best> results = out.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bins; ++i)
    wrong += results[i].value != expected[i].value || results[i].place != expected[i].place;
  CHECK(wrong == 0);
  // Atomics of 8 bytes need that alignment, which the type does not have.
  CHECK(messageOf<std::invalid_argument>([&] {
          auto* const odd = reinterpret_cast<Best*>(reinterpret_cast<float*>(out.data()) + 1);
          reduceBy(static_cast<const Best*>(nullptr), 0, static_cast<const int*>(nullptr), 5, odd, Better{});
        }) == "gpuopt::reduceBy: out is misaligned: its address modulo 8 is 4");
}

TEST_CASE("reduceBy: results combined with what is there", "[device]") {
  checkOnto(0, gpuopt::Plus{});
  checkOnto(std::int64_t{}, gpuopt::Plus{});
  checkOnto(0.0f, gpuopt::Plus{});
  checkOnto(0.0, gpuopt::Plus{});
  checkOnto<FastOnto>(0.0f, gpuopt::Plus{});
  checkOnto(0.0f, gpuopt::Minimum{});
  checkOnto(0.0, gpuopt::Maximum{});
  checkOnto(0u, gpuopt::Maximum{});
  checkOnto(0u, gpuopt::BitXor{});
}

TEST_CASE("reduceBy: results of half precision are those of floats, rounded once", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 9001})
    for (const std::size_t bins : std::vector<std::size_t>{1, 37, 300}) {
      CAPTURE(n, bins);
      checkHalves<__half>(n, bins, gpuopt::Plus{});
      checkHalves<__half>(n, bins, gpuopt::Minimum{});
      checkHalves<__half>(n, bins, gpuopt::Maximum{});
      checkHalves<__nv_bfloat16>(n, bins, gpuopt::Plus{});
      checkHalves<__nv_bfloat16>(n, bins, gpuopt::Multiplies{});
    }
  CHECK(messageOf<std::invalid_argument>([] {
          reduceBy(static_cast<const float*>(nullptr), 0, static_cast<const int*>(nullptr), 5,
                   static_cast<__half*>(nullptr));
        }) == "gpuopt::reduceBy: out is null, but there are 5 bins");
  CHECK(messageOf<std::invalid_argument>([] {
          reduceBy(static_cast<const float*>(nullptr), 3, static_cast<const int*>(nullptr), 5,
                   DeviceVector<__half>(5).data());
        }) == "gpuopt::reduceBy: values is null, but n is 3");
}

TEST_CASE("reduceBy: a structure member by member", "[device]") {
  const DeviceVector<Point> points{{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  const DeviceVector<int> keys{0, 2, 0, 2};
  gpuopt::SoaVector<Point> sums(3);
  DeviceVector<Point> out(3);
  reduceBy(gpuopt::member<&Point::x>(points.data()), 4, keys.data(), 3, sums.view().column<&Point::x>());
  reduceBy(gpuopt::member<&Point::y>(points.data()), 4, keys.data(), 3, sums.view().column<&Point::y>());
  gpuopt::toAos(sums.view(), out);
  const std::vector<Point> found = out.toHost();
  CHECK((found[0].x == 4 && found[1].x == 0 && found[2].x == 6));
  CHECK((found[0].y == 40 && found[1].y == 0 && found[2].y == 60));
}

TEST_CASE("reduceBy: containers, keys of all kinds, a stream", "[device]") {
  const DeviceVector<int> values{10, 21, 32, 40, 51};
  const DeviceVector<unsigned char> keys{0, 2, 0, 1, 9};
  DeviceVector<int> out(3);
  const std::vector<int> sums{42, 40, 21};
  reduceBy(values, keys, out);
  CHECK(out.toHost() == sums);
  reduceBy(values, keys.data(), out, gpuopt::Maximum{});
  CHECK(out.toHost() == std::vector<int>{32, 40, 21});
  reduceBy(values, LastDigit{}, out);
  CHECK(out.toHost() == std::vector<int>{50, 72, 32});
  const Stream stream;
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  reduceBy(values, keys, out, static_cast<cudaStream_t>(stream));
  stream.wait();
  CHECK(out.toHost() == sums);
  reduceBy(values.data(), values.size(), keys.data(), 3, out.data(), gpuopt::Minimum{}, stream);
  reduceBy(values.data(), values.size(), keys.data(), 3, out.data(), static_cast<cudaStream_t>(stream));
  stream.wait();
  CHECK(out.toHost() == sums);
  // WRITTEN histogram: reduceBy(values, keys, out), where keys are fewer than values
  CHECK(messageOf<std::invalid_argument>([&] { reduceBy(values, DeviceVector<int>(4), out); }) ==
        "gpuopt::reduceBy: keys has 4 elements, but 5 are needed");
}

TEST_CASE("meanBy: means by keys, NaN of no values", "[device]") {
  const DeviceVector<int> values{10, 21, 32, 40, 51};
  const DeviceVector<int> keys{0, 3, 0, 1, -1};
  DeviceVector<double> means(4);
  gpuopt::meanBy(values, keys, means);
  const std::vector<double> results = means.toHost();
  CHECK((results[0] == 21 && results[1] == 40 && std::isnan(results[2]) && results[3] == 21));
  DeviceVector<float> byDigit(3);
  gpuopt::meanBy<gpuopt::FastSums>(values.data(), 5, LastDigit{}, 3, byDigit.data());
  CHECK(byDigit.toHost() == std::vector<float>{25, 36, 32});
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::meanBy(values, DeviceVector<int>(1), means); }) ==
        "gpuopt::meanBy: keys has 1 elements, but 5 are needed");
}
