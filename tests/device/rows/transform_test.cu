/// transformRows with statistics and maps of a user's own, whose results are exact: every kernel, length, alignment and
/// pitch, element types, in place.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "transform_parts.cuh"

#include <gpuopt/rows_transform.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::transform_test {
namespace {

// Of small whole numbers: exact in every type. The difference of both tells every element that counts twice.
struct Extremes {
  struct Partial {
    float sum;
    float largest;
  };
  __device__ Partial start() const { return {0, 0}; }
  __device__ void add(Partial& partial, double x) const {
    partial.sum += static_cast<float>(x);
    if (x > partial.largest) partial.largest = static_cast<float>(x);
  }
  __device__ Partial merge(const Partial& a, const Partial& b) const {
    return {a.sum + b.sum, a.largest > b.largest ? a.largest : b.largest};
  }
  __device__ Partial finish(const Partial& partial, int) const { return partial; }
};

// Small whole numbers again. One thread stores the sum of each row.
struct Coded {
  float* sums;
  __device__ float operator()(double x, const Extremes::Partial& row, int column) const {
    const int sum = static_cast<int>(row.sum) % 32;
    return static_cast<float>(x) + static_cast<float>(sum) + row.largest + static_cast<float>(column % 61);
  }
  __device__ void storeResult(std::size_t row, const Extremes::Partial& result) const { sums[row] = result.sum; }
};

int elementAt(std::size_t row, std::size_t column) { return static_cast<int>((row * 5 + column * 3 + column / 7) % 8); }

struct Layout {
  std::size_t rows, cols;
  std::size_t inGap = 0, outGap = 0;        // elements between rows
  std::size_t inOffset = 0, outOffset = 0;  // elements from alignment
};

std::string toString(const Layout& m) {
  return std::to_string(m.rows) + " x " + std::to_string(m.cols) + ", gaps " + std::to_string(m.inGap) + ", " +
         std::to_string(m.outGap) + ", offsets " + std::to_string(m.inOffset) + ", " + std::to_string(m.outOffset);
}

template <class T>
std::vector<T> elementsOf(const Layout& m) {
  const std::size_t ld = m.cols + m.inGap;
  std::vector<T> values(m.rows * ld, static_cast<T>(100.0f));
  for (std::size_t r = 0; r < m.rows; ++r)
    for (std::size_t c = 0; c < m.cols; ++c) values[r * ld + c] = static_cast<T>(static_cast<float>(elementAt(r, c)));
  return values;
}

// What the row's elements become, and `otherwise` between rows.
std::vector<float> expectedOf(const Layout& m, std::size_t gap, float otherwise) {
  std::vector<float> values(m.rows * (m.cols + gap), otherwise);
  for (std::size_t r = 0; r < m.rows; ++r) {
    int sum = 0, largest = 0;
    for (std::size_t c = 0; c < m.cols; ++c) {
      sum += elementAt(r, c);
      if (elementAt(r, c) > largest) largest = elementAt(r, c);
    }
    for (std::size_t c = 0; c < m.cols; ++c)
      values[r * (m.cols + gap) + c] =
          static_cast<float>(elementAt(r, c) + sum % 32 + largest + static_cast<int>(c % 61));
  }
  return values;
}

template <class T>
std::vector<float> floatsOf(const std::vector<T>& values) {
  std::vector<float> floats;
  for (const T& value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

std::vector<float> expectedSums(const Layout& m) {
  std::vector<float> sums(m.rows, 0);
  for (std::size_t r = 0; r < m.rows; ++r)
    for (std::size_t c = 0; c < m.cols; ++c) sums[r] += static_cast<float>(elementAt(r, c));
  return sums;
}

// Calls transform(in, out, map) and expects all elements and sums, and gaps as they were.
template <class In, class Out, class Transform>
void expectTransformed(const Layout& m, const Transform& transform) {
  INFO(toString(m));
  const std::size_t inLd = m.cols + m.inGap, outLd = m.cols + m.outGap;
  const DeviceArray<In> in(elementsOf<In>(m), m.inOffset);
  DeviceArray<Out> out(std::vector<Out>(m.rows * outLd, static_cast<Out>(99.0f)), m.outOffset);
  const MatrixView<const In> from{in.data(), m.rows, m.cols, inLd};
  const MatrixView<Out> to{out.data(), m.rows, m.cols, outLd};
  INFO(explainTransformRows(from, to));
  DeviceArray<float> sums(m.rows);
  transform(from, to, Coded{sums.data()});
  const bool isRight = floatsOf(out.toHost()) == expectedOf(m, m.outGap, 99) && sums.toHost() == expectedSums(m);
  CHECK(isRight);
}

template <class In, class Out>
void expectRows(const Layout& m) {
  static Series cases;
  if (!cases.runsNext()) return;
  expectTransformed<In, Out>(
      m, [](const auto& from, const auto& to, const Coded& map) { transformRows(from, to, Extremes{}, map); });
}

TEST_CASE("Rows are transformed by each kernel", "[rows]") {
  for (const std::size_t cols : {17, 129, 513, 2049, 16385, 70000}) {
    expectRows<float, float>({3, cols, 1, 5, 1, 1});
    expectRows<__nv_bfloat16, __nv_bfloat16>({37, cols <= 513 ? cols : 40});
  }
}

// All kernels, on both sides of each boundary of the plan for 2, 4 and 8 bytes.
constexpr std::size_t LENGTHS[] = {1,    2,    3,    7,    8,    9,     16,    17,    31,    64,    65,
                                   127,  128,  129,  255,  256,  257,   511,   512,   513,   1000,  1001,
                                   1024, 1025, 2047, 2049, 4096, 16384, 16385, 32768, 32769, 65537, 70000};

TEST_CASE("Rows of every length and alignment are transformed", "[rows][sweep]") {
  for (const std::size_t cols : LENGTHS) {
    const std::size_t rows = cols <= 512 ? 37 : 3;
    expectRows<__nv_bfloat16, __nv_bfloat16>({rows, cols});
    expectRows<__nv_bfloat16, __nv_bfloat16>({rows, cols, 3, 3, 1, 1});
    expectRows<float, float>({rows, cols, 1, 5, 1, 1});
    expectRows<float, float>({rows, cols, 4, 8});
    expectRows<double, float>({rows, cols});
  }
}

TEST_CASE("Rows that begin at different distances from 16 bytes are transformed", "[rows]") {
  for (const std::size_t cols : {5u, 64u, 1000u, 3000u}) {
    expectRows<float, float>({5, cols, 0, 0, 1, 2});
    expectRows<__nv_bfloat16, __nv_bfloat16>({5, cols, 8, 1, 0, 0});
  }
}

// How elements are read and stored depends on their types, whatever the kernel: each pair by three kernels. Rows of
// both matrices begin with vectors, as far behind them, and differently.
template <class In, class Out>
void expectElements() {
  constexpr std::size_t SHORT = 9 * rowVector<In> + 1, LONG = 17 * rowVector<In> + 1;
  for (const Layout& m : {Layout{70, 8 * rowVector<In>}, Layout{5, 8 * rowVector<In>, 0, 0, 0, 2},
                          Layout{5, SHORT, 2, 2, 1, 1}, Layout{5, LONG, 2, 2, 1, 1}, Layout{5, LONG, 0, 1, 0, 2}})
    expectTransformed<In, Out>(
        m, [](const auto& from, const auto& to, const Coded& map) { transformShortRows(from, to, Extremes{}, map); });
}

// With those above, every pair of sizes, of which a vector has as many elements.
TEST_CASE("Rows of every element type are transformed", "[rows]") {
  expectElements<std::int8_t, std::uint8_t>();
  expectElements<std::int8_t, __half>();
  expectElements<std::int8_t, float>();
  expectElements<std::int8_t, double>();
  expectElements<__half, std::uint8_t>();
  expectElements<__half, __nv_bfloat16>();
  expectElements<__half, __half>();
  expectElements<__nv_bfloat16, float>();
  expectElements<std::int16_t, double>();
  expectElements<float, std::uint8_t>();
  expectElements<float, int>();
  expectElements<int, __half>();
  expectElements<int, double>();
  expectElements<std::int64_t, std::uint8_t>();
  expectElements<std::int64_t, double>();
  expectElements<double, __half>();
  expectElements<double, double>();
}

TEST_CASE("Many short rows share a warp", "[rows]") {
  // More than a mebibyte: several vectors a lane.
  expectRows<__nv_bfloat16, __nv_bfloat16>({70011, 8});
  expectRows<__nv_bfloat16, __nv_bfloat16>({4801, 130, 6, 6});
  expectRows<float, float>({2001, 129, 2, 2, 3, 3});
  expectRows<float, float>({2001, 400});
  expectRows<float, float>({1101, 511, 1, 1, 1, 1});
}

TEST_CASE("Many short rows of any alignment are transformed", "[rows][sweep]") {
  for (const std::size_t cols : {1, 9, 12, 13, 49, 97, 101, 129, 133, 193, 255, 257, 333, 383, 385}) {
    const std::size_t rows = 600000 / cols;
    expectRows<__nv_bfloat16, __nv_bfloat16>({rows, cols});
    expectRows<float, float>({rows / 2 + 3, cols});
  }
  expectRows<double, float>({2501, 77});
}

// Rows that warps stage in shared memory: the first span may begin anywhere, and the last one has fewer rows.
template <class T>
void expectStaged(const Layout& m) {
  static Series cases;
  if (!cases.runsNext()) return;
  INFO(toString(m));
  DeviceArray<T> data(elementsOf<T>(m), m.inOffset), out(std::vector<T>(m.rows * m.cols), m.outOffset);
  const auto isRight = [&](DeviceArray<T>& to) {
    DeviceArray<float> sums(m.rows);
    const MatrixView<const T> from{data.data(), m.rows, m.cols};
    transformStagedRows(from, MatrixView{to.data(), m.rows, m.cols}, Extremes{}, Coded{sums.data()});
    return floatsOf(to.toHost()) == expectedOf(m, 0, 0) && sums.toHost() == expectedSums(m);
  };
  const bool isRightApart = isRight(out);
  CHECK(isRightApart);
  const bool isRightInPlace = isRight(data);
  CHECK(isRightInPlace);
}

TEST_CASE("Short rows without gaps are staged in shared memory", "[rows][sweep]") {
  std::size_t offset = 1;
  for (const std::size_t cols : {41u, 45u, 57u, 68u, 69u, 112u, 133u, 137u, 201u, 272u, 273u, 352u}) {
    expectStaged<__nv_bfloat16>({800001 / cols, cols, 0, 0, offset, offset});
    offset = (offset + 2) % 16;
  }
  expectStaged<__nv_bfloat16>({800008 / 133, 133});
  expectStaged<std::int8_t>({1500000 / 257, 257, 0, 0, 5, 5});
}

TEST_CASE("Half warps transform rows in place, and store results", "[rows]") {
  const Layout m{2501, 133};
  DeviceArray<float> data(elementsOf<float>(m)), sums(m.rows);
  transformRows(data.data(), data.data(), m.rows, m.cols, Extremes{}, Coded{sums.data()});
  const bool isRight = sums.toHost() == expectedSums(m) && data.toHost() == expectedOf(m, 0, 0);
  CHECK(isRight);
}

TEST_CASE("Many long rows are transformed", "[rows]") {
  expectRows<float, float>({501, 1001, 1, 1, 2, 2});
  expectRows<float, float>({41, 8196});
  expectRows<float, float>({41, 8197});
}

TEST_CASE("Rows are transformed in place", "[rows]") {
  for (const std::size_t cols : {7u, 128u, 1001u, 2500u, 33000u, 140000u}) {
    const Layout m{4, cols, 1, 1, 1, 1};
    DeviceArray<float> data(elementsOf<float>(m), 1), sums(m.rows);
    const MatrixView<float> view{data.data(), m.rows, cols, cols + 1};
    transformRows(view, view, Extremes{}, Coded{sums.data()});
    const bool isRight = data.toHost() == expectedOf(m, 1, 100) && sums.toHost() == expectedSums(m);
    CHECK(isRight);
  }
}

struct Total {
  struct Partial {
    float sum;
    __host__ __device__ explicit Partial(float of) : sum(of) {}
  };
  __device__ Partial start() const { return Partial(0); }
  __device__ void add(Partial& partial, float x) const { partial.sum += x; }
  __device__ Partial merge(const Partial& a, const Partial& b) const { return Partial(a.sum + b.sum); }
  __device__ float finish(const Partial& partial, int) const { return partial.sum; }
};

struct PlusTotal {
  __device__ float operator()(float x, float total, int) const { return x + total; }
};

TEST_CASE("What is known of a part of a row needs no default constructor", "[rows]") {
  for (const std::size_t cols : {3u, 5000u, 40000u}) {
    const Layout m{3, cols};
    DeviceArray<float> data(elementsOf<float>(m));
    transformRows(data.data(), data.data(), m.rows, cols, Total{}, PlusTotal{});
    std::vector<float> expected;
    for (std::size_t r = 0; r < m.rows; ++r) {
      int total = 0;
      for (std::size_t c = 0; c < cols; ++c) total += elementAt(r, c);
      for (std::size_t c = 0; c < cols; ++c) expected.push_back(static_cast<float>(elementAt(r, c) + total));
    }
    const bool isRight = data.toHost() == expected;
    CHECK(isRight);
  }
}

// How many elements equal the largest of their row, as the second of two statistics.
struct CountEqual {
  using Partial = int;
  __device__ int start() const { return 0; }
  __device__ void add(int& partial, float x, const Extremes::Partial& row) const { partial += x == row.largest; }
  __device__ int merge(int a, int b) const { return a + b; }
  __device__ int finish(int partial, int cols, const Extremes::Partial&) const { return 1000 * partial + cols % 1000; }
};

struct ResultOnly {
  __device__ int operator()(float, int result, int) const { return result; }
};

// How often the code of CountEqual divides by an element and 1, as the third of three: the storage is used again.
struct CountDivisors {
  using Partial = int;
  __device__ int start() const { return 0; }
  __device__ void add(int& partial, float x, int code) const {
    partial += code / 1000 % (static_cast<int>(x) + 1) == 0;
  }
  __device__ int merge(int a, int b) const { return a + b; }
  __device__ int finish(int partial, int cols, int code) const { return 7 * partial + code % 5 + cols % 3; }
};

TEST_CASE("A statistic can need another one, and a third one both", "[rows]") {
  for (const std::size_t cols : {5u, 300u, 3000u, 40001u, 300001u}) {
    const Layout m{3, cols};
    const DeviceArray<float> in(elementsOf<float>(m));
    DeviceArray<int> out(m.rows * cols);
    transformRows(in.data(), out.data(), m.rows, cols,
                  thenStatistic(thenStatistic(Extremes{}, CountEqual{}), CountDivisors{}), ResultOnly{});
    std::vector<int> expected;
    for (std::size_t r = 0; r < m.rows; ++r) {
      int largest = 0, count = 0, divisors = 0;
      for (std::size_t c = 0; c < cols; ++c) largest = elementAt(r, c) > largest ? elementAt(r, c) : largest;
      for (std::size_t c = 0; c < cols; ++c) count += elementAt(r, c) == largest;
      const int code = 1000 * count + static_cast<int>(cols % 1000);
      for (std::size_t c = 0; c < cols; ++c) divisors += code / 1000 % (elementAt(r, c) + 1) == 0;
      expected.insert(expected.end(), cols, 7 * divisors + code % 5 + static_cast<int>(cols % 3));
    }
    const bool isRight = out.toHost() == expected;
    CHECK(isRight);
  }
}

}  // namespace
}  // namespace gpuopt::test::transform_test
