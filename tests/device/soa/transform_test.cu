/// \file
/// forEach and transform of views: every kind of member, boundaries of blocks, columns at any alignment, tiles,
/// selected members, in place, const views, and errors.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/soa_data.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/soa.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace transform_test {

using gpuopt::DeviceVector;
using gpuopt::SoaColumns;
using gpuopt::SoaTiles;
using gpuopt::SoaVector;
using gpuopt::SoaView;
using gpuopt::test::messageOf;

struct Point {
  float x, y;
};

struct Small {
  unsigned char red, green, blue;
};

struct Large {
  double matrix[40];
  float3 axis;
  int id;
};

inline Point pointAt(std::size_t i) { return {static_cast<float>(i), static_cast<float>(2 * i)}; }
inline Small smallAt(std::size_t i) {
  return {static_cast<unsigned char>(i), static_cast<unsigned char>(i >> 3), static_cast<unsigned char>(7 * i)};
}
inline Large largeAt(std::size_t i) {
  Large large{};
  for (int k = 0; k < 40; ++k) large.matrix[k] = static_cast<double>(i) + 0.5 * k;
  large.axis = {1, static_cast<float>(i), 3};
  large.id = static_cast<int>(i);
  return large;
}

// A change of every type that depends on the index.
struct Change {
  __host__ __device__ void operator()(Point& p, std::size_t i) const {
    p.x += p.y;
    p.y = static_cast<float>(i);
  }
  __host__ __device__ void operator()(Small& s, std::size_t i) const {
    s.red = static_cast<unsigned char>(s.green + s.blue);
    s.blue = static_cast<unsigned char>(i * i);
  }
  __host__ __device__ void operator()(Large& large, std::size_t i) const {
    large.matrix[39] = large.matrix[0] + static_cast<double>(i);
    large.axis.y += 1;
  }
};

struct Sum {
  __host__ __device__ double operator()(const Point& p) const { return p.x + p.y; }
  __host__ __device__ double operator()(const Small& s) const { return s.red + s.green + s.blue; }
  __host__ __device__ double operator()(const Large& l) const { return l.matrix[39] + l.axis.y + l.id; }
};

// The structures of a view, by the host.
template <class T, class LAYOUT>
std::vector<T> structsOf(const SoaView<T, LAYOUT>& view) {
  DeviceVector<T> aos(view.size());
  gpuopt::toAos(view, aos);
  return aos.toHost();
}

template <class T, class LAYOUT, class At>
void checkForEach(std::size_t n, std::size_t skipped, At at) {
  CAPTURE(n, skipped, sizeof(T));
  std::vector<T> values(n + skipped);
  for (std::size_t i = 0; i < n + skipped; ++i) values[i] = at(i);
  SoaVector<T, LAYOUT> vector(n + skipped);
  gpuopt::toSoa(DeviceVector<T>(values), vector.view());
  gpuopt::forEach(vector.view().subview(skipped, n), Change{});
  for (std::size_t i = 0; i < n; ++i) Change{}(values[skipped + i], i);
  const std::vector<T> results = structsOf(vector.view());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n + skipped; ++i) wrong += Sum{}(results[i]) != Sum{}(values[i]);
  CHECK(wrong == 0);
}

template <class T, class LAYOUT, class At>
void checkSizes(At at) {
  using Block = gpuopt::detail::ColumnsBlock<T>;
  constexpr std::size_t BLOCK = Block::STRUCTS;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7})
    for (const std::size_t skipped : {0, 1}) checkForEach<T, LAYOUT>(n, skipped, at);
}

struct Swapped {
  __device__ Point operator()(const Point& p) const { return {p.y, p.x}; }
};

struct Norm {
  __device__ gpuopt::SoaTuple<float> operator()(const Point& p, std::size_t i) const {
    gpuopt::SoaTuple<float> norm;
    norm.get<0>() = p.x * p.x + p.y * p.y + static_cast<float>(i % 2);
    return norm;
  }
};

struct Count {
  unsigned long long* sum;
  __device__ void operator()(const Point& p) const { atomicAdd(sum, static_cast<unsigned long long>(p.x)); }
};

struct DoubleFirst {
  template <class Tuple>
  __device__ void operator()(Tuple& tuple) const {
    tuple.template get<0>() *= 2;
  }
};

}  // namespace transform_test

using namespace transform_test;

TEST_CASE("Each structure of a view is changed, in columns and in tiles, at every alignment", "[soa]") {
  checkSizes<Point, SoaColumns>(pointAt);
  checkSizes<Small, SoaColumns>(smallAt);
  checkSizes<Large, SoaColumns>(largeAt);
  checkSizes<Point, SoaTiles<32>>(pointAt);
}

TEST_CASE("Views of all kinds of members keep those that a function leaves alone", "[soa]") {
  using gpuopt::test::Mixed;
  const std::size_t n = 777;
  std::vector<Mixed> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = gpuopt::test::structAt<Mixed>(i);
  SoaVector<Mixed> vector(n), copy(n);
  gpuopt::toSoa(DeviceVector<Mixed>(values), vector.view());
  gpuopt::transform(vector.view(), copy.view(), gpuopt::Identity{});
  const std::vector<Mixed> before = structsOf(vector.view()), after = structsOf(copy.view());
  CHECK(before == after);
}

TEST_CASE("A function of the structures of a view goes to another view, or to the same columns", "[soa]") {
  const std::size_t n = 1500;
  std::vector<Point> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = pointAt(i);
  SoaVector<Point> in(n);
  gpuopt::toSoa(DeviceVector<Point>(values), in.view());
  SoaVector<Point, SoaTiles<32>> tiles(n);
  gpuopt::transform(in.view(), tiles.view(), Swapped{});
  gpuopt::transform(tiles.view().begin(), tiles.view().end(), tiles.view().begin(), Swapped{});
  gpuopt::transform(tiles.view(), in.view(), Swapped{});
  gpuopt::transform(in.view(), in.view().select<&Point::y>(), Norm{});  // of both columns into one of them
  std::size_t wrong = 0;
  const std::vector<Point> results = structsOf(in.view());
  for (std::size_t i = 0; i < n; ++i) {
    const float x = values[i].x, y = values[i].y;
    wrong += results[i].x != y || results[i].y != x * x + y * y + static_cast<float>(i % 2);
  }
  CHECK(wrong == 0);
}

TEST_CASE("Selected columns are changed alone, const views are read", "[soa]") {
  const std::size_t n = 600;
  std::vector<Point> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = pointAt(i);
  SoaVector<Point> vector(n);
  gpuopt::toSoa(DeviceVector<Point>(values), vector.view());
  gpuopt::forEach(vector.view().select<&Point::x>(), DoubleFirst{});
  auto sum = DeviceVector<unsigned long long>::zeros(1);
  gpuopt::forEach(SoaView<const Point>(vector.view()), Count{sum.data()});
  gpuopt::forEach(vector.view().begin() + 100, vector.view().end() - 50, Change{});
  gpuopt::forEach(vector.view().begin() + 550, 50, [] __device__(Point & p) { p.x = 1; });
  CHECK(sum.toHost()[0] == n * (n - 1));
  const std::vector<Point> results = structsOf(vector.view());
  CHECK((results[5].x == 10 && results[5].y == 10));
  CHECK((results[105].x == 4 * 105 && results[105].y == 5));
  CHECK((results[549].y == 449 && results[550].x == 1 && results[599].x == 1));
}

TEST_CASE("A SoaVector stands for its view", "[soa]") {
  const std::size_t n = 300;
  std::vector<Point> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = pointAt(i);
  const DeviceVector<Point> aos(values);
  DeviceVector<Point> back(n);
  SoaVector<Point> vector(n);
  SoaVector<Point, SoaTiles<32>> tiles(n);
  const SoaVector<Point>& readOnly = vector;
  gpuopt::toSoa(aos, vector);
  gpuopt::forEach(vector, [] __device__(Point & p) { p.x *= 2; });
  gpuopt::transform(readOnly, tiles.view(), Swapped{}, nullptr);
  gpuopt::transform(tiles, vector, Swapped{});
  auto sum = DeviceVector<unsigned long long>::zeros(1);
  gpuopt::forEach(readOnly, Count{sum.data()}, nullptr);
  gpuopt::toAos(readOnly, back);
  const std::vector<Point> results = back.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += results[i].x != 2 * values[i].x || results[i].y != values[i].y;
  CHECK(wrong == 0);
  CHECK(sum.toHost()[0] == n * (n - 1));
  gpuopt::toSoa(aos.data(), n, tiles, nullptr);
  gpuopt::toAos(tiles, back.data(), nullptr);
  CHECK(back.toHost()[n - 1].y == values[n - 1].y);
  CHECK(gpuopt::explainForEach(readOnly) == gpuopt::explainForEach(readOnly.view()));
  CHECK(gpuopt::explainForEach(vector) != gpuopt::explainForEach(readOnly));
  CHECK(gpuopt::explainTransform(vector, tiles) == gpuopt::explainTransform(vector.view(), tiles.view()));
  CHECK(gpuopt::explainToSoa(aos.data(), n, vector) == gpuopt::explainToSoa(aos.data(), n, vector.view()));
  CHECK(gpuopt::explainToAos(readOnly, back.data()) == gpuopt::explainToAos(vector.view(), back.data()));
}

TEST_CASE("forEach and transform of views say what is wrong", "[soa]") {
  SoaVector<Point> vector(100), shorter(99);
  // WRITTEN soa: transform(in, out, f) of views of different lengths
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::transform(vector.view(), shorter.view(), Swapped{}); }) ==
        "gpuopt::transform: in has 100 structures, but out has 99");
  const std::string overlap = messageOf<std::invalid_argument>(
      [&] { gpuopt::transform(vector.view().subview(0, 50), vector.view().subview(1, 50), Swapped{}); });
  CHECK(overlap ==
        "gpuopt::transform: column 0 of in and column 0 of out overlap: column 0 of out begins at byte 4 of the 200 of "
        "column 0 of in");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::forEach(vector.view().begin(), static_cast<std::size_t>(-1), Change{});
        }) == "gpuopt::forEach: n (-1) is negative");
  std::vector<float> onHost(10);
  if (GPUOPT_CHECK_POINTERS)
    CHECK(messageOf<std::invalid_argument>([&] {
            gpuopt::forEach(SoaView<Point>(onHost.data(), onHost.data(), 10), Change{});
          }).find("gpuopt::forEach: column 0 is in host memory") == 0);
}
