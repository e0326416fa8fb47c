/// \file
/// Structs without a default constructor, with const members, with both; what the tests of any trivially copyable type
/// do with them.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

struct Plain {
  int a;
  float b;
};
struct NoDefault {
  __host__ __device__ NoDefault(int first, float second) : a(first), b(second) {}
  int a;
  float b;
};
struct ConstMember {
  const int a;
  float b;
};
struct Both {
  __host__ __device__ Both(int first, float second) : a(first), b(second) {}
  const int a;
  const float b;
};
// 40 bytes, more than most kernels hold in registers.
struct Large {
  __host__ __device__ Large(int first, float second) : a(first), b(second), rest{first, 1, 2, 3} {}
  const int a;
  const float b;
  long long rest[4];
};

static_assert(!std::is_default_constructible_v<NoDefault> && std::is_copy_assignable_v<NoDefault>);
static_assert(!std::is_copy_assignable_v<ConstMember> && std::is_trivially_copyable_v<ConstMember>);
static_assert(!std::is_default_constructible_v<Both> && !std::is_copy_assignable_v<Both>);

// Each type costs minutes of compile time: the strictest one stands for all, and natively for large ones, too.
#ifdef GPUOPT_EMULATION
using AnySizes = std::tuple<Both, Large>;
#else
using AnySizes = std::tuple<Both>;
#endif

// Exact for the test's data, so that no order of the additions matters. It does not commute, as far as gpuopt knows.
struct Add {
  template <class T>
  __host__ __device__ T operator()(const T& x, const T& y) const {
    return T{x.a + y.a, x.b + y.b};
  }
};

// To T from any of the structs, or from a pair of them.
template <class T>
struct To {
  template <class U>
  __host__ __device__ T operator()(const U& x) const {
    return T{x.a, x.b};
  }
  template <class U, class V>
  __host__ __device__ T operator()(const U& x, const V& y) const {
    return T{x.a, y.b};
  }
};

struct Increment {
  template <class T>
  __host__ __device__ void operator()(T& x) const {
    x.b += 1;
  }
};

// Element i is {i % 8, 2}; nothing of it is in memory.
template <class T>
struct Generator {
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;
  using iterator_category = std::random_access_iterator_tag;

  std::ptrdiff_t first = 0;
  __host__ __device__ T operator[](std::ptrdiff_t i) const { return T{static_cast<int>((first + i) % 8), 2}; }
  __host__ __device__ Generator operator+(std::ptrdiff_t i) const { return {first + i}; }
};

template <class T>
std::vector<T> elements(std::size_t n) {
  std::vector<T> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(T{static_cast<int>(i * 7919 % 1000), static_cast<float>(i % 64)});
  return all;
}

// What tells two elements apart, as plain structs.
template <class T>
std::vector<Plain> plain(const std::vector<T>& all) {
  std::vector<Plain> result;
  for (const T& x : all) result.push_back({x.a, x.b});
  return result;
}

template <class T>
bool isAlike(const T& x, const Plain& y) {
  return x.a == y.a && x.b == y.b;
}

template <class T>
bool areAlike(const std::vector<T>& xs, const std::vector<Plain>& ys) {
  bool same = xs.size() == ys.size();
  for (std::size_t i = 0; i < xs.size() && same; ++i) same = isAlike(xs[i], ys[i]);
  return same;
}

// DeviceArray::toHost() for types without a default constructor.
template <class T>
std::vector<T> toHost(const DeviceArray<T>& array) {
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<T> all(array.size(), T{0, 0});
  checkCuda(cudaMemcpy(static_cast<void*>(all.data()), array.data(), array.size() * sizeof(T), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
  return all;
}

// The results of call(in, out) with elements of T and of Plain are alike.
template <class T, class Call>
void checkAlike(std::size_t inputs, std::size_t outputs, Call call) {
  const DeviceArray<T> in(elements<T>(inputs));
  const DeviceArray<Plain> inPlain(elements<Plain>(inputs));
  DeviceArray<T> out(outputs);
  DeviceArray<Plain> outPlain(outputs);
  call(in.data(), out.data());
  call(inPlain.data(), outPlain.data());
  CHECK(areAlike(toHost(out), plain(toHost(outPlain))));
}

}  // namespace gpuopt::test
