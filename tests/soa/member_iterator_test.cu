/// Iterators over one member of an array of structures: on the host, in kernels, in reductions, with Thrust.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>
#include <gpuopt/soa/iterator.cuh>

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#ifndef GPUOPT_EMULATION
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#endif

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <vector>

namespace member_iterator_test {

using gpuopt::member;
using gpuopt::test::DeviceArray;

struct Point {
  float x, y, z;
};

struct Base {
  short kind;
};

struct Particle : Base {
  Point position;
  double mass;
  int id;
  char flags[3];
};

std::vector<Particle> particles(std::size_t n) {
  const std::vector<int> numbers = gpuopt::test::smallIntegers<int>(4 * n, 7);
  std::vector<Particle> made(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int* a = numbers.data() + 4 * i;
    made[i].kind = static_cast<short>(a[0]);
    made[i].position = {static_cast<float>(a[1]), static_cast<float>(a[2]), 3};
    made[i].mass = a[3];
    made[i].id = static_cast<int>(i);
  }
  return made;
}

template <class It>
using Traits = std::iterator_traits<It>;
using Mass = decltype(member<&Particle::mass>(std::declval<Particle*>()));
using ConstMass = decltype(member<&Particle::mass>(std::declval<const Particle*>()));

static_assert(std::is_same_v<Traits<Mass>::value_type, double>);
static_assert(std::is_same_v<Traits<Mass>::reference, double&>);
static_assert(std::is_same_v<Traits<ConstMass>::value_type, double>);
static_assert(std::is_same_v<Traits<ConstMass>::reference, const double&>);
static_assert(std::is_same_v<Traits<ConstMass>::pointer, const double*>);
static_assert(std::is_same_v<Traits<Mass>::iterator_category, std::random_access_iterator_tag>);
static_assert(std::is_trivially_copyable_v<Mass> && std::is_default_constructible_v<Mass>);
static_assert(std::is_convertible_v<Mass, ConstMass> && !std::is_convertible_v<ConstMass, Mass>);
static_assert(sizeof(Mass) == sizeof(Particle*));

template <class It>
__global__ void addIndex(It it, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) it[i] += i;
  __syncthreads();
  if (i == n) *(it + n) = *(it + n - 1) < 0 ? -1 : 1;
}

TEST_CASE("A member iterator begins at the first structure of a container") {
  std::vector<Particle> values = particles(10);
  const std::vector<Particle>& constant = values;
  static_assert(std::is_same_v<decltype(member<&Particle::mass>(values)), Mass>);
  static_assert(std::is_same_v<decltype(member<&Particle::mass>(constant)), ConstMass>);
  CHECK(member<&Particle::mass>(values).base() == values.data());
  CHECK(&member<&Particle::mass>(constant)[7] == &values[7].mass);
}

TEST_CASE("A member iterator moves like a pointer") {
  std::vector<Particle> values = particles(10);
  const auto begin = member<&Particle::mass>(values.data());
  const auto end = begin + 10;
  CHECK(end - begin == 10);
  CHECK(&*begin == &values[0].mass);
  CHECK(&begin[7] == &values[7].mass);
  CHECK(&*(3 + begin) == &values[3].mass);
  CHECK(&*(end - 1) == &values[9].mass);
  CHECK(member<&Particle::position>(values.data()).operator->() == &values[0].position);
  CHECK(member<&Particle::position>(values.data() + 4)->y == values[4].position.y);
  CHECK(&member<&Particle::kind>(values.data())[5] == &values[5].kind);

  auto it = begin;
  CHECK(it++ == begin);
  CHECK(&*it == &values[1].mass);
  CHECK(&*++it == &values[2].mass);
  CHECK(&*it-- == &values[2].mass);
  CHECK(&*--it == &values[0].mass);
  CHECK(&*(it += 9) == &values[9].mass);
  CHECK(&*(it -= 3) == &values[6].mass);
  CHECK(it.base() == &values[6]);
  CHECK(begin[-1 + 1] == values[0].mass);
}

TEST_CASE("Member iterators compare, also between const and mutable structures") {
  std::vector<Particle> values = particles(4);
  const auto a = member<&Particle::id>(values.data());
  const auto b = a + 2;
  CHECK((a < b && b > a && a <= b && b >= a && a <= a && a >= a && a != b && a == a));
  CHECK_FALSE((b < a || a > b || b <= a || a >= b || a == b || a != a));
  const auto c = member<&Particle::id>(static_cast<const Particle*>(values.data()));
  CHECK((a == c && c == a && c < b && b - c == 2));
}

TEST_CASE("std algorithms write one member and leave the others unchanged") {
  std::vector<Particle> values = particles(50);
  const std::vector<Particle> before = values;
  const auto ids = member<&Particle::id>(values.data());
  std::reverse(ids, ids + 50);
  CHECK(std::is_sorted(std::make_reverse_iterator(ids + 50), std::make_reverse_iterator(ids)));
  std::sort(ids, ids + 50);
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(values[i].id == static_cast<int>(i));
    REQUIRE(values[i].mass == before[i].mass);
    REQUIRE(values[i].position.y == before[i].position.y);
  }
}

TEST_CASE("A kernel writes one member through an iterator") {
  const std::vector<Particle> before = particles(40);
  DeviceArray<Particle> data(before);
  gpuopt::LaunchConfig config;
  config.block = dim3(64);
  gpuopt::launch(addIndex<Mass>, config, member<&Particle::mass>(data.data()), 39);
  const std::vector<Particle> after = data.toHost();
  for (int i = 0; i < 39; ++i) {
    const auto index = static_cast<std::size_t>(i);
    REQUIRE(after[index].mass == before[index].mass + i);
    REQUIRE(after[index].id == i);
    REQUIRE(after[index].kind == before[index].kind);
  }
}

TEST_CASE("Reductions take a member of structures in device memory") {
  for (const std::size_t n : {0, 1, 33, 4099, 20011}) {
    const std::vector<Particle> values = particles(n);
    const DeviceArray<Particle> data(values, 1);
    double mass = 0;
    float y = 0;
    int kinds = 0;
    for (const Particle& p : values) {
      mass += p.mass;
      y += p.position.y;
      kinds += p.kind;
    }
    INFO("n " << n);
    CHECK(gpuopt::reduce(member<&Particle::mass>(data.data()), n) == mass);
    CHECK(gpuopt::reduce<int>(member<&Particle::kind>(data.data()), n) == kinds);
    const auto height = [] __host__ __device__(const Point& p) { return p.y; };
    CHECK(gpuopt::transformReduce<float>(member<&Particle::position>(data.data()), n, height, gpuopt::Plus{}) == y);
    CHECK(gpuopt::argMax(member<&Particle::id>(data.data()), n).index ==
          (n > 0 ? n - 1 : gpuopt::ArgResult<int>::none));
  }
}

#ifndef GPUOPT_EMULATION

struct IsThree {
  __host__ __device__ bool operator()(double x) const { return x == 3; }
};

TEST_CASE("Thrust takes a member of structures in device memory") {
  const std::size_t n = 20011;
  const std::vector<Particle> values = particles(n);
  const DeviceArray<Particle> data(values);
  const auto masses = member<&Particle::mass>(data.data());
  double mass = 0;
  std::ptrdiff_t threes = 0;
  for (const Particle& p : values) {
    mass += p.mass;
    threes += p.mass == 3;
  }
  CHECK(thrust::reduce(thrust::device, masses, masses + n) == mass);
  CHECK(thrust::count_if(thrust::device, masses, masses + n, IsThree{}) == threes);
}

#endif

}  // namespace member_iterator_test
