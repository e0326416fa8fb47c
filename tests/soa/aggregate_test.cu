/// Reflection of structs: the number of members, their types, their order, and each member.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/soa_data.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/soa/aggregate.cuh>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::aggregate_test {
namespace {

using detail::Member;
using detail::memberCount;
using detail::memberIndex;

struct One {
  float x;
};
struct OneArray {
  int values[1000];
};
struct ArrayFirst {
  float m[3];
  int id;
};
struct ArrayLast {
  int id;
  float m[2][2][2];
};
struct Nested {
  ArrayFirst first;
  ArrayFirst several[2];
  struct {
    int x, y;
  } unnamed;
};
struct Tag {};
struct WithEmpty {
  Tag tag;
  float x;
};
struct WithDefaults {
  float x = 1;
  int k[2] = {1, 2};
  Particle p = {};
};
struct WithStandardArray {
  std::array<float, 3> a;
  int id;
};
class Encapsulated {
 public:
  Encapsulated() : v_(3) {}  // not constexpr

 private:
  [[maybe_unused]] int v_;
};
struct WithConstructor {
  float x;
  Encapsulated hidden;
  int id;
};
// Converts from any type, including other structs' base classes.
struct Greedy {
  Greedy() = default;
  template <class T>
  Greedy(const T&) {}
  int v;
};
struct WithGreedy {
  Greedy greedy;
  int id;
};
struct alignas(64) OverAligned {
  char c;
  alignas(16) float x;
  float4 v;
};
using MemberPointer = int WithEmpty::*;
struct Pointers {
  void* a;
  const int* b;
  int (*function)(int);
  float (*rows)[3];
  MemberPointer member;
};

static_assert(memberCount<One> == 1 && memberCount<OneArray> == 1);
static_assert(memberCount<ArrayFirst> == 2 && memberCount<ArrayLast> == 2);
static_assert(memberCount<Nested> == 3 && memberCount<WithEmpty> == 2 && memberCount<WithDefaults> == 3);
static_assert(memberCount<WithStandardArray> == 2 && memberCount<WithConstructor> == 3);
static_assert(memberCount<WithGreedy> == 2);
static_assert(memberCount<OverAligned> == 3 && memberCount<Pointers> == 5);
static_assert(memberCount<Particle> == 4 && memberCount<const Particle> == 4 && memberCount<Mixed> == 10);
static_assert(memberCount<float3> == 3 && memberCount<float4> == 4 && memberCount<uchar2> == 2);

static_assert(std::is_same_v<Member<ArrayFirst, 0>, float[3]>);
static_assert(std::is_same_v<Member<const ArrayFirst, 0>, const float[3]>);
static_assert(std::is_same_v<Member<ArrayLast, 1>, float[2][2][2]>);
static_assert(std::is_same_v<Member<Nested, 0>, ArrayFirst> && std::is_same_v<Member<Nested, 1>, ArrayFirst[2]>);
static_assert(std::is_same_v<Member<Mixed, 3>, Kind> && std::is_same_v<Member<Mixed, 4>, const int*>);
static_assert(std::is_same_v<Member<const Mixed, 4>, const int* const>);
static_assert(std::is_same_v<Member<Mixed, 8>, __half> && std::is_same_v<Member<Mixed, 9>, int>);

static_assert(memberIndex<&Particle::position> == 0 && memberIndex<&Particle::velocity> == 1);
static_assert(memberIndex<&Particle::mass> == 2 && memberIndex<&Particle::id> == 3);
static_assert(memberIndex<&ArrayFirst::m> == 0 && memberIndex<&ArrayFirst::id> == 1);
static_assert(memberIndex<&Nested::several> == 1 && memberIndex<&Nested::unnamed> == 2);
static_assert(memberIndex<&WithEmpty::tag> == 0 && memberIndex<&WithEmpty::x> == 1);
static_assert(memberIndex<&WithConstructor::hidden> == 1 && memberIndex<&WithConstructor::id> == 2);
static_assert(memberIndex<&Mixed::aligned> == 9 && memberIndex<&Mixed::half> == 8);

// Every number of members. Arrays make the number of initialisers differ from that of members.
struct Thirty1 {
  short a[2], b[2], c[2], d[2], e[2], f[2], g[2], h[2], i[2], j[2], k[2], l[2], m[2], n[2], o[2], p[2], q[2], r[2],
      s[2], t[2], u[2], v[2], w[2], x[2], y[2], z[2], aa[2], bb[2], cc[2], dd[2], ee[2];
};
struct Thirty2 {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee;
  char ff;
};
struct Five {
  int a, b, c, d, e;
};
struct Six {
  int a, b, c, d, e, f;
};
struct Seven {
  int a, b, c, d, e, f, g;
};
struct Eight {
  int a, b, c, d, e, f, g, h;
};
struct Sixteen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
struct Twenty {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
};
static_assert(memberCount<Five> == 5 && memberCount<Six> == 6 && memberCount<Seven> == 7 && memberCount<Eight> == 8 &&
              memberCount<Sixteen> == 16 && memberCount<Twenty> == 20 && memberCount<Thirty1> == 31 &&
              memberCount<Thirty2> == 32);
static_assert(memberIndex<&Thirty1::ee> == 30 && memberIndex<&Thirty2::ff> == 31 && memberIndex<&Thirty2::q> == 16);
static_assert(std::is_same_v<Member<Thirty2, 31>, char> && std::is_same_v<Member<Thirty2, 30>, int>);

// The sum of its arguments with increasing weights.
struct WeightedSum {
  template <class... Ms>
  __host__ __device__ int operator()(const Ms&... members) const {
    int weight = 0, sum = 0;
    ((sum += ++weight * static_cast<int>(members)), ...);
    return sum;
  }
};

struct Number {
  template <class... Ms>
  __host__ __device__ void operator()(Ms&... members) const {
    int number = 0;
    ((members = static_cast<Ms>(++number)), ...);
  }
};

template <class T>
int numberedSum() {
  T object;
  detail::visitMembers(object, Number{});
  const T& same = object;
  return detail::visitMembers(same, WeightedSum{});
}

TEST_CASE("Members are visited in order", "[soa]") {
  CHECK(numberedSum<One>() == 1);
  CHECK(numberedSum<Five>() == 5 * 6 * 11 / 6);
  CHECK(numberedSum<Twenty>() == 20 * 21 * 41 / 6);
  CHECK(numberedSum<Thirty2>() == 32 * 33 * 65 / 6);

  Thirty2 object;
  detail::visitMembers(object, Number{});
  CHECK((object.a == 1 && object.h == 8 && object.z == 26 && object.ee == 31 && object.ff == 32));
}

template <class T, std::size_t... INDICES>
bool isInOrder(T& object, std::index_sequence<INDICES...>) {
  const void* addresses[] = {&detail::getMember<INDICES>(object)...};
  for (std::size_t i = 1; i < sizeof...(INDICES); ++i)
    if (addresses[i] <= addresses[i - 1]) return false;
  return addresses[0] == &object;
}

TEST_CASE("A member is the one in the struct", "[soa]") {
  Mixed mixed = structAt<Mixed>(77);
  CHECK(&detail::getMember<memberIndex<&Mixed::weight>>(mixed) == &mixed.weight);
  CHECK(&detail::getMember<memberIndex<&Mixed::matrix>>(mixed) == &mixed.matrix);
  CHECK(&detail::getMember<memberIndex<&Mixed::inner>>(mixed) == &mixed.inner);
  CHECK(isInOrder(mixed, std::make_index_sequence<10>{}));
  Thirty1 many{};
  CHECK(isInOrder(many, std::make_index_sequence<31>{}));
  const Nested nested{};
  STATIC_REQUIRE(std::is_same_v<decltype(detail::getMember<1>(nested)), const ArrayFirst(&)[2]>);
  CHECK(&detail::getMember<2>(nested) == static_cast<const void*>(&nested.unnamed));
}

TEST_CASE("Arrays are copied element by element", "[soa]") {
  const Nested from{{{1, 2, 3}, 4}, {{{5, 6, 7}, 8}, {{9, 10, 11}, 12}}, {13, 14}};
  Nested to{};
  detail::copyMember(to.several, from.several);
  CHECK((to.first.id == 0 && to.several[0].m[0] == 5 && to.several[1].m[2] == 11 && to.several[1].id == 12));
  float cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, copy[2][2][2] = {};
  detail::copyMember(copy, cube);
  for (int i = 0; i < 8; ++i) CHECK(copy[i / 4][i / 2 % 2][i % 2] == static_cast<float>(i + 1));
}

// Copies a struct member by member on the device.
__global__ void rebuildKernel(const Mixed* in, Mixed* out, int* sums) {
  const unsigned i = threadIdx.x;
  Mixed mixed = in[i], rebuilt{};
  detail::copyMember(detail::getMember<0>(rebuilt), detail::getMember<0>(mixed));
  detail::copyMember(detail::getMember<1>(rebuilt), detail::getMember<1>(mixed));
  detail::copyMember(detail::getMember<2>(rebuilt), detail::getMember<2>(mixed));
  detail::copyMember(detail::getMember<3>(rebuilt), detail::getMember<3>(mixed));
  detail::copyMember(detail::getMember<4>(rebuilt), detail::getMember<4>(mixed));
  detail::copyMember(detail::getMember<5>(rebuilt), detail::getMember<5>(mixed));
  detail::copyMember(detail::getMember<6>(rebuilt), detail::getMember<6>(mixed));
  detail::copyMember(detail::getMember<7>(rebuilt), detail::getMember<7>(mixed));
  detail::copyMember(detail::getMember<8>(rebuilt), detail::getMember<8>(mixed));
  detail::getMember<memberIndex<&Mixed::aligned>>(rebuilt) = mixed.aligned;
  out[i] = rebuilt;
  Twenty numbers;
  detail::visitMembers(numbers, Number{});
  numbers.t += static_cast<int>(i);
  sums[i] = detail::visitMembers(numbers, WeightedSum{});
}

TEST_CASE("Members are visited in device code", "[soa]") {
  std::vector<Mixed> in;
  for (std::size_t i = 0; i < 32; ++i) in.push_back(structAt<Mixed>(i));
  const DeviceArray<Mixed> source(in);
  DeviceArray<Mixed> target(in.size());
  DeviceArray<int> sums(in.size());
  LaunchConfig config;
  config.block = dim3(32);
  launch(rebuildKernel, config, source.data(), target.data(), sums.data());
  const std::vector<Mixed> out = target.toHost();
  const std::vector<int> results = sums.toHost();
  for (std::size_t i = 0; i < in.size(); ++i) {
    CHECK(out[i] == in[i]);
    CHECK(results[i] == 2870 + 20 * static_cast<int>(i));
  }
}

}  // namespace
}  // namespace gpuopt::test::aggregate_test
