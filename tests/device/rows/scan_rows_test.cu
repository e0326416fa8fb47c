/// Scans of rows: every kernel, around all boundaries of the plan, at every alignment; order, bits, forms of arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/scan_data.cuh"

#include <gpuopt/host/workspace.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <vector>

namespace gpuopt::test::scan_rows_test {
namespace {

TEST_CASE("Rows of every length", "[rows][scan]") {
  for (const std::size_t cols : {1, 2, 3, 4, 5, 8, 31, 32, 33, 36, 64, 65, 127, 128, 129, 256, 257, 512})
    checkScans<true, unsigned>(cols < 64 ? 70 : 5, cols, Plus{}, 3u);
}

TEST_CASE("Rows of a block, and of several tiles of it", "[rows][scan]") {
  for (const std::size_t cols : {513, 1000, 2048, 2052, 4096, 8192, 8193})
    checkScans<true, unsigned>(3, cols, Plus{}, 3u);
}

TEST_CASE("Rows of several blocks, and of several groups of them", "[rows][scan]") {
  checkScans<true, unsigned>(3, 12289, Plus{}, 3u);
  checkScan<true, Forward, false, unsigned>({2, 131073, {131076, 0}, {131076, 0}}, Plus{}, 3u);
  checkScan<true, Reversed, true, unsigned>({1, 300001, {300001, 1}, {300001, 1}}, Plus{}, 3u);
}

TEST_CASE("A row of many groups of blocks", "[rows][scan]") {
  checkScan<true, Forward, false, unsigned char, unsigned>({1, 500003, {500003, 1}, {500003, 2}}, Plus{}, 3u);
}

TEST_CASE("Many rows of several blocks", "[rows][scan]") {
  checkScan<true, Forward, false, unsigned>({100, 9000, {9000, 1}, {9000, 2}}, Plus{}, 3u);
}

TEST_CASE("Values are combined in their order", "[rows][scan]") {
  for (const std::size_t cols : {7, 100, 700, 5000, 9000}) checkScans<true, Affine>(3, cols, Compose{}, Affine{3, 5});
  for (const std::size_t cols : {7, 100, 700, 9000}) {
    std::vector<Span> spans = Elements<Span>::make(cols, 0);
    const DeviceArray<Span> in(spans);
    DeviceArray<Span> out(cols);
    inclusiveScanRows(in.data(), out.data(), 1, cols, CombineSpans{});
    for (std::size_t i = 0; i < cols; ++i) spans[i] = {0, static_cast<int>(i), 1};
    REQUIRE((out.toHost() == spans));
  }
}

TEST_CASE("Elements of every size, and results of another type", "[rows][scan][sweep]") {
  for (const std::size_t cols : {5, 300, 5000}) {
    checkTwoScans<true, unsigned char, unsigned>(3, cols, Plus{}, 3u);
    checkTwoScans<true, unsigned char>(3, cols, Plus{}, 3u);
    checkTwoScans<true, float, double>(3, cols, Plus{}, 0.0);
    checkTwoScans<true, double>(3, cols, Maximum{}, -9.0);
    checkTwoScans<true, Words6>(3, cols, Plus{}, Words6{});
    checkTwoScans<true, Bytes3>(3, cols, UnknownPlus{}, Bytes3{});
  }
}

TEST_CASE("Halves accumulate in float", "[rows][scan]") {
  constexpr std::size_t COLS = 4096;
  const DeviceArray<__half> in(std::vector<__half>(COLS, __float2half(1.0f)));
  DeviceArray<float> out(COLS);
  inclusiveScanRows(in.data(), out.data(), 1, COLS);
  const std::vector<float> sums = out.toHost();
  for (std::size_t i = 0; i < COLS; ++i) REQUIRE(sums[i] == static_cast<float>(i + 1));
}

TEST_CASE("The same bits each time", "[rows][scan]") {
  constexpr std::size_t ROWS = 3, COLS = 20001;
  const DeviceArray<float> in(randomVector<float>(ROWS * COLS, 5));
  DeviceArray<float> first(ROWS * COLS), second(ROWS * COLS);
  Workspace workspace;
  inclusiveScanRows(in.data(), first.data(), ROWS, COLS, nullptr, &workspace);
  inclusiveScanRows(in.data(), second.data(), ROWS, COLS, Plus{}, nullptr, &workspace);
  REQUIRE((first.toHost() == second.toHost()));
}

TEST_CASE("Rows of a batch are rows of one matrix", "[rows][scan]") {
  const std::vector<unsigned> values = Elements<unsigned>::make(4 * 3 * 10, 1);
  const DeviceArray<unsigned> in(values);
  DeviceArray<unsigned> out(values.size());
  exclusiveScanRows<Reversed>(MatrixView<const unsigned>{in.data(), 3, 10, 10, 4},
                              MatrixView<unsigned>{out.data(), 3, 10, 10, 4}, 1u);
  std::vector<unsigned> expected(values.size());
  scanSerially<true, Reversed, true>(values, expected, {12, 10, {10, 0}, {10, 0}}, Plus{}, 1u);
  REQUIRE((out.toHost() == expected));
}

TEST_CASE("Nothing to scan", "[rows][scan]") {
  float* const none = nullptr;
  inclusiveScanRows(none, none, 0, 100);
  inclusiveScanRows(none, none, 100, 0);
  exclusiveScanColumns(none, none, 0, 100, 0.0f);
  CHECK(explainScanRows(none, none, 0, 100) == "nothing to launch: no elements");
}

}  // namespace
}  // namespace gpuopt::test::scan_rows_test
