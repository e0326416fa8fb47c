/// \file
/// Elements of any trivially copyable type: without a default constructor, with const members, with both. Every call
/// gives the bits that it gives for a plain struct.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/gpuopt.cuh>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <new>
#include <type_traits>
#include <vector>

namespace gpuopt::test::any_type_test {

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

// The collectives: results go to out[0 ... 9].
template <class T, int BLOCK>
__global__ void collectives(const T* in, T* out) {
  __shared__ BlockReduceStorage<BLOCK, T, Add> storage;
  const T value = in[threadIdx.x];
  const T results[] = {warpReduce(value, Add{}),
                       warpReduce<16>(value, Add{}, 5),
                       warpAllReduce(value, Add{}),
                       warpAllReduce<8>(value, Add{}, 5),
                       blockReduce<BLOCK>(value, Add{}),
                       blockReduce<BLOCK>(value, Add{}, BLOCK - 3),
                       blockReduce<BLOCK>(value, Add{}, storage),
                       blockAllReduce<BLOCK>(value, Add{}),
                       blockAllReduce<BLOCK>(value, Add{}, BLOCK - 3),
                       shuffleDown(value, 3),
                       shuffleFrom(value, 7)};
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < 11; ++i) ::new (static_cast<void*>(out + i)) T(results[i]);
}

template <class In, class Out>
__global__ void tile(const In* in, Out* out, unsigned rows, unsigned cols) {
  transposeTile<32, 8>(in, cols, out, rows, rows, cols, To<Out>{});
}

template <class T>
__global__ void swapInTile(const T* in, T* out) {
  using Tile = TransposeTile<T, T, 8, 4>;
  __shared__ typename Tile::Storage storage;
  const Tile tile(storage);
  tile.load(in, 8);
  __syncthreads();
  const T first = tile.get(0, 0), last = tile.get(7, 7);
  __syncthreads();
  if (threadIdx.x == 0) {
    tile.put(0, 0, last);
    tile.put(7, 7, first);
  }
  __syncthreads();
  tile.store(out, 8);
}

template <class T>
__global__ void staged(const T* in, T* out, std::size_t n) {
  __shared__ typename StagedStructs<T, 64>::Storage storage;
  const StagedStructs<T, 64> structs(storage);
  for (auto own : structs.tiles(n)) own.store(out, own.load(in));
}

namespace {

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

}  // namespace

TEMPLATE_TEST_CASE("Any type: collectives", "[types]", NoDefault, ConstMember, Both, Large) {
  const auto run = [](auto block) {
    checkAlike<TestType>(block, 11, [](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      launch(collectives<T, decltype(block)::value>, LaunchConfig{1, decltype(block)::value}, in, out);
    });
  };
  run(std::integral_constant<int, 32>{});
  run(std::integral_constant<int, 128>{});
  run(std::integral_constant<int, 512>{});
}

template <class Policy, class T>
void checkReduce(std::size_t n) {
  INFO("n " << n);
  const DeviceArray<T> in(elements<T>(n));
  const DeviceArray<Plain> inPlain(elements<Plain>(n));
  DeviceArray<T> out(1);
  const Plain sum = reduce<DefaultAccumulator, Policy>(inPlain.data(), n, Add{}, Plain{5, 6});
  CHECK(isAlike(reduce<DefaultAccumulator, Policy>(in.data(), n, Add{}, T{5, 6}), sum));
  CHECK(isAlike(transformReduce<DefaultAccumulator, Policy>(in.data(), n, To<T>{}, Add{}, T{5, 6}), sum));
  CHECK(isAlike(transformReduce<DefaultAccumulator, Policy>(in.data(), in.data(), n, To<Plain>{}, Add{}, Plain{5, 6}),
                sum));
  CHECK(
      isAlike(transformReduce<DefaultAccumulator, Policy>(inPlain.data(), in.data(), n, To<T>{}, Add{}, T{5, 6}), sum));
  reduceInto<DefaultAccumulator, Policy>(in.data(), n, out.data(), Add{}, T{5, 6});
  CHECK(isAlike(toHost(out)[0], sum));
  CHECK(isAlike(reduce<DefaultAccumulator, Policy>(Generator<T>{}, n, Add{}, T{1, 1}),
                reduce<DefaultAccumulator, Policy>(Generator<Plain>{}, n, Add{}, Plain{1, 1})));
}

TEMPLATE_TEST_CASE("Any type: reductions of arrays", "[types]", NoDefault, ConstMember, Both) {
  for (const std::size_t n : {0, 1, 33, 1000, 30000}) {
    checkReduce<ReducePolicy, TestType>(n);
    checkReduce<InOrder, TestType>(n);
    checkReduce<ByLength, TestType>(n);
  }
}

TEST_CASE("Any type: reductions of large elements", "[types]") {
  checkReduce<ReducePolicy, Large>(1000);
  checkReduce<ReducePolicy, Large>(5);
}

TEMPLATE_TEST_CASE("Any type: rows, columns and segments", "[types]", NoDefault, ConstMember, Both, Large) {
  struct Shape {
    std::size_t rows, cols, ld;
  };
  for (const auto& [rows, cols, ld] : {Shape{50, 3, 3}, Shape{50, 4, 4}, Shape{7, 5, 20}, Shape{4, 300, 301},
                                       Shape{3, 2000, 2000}, Shape{200, 70, 71}, Shape{1000, 2, 2}}) {
    INFO(rows << " x " << cols << ", ld " << ld);
    checkAlike<TestType>(rows * ld, rows, [r = rows, c = cols, l = ld](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      reduceRows(in, r, c, l, out, Add{});
      reduceRows(Generator<T>{}, r / 2, c, l, out, Add{}, T{3, 4});
    });
    checkAlike<TestType>(rows * ld, cols, [r = rows, c = cols, l = ld](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      reduceColumns(in, r, c, l, out, Add{});
      reduceColumns(Generator<T>{}, r, c / 2, l, out, Add{}, T{3, 4});
    });
  }
  const DeviceArray<int> offsets(std::vector<int>{0, 3, 3, 40, 1000, 1005, 5000, 5001});
  checkAlike<TestType>(5001, 7, [&](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    reduceSegments(in, offsets.data(), 7, out, Add{}, T{3, 4});
  });
  checkAlike<TestType>(1, 7, [&](const auto*, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    reduceSegments(Generator<T>{}, offsets.data(), 7, out, Add{}, T{3, 4});
  });
}

TEMPLATE_TEST_CASE("Any type: transpositions", "[types]", NoDefault, ConstMember, Both, Large) {
  struct Shape {
    std::size_t rows, cols, batch;
  };
  for (const auto& [rows, cols, batch] : {Shape{40, 50, 1}, Shape{64, 128, 1}, Shape{3, 1000, 1}, Shape{1000, 3, 1},
                                          Shape{1, 100, 1}, Shape{4, 5, 100}, Shape{200, 300, 1}}) {
    INFO(rows << " x " << cols << ", batch " << batch);
    const std::size_t size = rows * cols * batch;
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b});
    });
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b}, To<T>{});
    });
    const DeviceArray<Plain> fromPlain(elements<Plain>(size));
    checkAlike<TestType>(size, size, [&, r = rows, c = cols, b = batch](const auto*, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const Plain>{fromPlain.data(), r, c, c, b}, MatrixView<T>{out, c, r, r, b}, To<T>{});
    });
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b});
      transposeInPlace(MatrixView<T>{out, c, r, r, b});
    });
  }
  checkAlike<TestType>(64, 64, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(swapInTile<T>, LaunchConfig{1, 32}, in, out);
  });
  checkAlike<TestType>(32 * 32, 32 * 32, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(tile<T, T>, LaunchConfig{1, 256}, in, out, 32, 32);
  });
  checkAlike<TestType>(31 * 30, 31 * 30, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(tile<T, T>, LaunchConfig{1, 256}, in, out, 31, 30);
  });
}

TEMPLATE_TEST_CASE("Any type: structures", "[types]", NoDefault, ConstMember, Both, Large) {
  const DeviceArray<int> indices(std::vector<int>{3, 1, 99, 7, 3});
  for (const std::size_t n : {1, 100, 1000}) {
    checkAlike<TestType>(n, n, [=](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transformStructs(in, n, out, To<T>{});
    });
    checkAlike<TestType>(n, n, [=](const auto*, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transformStructs(Generator<T>{}, n, out, To<T>{});
    });
    checkAlike<TestType>(n, n, [=](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      launch(staged<T>, LaunchConfig{2, 64}, in, out, n);
    });
  }
  checkAlike<TestType>(100, 5, [&](const auto* in, auto* out) { gatherStructs(in, indices.data(), 5, out); });
}

// A const member keeps its value, the others change.
TEMPLATE_TEST_CASE("Any type: structures in place", "[types]", NoDefault, ConstMember) {
  DeviceArray<TestType> data(elements<TestType>(1000));
  forEachStruct(data.data(), 1000, Increment{});
  std::vector<Plain> expected = elements<Plain>(1000);
  for (Plain& x : expected) x.b += 1;
  CHECK(areAlike(toHost(data), expected));
}

}  // namespace gpuopt::test::any_type_test
