/// Extremes, positions and moments of rows against serial code, on both sides of every boundary of ReduceRowsPolicy.
// SPDX-License-Identifier: MIT
#include "line_statistics.cuh"
#include "low_lines.cuh"
#include "support/catch.hpp"

#include <cuda_fp16.h>

#include <cstddef>
#include <initializer_list>
#include <set>
#include <vector>

namespace gpuopt::test::row_statistics_test {
namespace {

using Low = Rows<LowRows>;
using Default = Rows<detail::ReduceRowsPolicy>;

// The lengths beside each boundary, in bytes, and short ones.
template <class T>
std::set<std::size_t> lengths(std::initializer_list<std::size_t> boundaries) {
  std::set<std::size_t> result{1, 2, 3, 5, 8, 17};
  for (const std::size_t bytes : boundaries)
    for (const std::size_t step : {0, 1, 2}) result.insert(bytes / sizeof(T) + step - 1);
  return result;
}

template <class T>
void checkLengths(Data data, std::initializer_list<std::size_t> boundaries) {
  for (const std::size_t cols : lengths<T>(boundaries))
    for (const std::size_t gap : {std::size_t{0}, std::size_t{1}, 16 / sizeof(T), cols + 16}) {
      const std::size_t ld = cols + gap, offset = (cols + gap) % 3;
      checkStatistics<Low, T>(data, 3, cols, ld, offset);
      if (cols * sizeof(T) <= 1100 && gap < 16) checkStatistics<Low, T>(data, 17, cols, ld, gap % 2 == 0 ? 0 : offset);
    }
}

TEMPLATE_TEST_CASE("Statistics of rows of every length", "[rowStatistics][sweep]", signed char, float, double, __half) {
  checkLengths<TestType>(Data::ties, {16, 256, 512, 1024});
  checkLengths<TestType>(Data::numbers, {112, 256, 1024, 2048, 6000});
}

TEMPLATE_TEST_CASE("NaN, infinities and zeros of both signs in rows", "[rowStatistics][sweep]", float, double, __half) {
  checkLengths<TestType>(Data::special, {16, 112, 256, 512, 1024, 2048, 6000});
}

TEST_CASE("Statistics of rows, each kernel", "[rowStatistics]") {
  for (const std::size_t cols : {6, 12, 100, 200, 400, 1000})
    for (const std::size_t gap : {0, 1})
      for (const std::size_t rows : {2, 20}) checkStatistics<Low, float>(Data::special, rows, cols, cols + gap, 1);
}

TEST_CASE("Statistics of rows under the policy of the library", "[rowStatistics][sweep]") {
  for (const std::size_t cols : {1, 4, 7, 28, 64, 239, 240, 256, 500, 512, 513, 1000, 1024, 1028, 4096, 5001})
    for (const std::size_t gap : {0, 3, 4})
      checkStatistics<Default, float>(cols % 2 == 0 ? Data::special : Data::ties, 5, cols, cols + gap, gap / 2);
  checkStatistics<Default, float>(Data::ties, 2, 40000, 40001, 1);
  checkStatistics<Default, float>(Data::ties, 2, 90001, 90001, 1);
  checkStatistics<Default, float>(Data::numbers, 2000, 20, 20, 0);
  checkStatistics<Default, float>(Data::ties, 1500, 31, 32, 1);
}

TEST_CASE("Statistics of rows that iterators give", "[rowStatistics]") {
  for (const std::size_t cols : {1, 5, 32, 63, 64, 100, 255, 256, 300, 2000})
    for (const std::size_t gap : {0, 3}) {
      checkIterator<Low>(3, cols, cols + gap);
      if (cols < 300) checkIterator<Low>(40, cols, cols + gap);
    }
  checkIterator<Default>(2, 20000, 20000);
}

// Indices count from the start of the row, or the column, also far inside a matrix.
TEST_CASE("Minima that lie far inside a matrix", "[rowStatistics]") {
  const std::size_t rows = 300, cols = 90;
  std::vector<float> values(rows * cols, 1);
  for (std::size_t r = 0; r < rows; ++r) values[r * cols + r % cols] = -static_cast<float>(r);
  const DeviceArray<float> in(values);
  DeviceArray<ArgResult<float>> ofRows(rows), ofColumns(cols);
  argMinRows(in.data(), rows, cols, ofRows.data());
  argMinColumns(in.data(), rows, cols, ofColumns.data());
  for (std::size_t r = 1; r < rows; ++r) REQUIRE(ofRows.toHost()[r].index == r % cols);
  for (std::size_t c = 0; c < cols; ++c) REQUIRE(ofColumns.toHost()[c].index == (rows - 1 - c) / cols * cols + c);
}

}  // namespace
}  // namespace gpuopt::test::row_statistics_test
