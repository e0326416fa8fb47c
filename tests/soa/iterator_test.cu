/// Iterators over views, with std algorithms on host memory and Thrust on device memory.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/soa_data.cuh"

#include <gpuopt/soa/view.cuh>

#ifndef GPUOPT_EMULATION
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#endif

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <vector>

namespace gpuopt::test::iterator_test {
namespace {

static_assert(std::is_convertible_v<SoaIterator<Mixed>, SoaIterator<const Mixed>> &&
              !std::is_convertible_v<SoaIterator<const Mixed>, SoaIterator<Mixed>>);

std::vector<Particle> valuesOf(const SoaView<const Particle>& view) { return {view.begin(), view.end()}; }

TEST_CASE("std algorithms sort, move and reduce structs", "[soa]") {
  constexpr std::size_t N = 200;
  HostColumns columns(N);
  const SoaView<Particle> view = columns.view();
  std::vector<Particle> values = structs<Particle>(N);
  const auto key = [](const Particle& p) { return p.id * 37 % 1009; };
  const auto less = [key](const Particle& a, const Particle& b) { return key(a) < key(b); };
  const auto same = [&] { return valuesOf(view) == values; };

  std::sort(view.begin(), view.end(), less);
  std::sort(values.begin(), values.end(), less);
  CHECK(same());
  std::rotate(view.begin(), view.begin() + 33, view.end());
  std::rotate(values.begin(), values.begin() + 33, values.end());
  CHECK(same());
  std::reverse(view.begin(), view.end());
  std::reverse(values.begin(), values.end());
  CHECK(same());
  std::stable_sort(view.begin(), view.end(), less);
  std::stable_sort(values.begin(), values.end(), less);
  CHECK(same());
  CHECK(std::lower_bound(view.begin(), view.end(), values[77], less) - view.begin() == 77);
  std::copy_backward(view.begin(), view.end() - 1, view.end());
  std::copy_backward(values.begin(), values.end() - 1, values.end());
  CHECK(same());
  const auto turned = [](Particle p) {
    p.id = -p.id;
    return p;
  };
  std::transform(view.begin(), view.end(), view.begin(), turned);
  std::transform(values.begin(), values.end(), values.begin(), turned);
  CHECK(same());
  const auto addId = [](int sum, const Particle& p) { return sum + p.id; };
  CHECK(std::accumulate(view.begin(), view.end(), 0, addId) ==
        std::accumulate(columns.id.begin(), columns.id.end(), 0));
}

template <class It>
void checkIterator(It begin, It end, std::ptrdiff_t n) {
  using Traits = std::iterator_traits<It>;
  STATIC_REQUIRE(std::is_same_v<typename Traits::iterator_category, std::random_access_iterator_tag>);
  It it = begin;
  CHECK((end - begin == n && begin + n == end && n + begin == end && end - n == begin));
  CHECK((begin < end && begin <= end && end > begin && end >= begin && begin != end && !(begin == end)));
  CHECK((it++ == begin && it == begin + 1 && --it == begin && ++it - begin == 1 && it-- == begin + 1));
  it += 3;
  it -= 1;
  CHECK(it - begin == 2);
}

TEST_CASE("Iterators are random access iterators", "[soa]") {
  HostColumns columns(9);
  const SoaView<Particle> view = columns.view();
  checkIterator(view.begin(), view.end(), 9);
  CHECK((view.begin()[4].get<&Particle::id>() == columns.id[4] && (view.begin() + 5)->mass == columns.mass[5]));
  CHECK(((view.begin() + 2)[3].get<3>() == columns.id[5] && (view.end() - 1)[-2].get<3>() == columns.id[6]));
  const SoaIterator<const Particle> third = view.begin() + 3;
  CHECK((third - view.begin() == 3 && third->id == columns.id[3]));
  SoaIterator<const Particle> reader = view.begin();
  CHECK((reader == view.begin() && (*++reader).get<3>() == columns.id[1]));
  STATIC_REQUIRE(std::is_same_v<std::iterator_traits<SoaIterator<const Particle>>::value_type, Particle>);
  STATIC_REQUIRE(std::is_default_constructible_v<SoaIterator<Particle>>);

  std::vector<Particle> memory(16);
  const SoaView<Particle, SoaTiles<4>> tiles{memory.data(), 9};
  std::copy(view.begin(), view.end(), tiles.begin());
  const auto masses = tiles.column<&Particle::mass>();
  checkIterator(masses, masses + 9, 9);
  CHECK(std::vector<float>(masses, masses + 9) == columns.mass);
  masses[8] = 100;
  CHECK((tiles.load(8).mass == 100 && *(masses + 8) == 100));
  const SoaView<const Particle, SoaTiles<4>> reading = tiles;
  STATIC_REQUIRE(std::is_same_v<decltype(reading.column<2>()[0]), const float&>);
  CHECK(std::equal(reading.begin(), reading.end() - 1, view.begin(),
                   [](const Particle& a, const Particle& b) { return a == b; }));
}

#ifndef GPUOPT_EMULATION

struct ById {
  __host__ __device__ bool operator()(const Particle& a, const Particle& b) const {
    return a.id * 37 % 1009 < b.id * 37 % 1009;
  }
};

struct Turn {
  __host__ __device__ Particle operator()(Particle p) const {
    p.mass = -p.mass;
    return p;
  }
};

struct IdOf {
  __host__ __device__ int operator()(const Particle& p) const { return p.id; }
};

TEST_CASE("Thrust works on views of device memory", "[soa]") {
  constexpr std::size_t N = 1000;
  std::vector<Particle> values = structs<Particle>(N);
  thrust::device_vector<float3> position(N), velocity(N);
  thrust::device_vector<float> mass(N);
  thrust::device_vector<int> id(N);
  const SoaView<Particle> view{position, velocity, mass, id};
  const thrust::device_vector<Particle> source(values.begin(), values.end());
  thrust::copy(thrust::device, source.begin(), source.end(), view.begin());
  thrust::sort(thrust::device, view.begin(), view.end(), ById{});
  thrust::transform(thrust::device, view.begin(), view.end(), view.begin(), Turn{});
  std::sort(values.begin(), values.end(), ById{});
  int sum = 0;
  for (Particle& p : values) {
    p = Turn{}(p);
    sum += p.id;
  }
  thrust::device_vector<Particle> result(N);
  thrust::copy(thrust::device, view.begin(), view.end(), result.begin());
  std::vector<Particle> out(N);
  thrust::copy(result.begin(), result.end(), out.begin());
  CHECK(out == values);
  CHECK(thrust::transform_reduce(thrust::device, view.begin(), view.end(), IdOf{}, 0, thrust::plus<int>{}) == sum);
}

#endif

}  // namespace
}  // namespace gpuopt::test::iterator_test
