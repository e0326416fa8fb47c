/// Extremes, positions and moments of columns against serial code, on both sides of the boundaries of
/// ReduceColumnsPolicy.
// SPDX-License-Identifier: MIT
#include "line_statistics.cuh"
#include "low_lines.cuh"
#include "support/catch.hpp"

#include <cuda_fp16.h>

#include <cstddef>
#include <vector>

namespace gpuopt::test::column_statistics_test {
namespace {

// No groups, few splits, and some unaligned rows read element by element.
struct FewSplits : LowColumns {
  static constexpr std::size_t blocks = 6;
  static constexpr std::size_t groupedResults = 8 << 10;
  static constexpr std::size_t shiftedColumns = 40;
};

using Low = Columns<LowColumns>;
using Few = Columns<FewSplits>;
using Default = Columns<detail::ReduceColumnsPolicy>;

template <class T>
void checkShapes(Data data) {
  for (const std::size_t cols : {1, 2, 3, 7, 8, 16, 23, 24, 25, 32, 33, 39, 40, 64, 97, 130})
    for (const std::size_t gap : {std::size_t{0}, std::size_t{1}, 16 / sizeof(T)}) {
      const std::size_t offset = (cols + gap) % 3;
      checkStatistics<Low, T>(data, cols % 2 == 0 ? 61 : 7, cols, cols + gap, offset);
      if constexpr (std::is_same_v<T, float>)  // what splits do is the same for all types
        checkStatistics<Few, T>(data, cols < 30 ? 200 : 18, cols, cols + gap, gap % 2 == 0 ? 0 : offset);
    }
}

TEMPLATE_TEST_CASE("Statistics of columns of every shape", "[columnStatistics][sweep]", signed char, float, double,
                   __half) {
  checkShapes<TestType>(Data::ties);
  checkShapes<TestType>(Data::numbers);
}

TEMPLATE_TEST_CASE("NaN, infinities and zeros of both signs in columns", "[columnStatistics][sweep]", float, double,
                   __half) {
  checkShapes<TestType>(Data::special);
}

TEST_CASE("Statistics of columns, each kernel", "[columnStatistics]") {
  for (const std::size_t cols : {6, 32, 101})
    for (const std::size_t gap : {0, 1})
      for (const std::size_t rows : {2, 90}) checkStatistics<Low, float>(Data::special, rows, cols, cols + gap, 1);
}

TEST_CASE("Statistics of columns under the policy of the library", "[columnStatistics][sweep]") {
  for (const std::size_t cols : {1, 4, 7, 31, 128, 129, 159, 160, 161, 511, 512, 513, 600})
    for (const std::size_t gap : {0, 3, 4})
      checkStatistics<Default, float>(cols % 2 == 0 ? Data::special : Data::ties, 40, cols, cols + gap, gap / 2);
  checkStatistics<Default, float>(Data::ties, 20000, 3, 3, 1);
  checkStatistics<Default, float>(Data::special, 3000, 33, 33, 1);
  checkStatistics<Default, float>(Data::ties, 2000, 101, 102, 5);
}

TEST_CASE("Statistics of columns that iterators give", "[columnStatistics]") {
  for (const std::size_t cols : {1, 5, 24, 25, 100})
    for (const std::size_t gap : {0, 3}) checkIterator<Low>(70, cols, cols + gap);
  checkIterator<Default>(3000, 3, 4);
}

}  // namespace
}  // namespace gpuopt::test::column_statistics_test
