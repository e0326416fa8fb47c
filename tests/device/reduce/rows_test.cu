/// Rows of every length and layout against serial oracles, on both sides of every boundary of
/// ReduceRowsPolicy.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/matrix_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace rows_test {

using namespace gpuopt::test;
using gpuopt::reduceRows;

template <class A, class T, class Op>
std::vector<A> rowsOf(const HostMatrix<T>& matrix, Op op) {
  std::vector<A> results;
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    const std::size_t first = r * matrix.ld;
    results.push_back(foldSerially<A>(matrix.values, first, first + matrix.cols, op));
  }
  return results;
}

template <class T, class Op>
void checkRows(std::size_t rows, std::size_t cols, std::size_t ld, std::size_t offset, Op op) {
  static Series cases;
  if (!cases.runsNext()) return;
  CAPTURE(rows, cols, ld, offset, sizeof(T));
  using A = gpuopt::Reduced<gpuopt::DefaultAccumulator, Op, const T*>;
  const auto matrix = HostMatrix<T>::make(rows, cols, ld);
  const DeviceArray<T> in(matrix.values, offset);
  DeviceArray<A> out(rows);
  reduceRows(in.data(), rows, cols, ld, out.data(), op);
  CHECK(out.toHost() == rowsOf<A>(matrix, op));
}

// Enough rows for every warp of several blocks, in about 9000 elements.
std::size_t rowsFor(std::size_t cols) { return cols < 16 ? 600 : 9000 / cols + 2; }

const std::vector<std::size_t> lengths{1,   2,   3,   4,    5,    7,    8,    9,    12,   13,   15,   16,   17,
                                       31,  32,  33,  63,   64,   65,   100,  127,  128,  129,  255,  256,  257,
                                       511, 512, 513, 1000, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 4097, 8191};

TEST_CASE("reduceRows sums contiguous rows of every length") {
  for (const std::size_t cols : lengths) checkRows<float>(rowsFor(cols), cols, cols, 0, gpuopt::Plus{});
}

TEST_CASE("reduceRows starts at any element") {
  for (const std::size_t cols : {1, 4, 6, 16, 33, 128, 512, 515, 4096, 4099})
    for (std::size_t offset = 1; offset < 4; ++offset) checkRows<float>(11, cols, cols, offset, gpuopt::Plus{});
}

TEST_CASE("reduceRows leaves out the elements between rows") {
  for (const std::size_t cols : {1, 3, 4, 8, 20, 31, 32, 33, 64, 100, 160, 300, 508, 512, 516, 1000, 4096, 5000})
    for (const std::size_t gap : {1, 4, 100})
      checkRows<float>(cols < 100 ? 150 : 9, cols, cols + gap, 0, gpuopt::Plus{});
}

TEST_CASE("reduceRows cuts few long rows into pieces") {
  for (const std::size_t rows : {1, 2, 3})
    for (const std::size_t cols : {8192, 16383, 16384, 16385, 40000})
      for (const std::size_t gap : {0, 3}) checkRows<float>(rows, cols, cols + gap, rows % 2, gpuopt::Plus{});
}

TEMPLATE_TEST_CASE("reduceRows takes elements of any size", "[sweep]", signed char, unsigned short, double,
                   std::int64_t, Bytes3, Float3, Words5, Words25, __half) {
  for (const std::size_t cols : {1, 2, 5, 8, 16, 31, 48, 64, 250, 512, 700, 2049})
    for (const std::size_t gap : {0, 1, 16})
      checkRows<TestType>(cols < 40 ? 70 : 5, cols, cols + gap, 1, gpuopt::Plus{});
  checkRows<TestType>(3, 20000, 20000, 1, gpuopt::Plus{});
}

TEST_CASE("reduceRows needs no neutral element") {
  for (const std::size_t cols : {1, 3, 16, 33, 129, 600, 4097, 17000})
    for (const std::size_t gap : {0, 1, 4}) {
      checkRows<int>(7, cols, cols + gap, 0, UnknownPlus{});
      checkRows<float>(7, cols, cols + gap, 0, gpuopt::Maximum{});
    }
}

TEST_CASE("reduceRows accumulates in the type that it is asked for") {
  const std::size_t cols = 1000;
  const std::vector<std::uint8_t> values(5 * cols, 255);
  const DeviceArray<std::uint8_t> in(values);
  DeviceArray<std::uint64_t> out(5);
  reduceRows<std::uint64_t>(in.data(), 5, cols, cols, out.data());
  CHECK(out.toHost() == std::vector<std::uint64_t>(5, 255 * cols));
}

TEST_CASE("reduceRows combines the initial value with every row") {
  for (const std::size_t cols : {0, 3, 600, 5000, 20000}) {
    CAPTURE(cols);
    const auto matrix = HostMatrix<int>::make(3, cols, cols);
    const DeviceArray<int> in(matrix.values);
    DeviceArray<int> out(3);
    reduceRows(in.data(), 3, cols, cols, out.data(), UnknownPlus{}, 1000);
    std::vector<int> expected(3, 1000);
    if (cols > 0) {
      expected = rowsOf<int>(matrix, gpuopt::Plus{});
      for (int& value : expected) value += 1000;
    }
    CHECK(out.toHost() == expected);
  }
}

TEST_CASE("reduceRows reads iterators") {
  for (const std::size_t cols : {1, 5, 32, 100, 700, 5000, 40000}) {
    CAPTURE(cols);
    for (const std::size_t gap : {0, 3}) {
      const std::size_t rows = 40;
      DeviceArray<std::int64_t> out(rows);
      reduceRows(Squares{}, rows, cols, cols + gap, out.data());
      std::vector<std::int64_t> expected(rows, 0);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < cols; ++c)
          expected[r] += Squares{}[static_cast<std::ptrdiff_t>(r * (cols + gap) + c)];
      CHECK(out.toHost() == expected);
    }
  }
}

TEST_CASE("reduceRows gives the same bits on every run, with any workspace") {
  gpuopt::Workspace workspace;
  for (const std::size_t cols : {7, 300, 3000, 100000}) {
    const auto values = randomVector<float>(2 * cols, 5);
    const DeviceArray<float> in(values);
    DeviceArray<float> first(2);
    reduceRows(in.data(), 2, cols, cols, first.data());
    for (int run = 0; run < 3; ++run) {
      DeviceArray<float> again(2);
      reduceRows(in.data(), 2, cols, cols, again.data(), gpuopt::Plus{}, nullptr, &workspace);
      CHECK(first.toHost() == again.toHost());
    }
    for (std::size_t r = 0; r < 2; ++r) {
      const std::vector<float> row(values.begin() + static_cast<std::ptrdiff_t>(r * cols),
                                   values.begin() + static_cast<std::ptrdiff_t>((r + 1) * cols));
      const ExactSum exact = sumExactly(row);
      CHECK(std::abs(static_cast<double>(first.toHost()[r] - exact.sum)) <=
            exact.tolerance(std::numeric_limits<float>::epsilon(), cols));
    }
  }
}

TEST_CASE("reduceRows has nothing to do without rows, and neutral elements to write without columns") {
  reduceRows(static_cast<const float*>(nullptr), 0, 5, 5, static_cast<float*>(nullptr));
  DeviceArray<float> out(300);
  reduceRows(static_cast<const float*>(nullptr), 300, 0, 0, out.data(), gpuopt::Minimum{});
  CHECK(out.toHost() == std::vector<float>(300, std::numeric_limits<float>::infinity()));
}

TEST_CASE("reduceRows rejects bad arguments") {
  DeviceArray<float> in(12);
  DeviceArray<float> out(3);
  const float* null = nullptr;
  CHECK_THROWS_AS(reduceRows(in.data(), 3, 4, 3, out.data()), std::invalid_argument);
  CHECK_THROWS_AS(reduceRows(null, 3, 4, 4, out.data()), std::invalid_argument);
  CHECK_THROWS_AS(reduceRows(in.data(), 3, 4, 4, static_cast<float*>(nullptr)), std::invalid_argument);
  CHECK_THROWS_AS(reduceRows(in.data(), 3, 0, 4, out.data(), UnknownPlus{}), std::invalid_argument);
  try {
    reduceRows(in.data(), 3, 5, 3, out.data());
  } catch (const std::invalid_argument& error) {
    // WRITTEN reduce: reduceRows(in, rows, 5, 3, out)
    // DO: ld counts the elements from row to row: at least cols
    CHECK(std::string(error.what()) == "gpuopt::reduceRows: ld (3) is less than cols (5)");
  }
}

}  // namespace rows_test
