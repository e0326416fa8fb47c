/// \file
/// Other forms of forEach and transform: three inputs, first and last, matrices with and without gaps.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/map.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::map_forms_test {

// Bytes of all three, changed by the index.
template <class Out>
struct MixedThree {
  template <class In1, class In2, class In3>
  __host__ __device__ Out operator()(const In1& in1, const In2& in2, const In3& in3, std::size_t i) const {
    const auto* from1 = reinterpret_cast<const unsigned char*>(&in1);
    const auto* from2 = reinterpret_cast<const unsigned char*>(&in2);
    const auto* from3 = reinterpret_cast<const unsigned char*>(&in3);
    Out out{};
    auto* to = reinterpret_cast<unsigned char*>(&out);
    for (std::size_t b = 0; b < sizeof(Out); ++b)
      to[b] = static_cast<unsigned char>(from1[b % sizeof(In1)] + 3 * from2[b % sizeof(In2)] +
                                         5 * from3[b % sizeof(In3)] + (i >> b % 8));
    return out;
  }
};

template <class In1, class In2, class In3, class Out>
void checkThree(std::size_t n, std::size_t offset = 0) {
  INFO(sizeof(In1) << ", " << sizeof(In2) << ", " << sizeof(In3) << " to " << sizeof(Out) << " bytes, n = " << n);
  const std::vector<In1> values1 = indexCoded<In1>(n);
  std::vector<In2> values2 = indexCoded<In2>(n + 3);
  std::vector<In3> values3 = indexCoded<In3>(n + 8);
  values2.erase(values2.begin(), values2.begin() + 3);
  values3.erase(values3.begin(), values3.begin() + 8);
  const StructArray<In1> in1(values1, 0);
  const StructArray<In2> in2(values2, offset);
  const StructArray<In3> in3(values3, 0);
  StructArray<Out> out(n, offset);
  transform(in1.data(), in2.data(), in3.data(), n, out.data(), MixedThree<Out>{});
  std::vector<Out> expected;
  for (std::size_t i = 0; i < n; ++i) expected.push_back(MixedThree<Out>{}(values1[i], values2[i], values3[i], i));
  CHECK(sameBytes(out.toHost(), expected));
}

template <class In1, class In2, class In3, class Out>
void checkThrees() {
  constexpr std::size_t WORDS = detail::TransformTiles<Out, In1, In2, In3>::ELEMENTS;  // 0 for wider elements
  constexpr std::size_t BLOCK = WORDS > 0 ? WORDS : 512;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, BLOCK - 1, BLOCK, std::size_t{2500}})
    checkThree<In1, In2, In3, Out>(n);
  checkThree<In1, In2, In3, Out>(1000, alignof(In2) > alignof(Out) ? alignof(In2) : alignof(Out));
}

struct MultiplyAdd {
  __device__ float operator()(float a, float b, float c) const { return a * b + c; }
};

struct Twice {
  __device__ int operator()(int x) const { return 2 * x; }
};

struct Difference {
  __device__ int operator()(int x, int y) const { return x - y; }
};

struct AddOne {
  __device__ void operator()(int& x) const { ++x; }
};

// A number for each place of a matrix.
__host__ __device__ inline int codeOf(std::size_t row, std::size_t col) { return static_cast<int>(row * 1009 + col); }

struct AddCode {
  __device__ void operator()(int& x, std::size_t row, std::size_t col) const { x += codeOf(row, col); }
};

struct Coded {
  __device__ double operator()(int x, std::size_t row, std::size_t col) const { return 2.0 * x + codeOf(row, col); }
};

struct CountDiagonal {
  int* count;
  __device__ void operator()(int x, std::size_t row, std::size_t col) const {
    if (row == col) atomicAdd(count, x);
  }
};

// A matrix of x(i) in memory with gaps of -1, which must stay.
struct Rows {
  std::size_t rows, cols, ld;

  template <class F>
  std::vector<int> values(F f) const {
    std::vector<int> all(rows * ld, -1);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) all[r * ld + c] = f(r, c);
    return all;
  }
  template <class T>
  MatrixView<T> view(T* data) const {
    return {data, rows, cols, ld};
  }
};

inline int start(std::size_t row, std::size_t col) { return static_cast<int>(3 * row + 7 * col); }

inline void checkMatrix(const Rows& in, const Rows& out) {
  CAPTURE(in.rows, in.cols, in.ld, out.ld);
  DeviceVector<int> data(in.values(start));
  forEach(in.view(data.data()), AddCode{});
  const auto changed = [](std::size_t r, std::size_t c) { return start(r, c) + codeOf(r, c); };
  CHECK(data.toHost() == in.values(changed));

  DeviceVector<double> results(std::vector<double>(out.rows * out.ld, -1));
  transform(in.view(data.data()), out.view(results.data()), Coded{});
  const std::vector<int> expected =
      out.values([&](std::size_t r, std::size_t c) { return 2 * changed(r, c) + codeOf(r, c); });
  CHECK(results.toHost() == std::vector<double>(expected.begin(), expected.end()));

  transform(in.view(data.data()), in.view(data.data()), Twice{});
  CHECK(data.toHost() == in.values([&](std::size_t r, std::size_t c) { return 2 * changed(r, c); }));

  auto count = DeviceVector<int>::zeros(1);
  forEach(in.view(static_cast<const int*>(data.data())), CountDiagonal{count.data()});
  int diagonal = 0;
  for (std::size_t i = 0; i < (std::min)(in.rows, in.cols); ++i) diagonal += 2 * changed(i, i);
  CHECK(count.toHost()[0] == diagonal);
}

}  // namespace gpuopt::test::map_forms_test

using namespace gpuopt::test;
using namespace gpuopt::test::map_forms_test;
using gpuopt::DeviceVector;
using gpuopt::MatrixView;

TEST_CASE("Three inputs of every size", "[map]") {
  checkThrees<float, float, float, float>();
  checkThrees<unsigned char, double, float, float>();
  checkThrees<float, std::uint16_t, unsigned char, double>();
  checkThrees<double, double, double, unsigned char>();
  checkThrees<Blob<3>, float, Blob<12, 4>, Blob<28, 4>>();
}

TEST_CASE("Three inputs in containers, one of them the output", "[map]") {
  DeviceVector<float> a{1, 2, 3}, b{4, 5, 6};
  const DeviceVector<float> c{7, 8, 9};
  gpuopt::transform(a, b, c, a, MultiplyAdd{});
  CHECK(a.toHost() == std::vector<float>{11, 18, 27});
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::transform(a, b, DeviceVector<float>(2), a, MultiplyAdd{}); }) ==
        "gpuopt::transform: in3 has 2 elements, but 3 are needed");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::transform(a.data(), b.data(), b.data() + 1, 2, b.data(), MultiplyAdd{});
        }).find("gpuopt::transform: out and in3 overlap") == 0);
}

TEST_CASE("Arrays from a first element to before a last one", "[map]") {
  DeviceVector<int> in{1, 2, 3, 4}, out{0, 0, 0, 0};
  gpuopt::transform(in.begin(), in.end(), out.begin(), Twice{});
  gpuopt::forEach(in.begin() + 1, in.end(), AddOne{});
  CHECK(in.toHost() == std::vector<int>{1, 3, 4, 5});
  const Stream stream;
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  gpuopt::transform(out.begin(), out.end(), in.begin(), out.begin(), Difference{}, stream);
  stream.wait();
  CHECK(out.toHost() == std::vector<int>{1, 1, 2, 3});
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::forEach(in.end(), in.begin(), AddOne{}); }) ==
        "gpuopt::forEach: n (-4) is negative");
}

TEST_CASE("Functions of an element, its row and its column", "[map]") {
  checkMatrix({1, 1, 1}, {1, 1, 1});
  checkMatrix({40, 37, 37}, {40, 37, 37});
  checkMatrix({40, 37, 41}, {40, 37, 37});
  checkMatrix({40, 37, 37}, {40, 37, 40});
  checkMatrix({700, 3, 8}, {700, 3, 5});
  checkMatrix({2, 5000, 5001}, {2, 5000, 5003});
  checkMatrix({1, 999, 2000}, {1, 999, 1000});
}

TEST_CASE("Matrices without elements, and wrong ones", "[map]") {
  gpuopt::forEach(MatrixView<int>{nullptr, 0, 5}, AddCode{});
  gpuopt::transform(MatrixView<int>{nullptr, 3, 0}, MatrixView<double>{nullptr, 3, 0}, Coded{});
  DeviceVector<int> data(64);
  DeviceVector<double> out(64);
  const auto message = [&](const MatrixView<int>& in, const MatrixView<double>& to) {
    return messageOf<std::invalid_argument>([&] { gpuopt::transform(in, to, Coded{}); });
  };
  // WRITTEN map: transform(MatrixView{in, 4, 5}, MatrixView{out, 5, 4}, f)
  CHECK(message({data.data(), 4, 5}, {out.data(), 5, 4}) == "gpuopt::transform: in is 4 x 5, but out is 5 x 4");
  CHECK(message({data.data(), 4, 5, 4}, {out.data(), 4, 5}) == "gpuopt::transform: in.ld (4) is less than in.cols (5)");
  CHECK(message({data.data(), 4, 5, 5, 2}, {out.data(), 4, 5}) ==
        "gpuopt::transform: in.batch is 2: pass one matrix at a time");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::transform(MatrixView<int>{data.data(), 4, 5, 8}, MatrixView<int>{data.data() + 1, 4, 5, 8}, Twice{});
        }).find("gpuopt::transform: in and out overlap") == 0);
}
