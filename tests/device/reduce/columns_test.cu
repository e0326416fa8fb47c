/// Columns of matrices of every shape and layout against serial oracles, on both sides of every boundary of
/// ReduceColumnsPolicy.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/matrix_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace columns_test {

using namespace gpuopt::test;
using gpuopt::reduceColumns;

// Groups where little data would not make any.
struct EarlyGroups : gpuopt::detail::ReduceColumnsPolicy {
  static constexpr std::size_t groupedResults = 8;
};

// Reads unaligned rows by vectors from the narrowest ones on.
struct EarlyShifts : gpuopt::detail::ReduceColumnsPolicy {
  static constexpr std::size_t shiftedColumns = 2;
};

// The same with narrow tiles.
struct NarrowTiles : EarlyShifts {
  static constexpr unsigned shiftedTileSteps = 4;
};

template <class A, class T, class Op>
std::vector<A> columnsOf(const HostMatrix<T>& matrix, Op op) {
  std::vector<A> results;
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    A result = static_cast<A>(matrix.values[c]);
    for (std::size_t r = 1; r < matrix.rows; ++r)
      result = static_cast<A>(op(result, static_cast<A>(matrix.values[r * matrix.ld + c])));
    results.push_back(result);
  }
  return results;
}

template <class T, class Policy = gpuopt::detail::ReduceColumnsPolicy, class Op>
void checkColumns(std::size_t rows, std::size_t cols, std::size_t ld, std::size_t offset, Op op) {
  static Series cases;
  if (!cases.runsNext()) return;
  CAPTURE(rows, cols, ld, offset, sizeof(T));
  using A = gpuopt::Reduced<gpuopt::DefaultAccumulator, Op, const T*>;
  const auto matrix = HostMatrix<T>::make(rows, cols, ld);
  const DeviceArray<T> in(matrix.values, offset);
  DeviceArray<A> out(cols);
  reduceColumns<gpuopt::DefaultAccumulator, Policy>(in.data(), rows, cols, ld, out.data(), op);
  CHECK(out.toHost() == columnsOf<A>(matrix, op));
}

TEST_CASE("reduceColumns sums matrices of every width") {
  for (const std::size_t cols :
       {1,   2,   3,   4,   5,   7,   8,   12,  13,  16,  31,   32,   33,   64,   100,  127,  128,
        129, 253, 255, 256, 257, 260, 511, 512, 513, 515, 1000, 1023, 1024, 1025, 1028, 1100, 2500})
    for (const std::size_t rows : {1, 2, 3, 50}) checkColumns<float>(rows, cols, cols, 0, gpuopt::Plus{});
}

TEST_CASE("reduceColumns splits tall matrices") {
  for (const std::size_t cols : {1, 2, 3, 4, 7, 32, 33})
    for (const std::size_t rows : {999, 8192, 20000}) checkColumns<float>(rows, cols, cols, 0, gpuopt::Plus{});
  checkColumns<float>(3000, 260, 260, 0, gpuopt::Plus{});
}

TEST_CASE("reduceColumns combines many blocks in groups, and leaves the workspace as it was") {
  gpuopt::Workspace workspace;
  for (const std::size_t cols : {3, 33, 300, 2500}) {
    CAPTURE(cols);
    const auto matrix = HostMatrix<float>::make(3000, cols, cols);
    const DeviceArray<float> in(matrix.values);
    for (int run = 0; run < 2; ++run) {
      DeviceArray<float> out(cols);
      reduceColumns<float, EarlyGroups>(in.data(), 3000, cols, cols, out.data(), gpuopt::Plus{}, nullptr, &workspace);
      CHECK(out.toHost() == columnsOf<float>(matrix, gpuopt::Plus{}));
    }
  }
}

TEST_CASE("reduceColumns starts at any element") {
  for (const std::size_t cols : {1, 2, 3, 4, 5, 8, 31, 64, 1024, 1100})
    for (std::size_t offset = 1; offset < 4; ++offset)
      for (const std::size_t rows : {1, 5, 500})
        checkColumns<float>(cols > 64 ? 6 : rows, cols, cols, offset, gpuopt::Plus{});
}

TEST_CASE("reduceColumns leaves out the elements between rows") {
  for (const std::size_t cols : {1, 3, 4, 8, 20, 32, 33, 64, 100, 256, 300, 1024, 1100})
    for (const std::size_t gap : {1, 4, 100})
      checkColumns<float>(cols < 100 ? 700 : 20, cols, cols + gap, 0, gpuopt::Plus{});
}

TEST_CASE("reduceColumns reads rows that begin anywhere by vectors", "[sweep]") {
  for (std::size_t offset = 0; offset < 4; ++offset)
    for (const std::size_t gap : {0, 1, 2, 3})
      for (const std::size_t rows : {1, 3, 4, 5, 300}) {
        checkColumns<float, EarlyShifts>(rows, 35, 35 + gap, offset, gpuopt::Plus{});
        checkColumns<float, NarrowTiles>(rows, 35, 35 + gap, offset, UnknownPlus{});
        checkColumns<float>(rows, 513, 513 + gap, offset, gpuopt::Plus{});
      }
}

TEST_CASE("reduceColumns reads rows of every width that begin anywhere", "[sweep]") {
  std::vector<std::size_t> widths;
  for (std::size_t cols = 1; cols <= 130; ++cols) widths.push_back(cols);
  for (const std::size_t cols : {1000, 1001, 1002, 1003}) widths.push_back(cols);
  for (const std::size_t cols : widths)
    for (std::size_t offset = 0; offset < 4; ++offset)
      for (std::size_t gap = 1 + (cols + offset) % 2; gap <= 5; gap += 2) {
        checkColumns<float, EarlyShifts>(21, cols, cols + gap, offset, gpuopt::Plus{});
        if (cols % 8 > 5) checkColumns<float, NarrowTiles>(21, cols, cols + gap, offset, gpuopt::Plus{});
      }
}

TEMPLATE_TEST_CASE("reduceColumns reads rows of any elements that begin anywhere", "[sweep]", signed char,
                   unsigned short, double, Bytes3, Float3, __half) {
  for (const std::size_t cols : {31, 32, 33, 60, 517, 1001})
    for (const std::size_t offset : {0, 1, 6, 15})
      for (const std::size_t gap : {0, 1, 4, 7}) {
        checkColumns<TestType, EarlyShifts>(35, cols, cols + gap, offset, gpuopt::Plus{});
        checkColumns<TestType, NarrowTiles>(16, cols, cols + gap, offset, gpuopt::Plus{});
      }
}

TEST_CASE("reduceColumns splits tall matrices whose rows begin anywhere") {
  for (const std::size_t cols : {64, 125, 1001})
    for (const std::size_t gap : {0, 1, 2})
      checkColumns<float, EarlyShifts>(200000 / cols, cols, cols + gap, 1, gpuopt::Plus{});
  checkColumns<signed char, EarlyShifts>(2000, 101, 102, 5, gpuopt::Plus{});
}

TEMPLATE_TEST_CASE("reduceColumns takes elements of any size", "", signed char, unsigned short, double, std::int64_t,
                   Bytes3, Float3, Words5, Words25, __half) {
  for (const std::size_t cols : {1, 2, 5, 8, 16, 31, 48, 250, 700})
    for (const std::size_t gap : {0, 1, 16})
      checkColumns<TestType>(cols < 40 ? 200 : 9, cols, cols + gap, 1, gpuopt::Plus{});
}

TEST_CASE("reduceColumns needs no neutral element") {
  for (const std::size_t cols : {1, 3, 16, 33, 129, 1100})
    for (const std::size_t gap : {0, 1, 4}) {
      checkColumns<int>(300, cols, cols + gap, 1, UnknownPlus{});
      checkColumns<float>(300, cols, cols + gap, 0, gpuopt::Maximum{});
    }
}

TEST_CASE("reduceColumns needs no neutral element, whatever the accumulator's size") {
  const auto matrix = HostMatrix<signed char>::make(1000, 21, 21);
  const DeviceArray<signed char> in(matrix.values, 3);
  DeviceArray<std::int64_t> out(21);
  reduceColumns<std::int64_t>(in.data(), 1000, 21, 21, out.data(), UnknownPlus{});
  CHECK(out.toHost() == columnsOf<std::int64_t>(matrix, UnknownPlus{}));
}

TEST_CASE("reduceColumns combines the initial value with every column") {
  for (const std::size_t rows : {0, 3, 5000}) {
    CAPTURE(rows);
    const auto matrix = HostMatrix<int>::make(rows, 5, 5);
    const DeviceArray<int> in(matrix.values);
    DeviceArray<int> out(5);
    reduceColumns(in.data(), rows, 5, 5, out.data(), UnknownPlus{}, 1000);
    std::vector<int> expected(5, 1000);
    if (rows > 0) {
      expected = columnsOf<int>(matrix, gpuopt::Plus{});
      for (int& value : expected) value += 1000;
    }
    CHECK(out.toHost() == expected);
  }
}

TEST_CASE("reduceColumns reads iterators") {
  for (const std::size_t cols : {1, 5, 32, 300}) {
    CAPTURE(cols);
    for (const std::size_t gap : {0, 3}) {
      const std::size_t rows = 500;
      DeviceArray<std::int64_t> out(cols);
      reduceColumns(Squares{}, rows, cols, cols + gap, out.data());
      std::vector<std::int64_t> expected(cols, 0);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < cols; ++c)
          expected[c] += Squares{}[static_cast<std::ptrdiff_t>(r * (cols + gap) + c)];
      CHECK(out.toHost() == expected);
    }
  }
}

TEST_CASE("reduceColumns gives the same bits on every run, with any workspace") {
  gpuopt::Workspace workspace;
  for (const std::size_t cols : {3, 40, 1100}) {
    const std::size_t rows = 30000 / cols;
    const DeviceArray<float> in(randomVector<float>(rows * cols, 5));
    DeviceArray<float> first(cols);
    DeviceArray<float> second(cols);
    reduceColumns(in.data(), rows, cols, cols, first.data());
    reduceColumns(in.data(), rows, cols, cols, second.data(), gpuopt::Plus{}, nullptr, &workspace);
    CHECK(first.toHost() == second.toHost());
  }
}

TEST_CASE("reduceColumns has nothing to do without columns, and neutral elements to write without rows") {
  reduceColumns(static_cast<const float*>(nullptr), 5, 0, 5, static_cast<float*>(nullptr));
  for (const std::size_t cols : {1, 33, 1100}) {
    DeviceArray<float> out(cols);
    reduceColumns(static_cast<const float*>(nullptr), 0, cols, cols + 1, out.data(), gpuopt::Maximum{});
    CHECK(out.toHost() == std::vector<float>(cols, -std::numeric_limits<float>::infinity()));
  }
}

TEST_CASE("reduceColumns rejects bad arguments") {
  DeviceArray<float> in(12);
  DeviceArray<float> out(4);
  const float* null = nullptr;
  CHECK_THROWS_AS(reduceColumns(in.data(), 3, 4, 3, out.data()), std::invalid_argument);
  CHECK_THROWS_AS(reduceColumns(null, 3, 4, 4, out.data()), std::invalid_argument);
  CHECK_THROWS_AS(reduceColumns(in.data(), 3, 4, 4, static_cast<float*>(nullptr)), std::invalid_argument);
  CHECK_THROWS_AS(reduceColumns(in.data(), 0, 4, 4, out.data(), UnknownPlus{}), std::invalid_argument);
  try {
    reduceColumns(in.data(), 3, 5, 3, out.data());
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()) == "gpuopt::reduceColumns: ld (3) is less than cols (5)");
  }
}

}  // namespace columns_test
