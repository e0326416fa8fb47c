/// Scans of columns: one tile, chains of tiles and of groups of them, every alignment; order and bits.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/scan_data.cuh"

#include <cstddef>
#include <vector>

namespace gpuopt::test::scan_columns_test {
namespace {

TEST_CASE("Columns of one tile", "[rows][scan]") {
  for (const std::size_t rows : {1, 2, 15, 16, 17, 31, 32, 33, 64, 512})
    for (const std::size_t cols : {3, 65}) checkScans<false, unsigned>(rows, cols, Plus{}, 3u);
}

TEST_CASE("Columns that blocks take whole", "[rows][scan]") {
  for (const std::size_t rows : {65, 257, 511, 513, 1023, 1025, 2048})
    for (const std::size_t cols : {3, 17}) checkScans<false, unsigned>(rows, cols, Plus{}, 3u);
}

TEST_CASE("Columns of several tiles", "[rows][scan]") {
  for (const std::size_t rows : {2049, 2300}) checkScans<false, unsigned>(rows, 70, Plus{}, 3u);
}

TEST_CASE("Columns of several groups of tiles", "[rows][scan]") {
  checkScan<false, Forward, false, unsigned>({30000, 4, {4, 0}, {4, 0}}, Plus{}, 3u);
  checkScan<false, Reversed, true, unsigned>({12001, 3, {3, 1}, {3, 2}}, Plus{}, 3u);
}

TEST_CASE("More columns than a launch has slots for", "[rows][scan][sweep]") {
  checkScan<false, Forward, true, unsigned>({600, 9000, {9000, 0}, {9000, 0}}, Plus{}, 3u);
}

TEST_CASE("Values of a column are combined in their order", "[rows][scan]") {
  for (const std::size_t rows : {9, 700, 3000}) checkScans<false, Affine>(rows, 5, Compose{}, Affine{3, 5});
  constexpr std::size_t ROWS = 5000;
  std::vector<Span> spans = Elements<Span>::make(ROWS, 0);
  const DeviceArray<Span> in(spans);
  DeviceArray<Span> out(ROWS);
  inclusiveScanColumns(in.data(), out.data(), ROWS, 1, CombineSpans{});
  for (std::size_t i = 0; i < ROWS; ++i) spans[i] = {0, static_cast<int>(i), 1};
  REQUIRE((out.toHost() == spans));
}

TEST_CASE("Columns of elements of every size, and results of another type", "[rows][scan][sweep]") {
  for (const std::size_t rows : {5, 600}) {
    checkTwoScans<false, unsigned char, unsigned>(rows, 300, Plus{}, 3u);
    checkTwoScans<false, unsigned char>(rows, 300, Plus{}, 3u);
    checkTwoScans<false, float, double>(rows, 50, Plus{}, 0.0);
    checkTwoScans<false, Words6>(rows, 20, Plus{}, Words6{});
    checkTwoScans<false, Bytes3>(rows, 20, UnknownPlus{}, Bytes3{});
  }
}

TEST_CASE("The same bits of columns each time", "[rows][scan]") {
  constexpr std::size_t ROWS = 20000, COLS = 3;
  const DeviceArray<float> in(randomVector<float>(ROWS * COLS, 5));
  DeviceArray<float> first(ROWS * COLS), second(ROWS * COLS);
  inclusiveScanColumns(in.data(), first.data(), ROWS, COLS);
  inclusiveScanColumns(in.data(), second.data(), ROWS, COLS);
  REQUIRE((first.toHost() == second.toHost()));
}

}  // namespace
}  // namespace gpuopt::test::scan_columns_test
