/// Which kernels reduce rows, columns and segments: in numbers, and in words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpuopt::test::lines_plan_test {
namespace {

using detail::MatrixShape;
using detail::ReduceColumnsAlgorithm;
using detail::ReduceColumnsPlan;
using detail::ReduceRowsAlgorithm;
using detail::ReduceRowsPlan;

// Rows of floats in an array, whose partial results are floats.
ReduceRowsPlan planRows(const MatrixShape& matrix, bool areAligned, bool combinesSlowly = false) {
  return detail::planReduceRows<detail::ReduceRowsPolicy>({matrix, 4, 4, 4, 4, areAligned, true, true, combinesSlowly});
}

TEST_CASE("The kernel of rows follows from their length and alignment", "[rows]") {
  using Algorithm = ReduceRowsAlgorithm;
  struct Row {
    MatrixShape matrix;
    bool areAligned, combinesSlowly;
    Algorithm algorithm;
    std::size_t threads, blocks;
    unsigned lanes;
  };
  constexpr Row rows[] = {
      {{0, 100, 100}, false, false, Algorithm::nothing, 0, 0, 0},
      {{1000000, 3, 3}, false, false, Algorithm::staged, 128, 736, 1},
      {{1000, 16, 16}, true, false, Algorithm::lanes, 128, 4, 2},
      {{1000, 16, 32}, false, false, Algorithm::staged, 128, 8, 1},
      {{1000, 16, 33}, false, false, Algorithm::lanes, 128, 8, 4},  // the gaps are too large
      {{1000, 511, 511}, false, false, Algorithm::staged, 128, 125, 16},
      {{1000, 512, 512}, false, false, Algorithm::warp, 256, 125, 0},
      {{1000, 512, 512}, true, true, Algorithm::lanes, 128, 125, 16},
      {{1000, 512, 512}, false, true, Algorithm::warp, 256, 125, 0},
      {{1000, 4095, 4095}, false, false, Algorithm::warp, 256, 125, 0},
      {{1000, 4096, 4096}, true, false, Algorithm::block, 256, 1000, 0},
      {{8191, 4096, 4096}, true, true, Algorithm::block, 256, 8191, 0},
      {{8192, 4096, 4096}, true, true, Algorithm::warp, 256, 1024, 0},
      {{4, 1 << 20, 1 << 20}, true, false, Algorithm::block, 256, 512, 0},
      {{2048, 1 << 20, 1 << 20}, true, false, Algorithm::block, 256, 4096, 0},
      {{2049, 1 << 20, 1 << 20}, true, false, Algorithm::block, 256, 2049, 0},
  };
  for (const Row& row : rows) {
    const ReduceRowsPlan plan = planRows(row.matrix, row.areAligned, row.combinesSlowly);
    INFO(row.matrix.rows << " x " << row.matrix.cols << ": " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    CHECK(plan.grid.threads == row.threads);
    CHECK(plan.grid.blocks == row.blocks);
    CHECK(plan.lanes == row.lanes);
    CHECK(plan.grid.combines == (plan.splits > 1));
    if (row.algorithm == Algorithm::block) CHECK(plan.splits * plan.splitCols >= row.matrix.cols);
  }
}

TEST_CASE("Rows that cannot be staged are read by groups of lanes", "[rows]") {
  detail::ReduceRowsRequest request = planRows({1000, 3, 3}, false).request;
  request.canBeStaged = false;
  CHECK(detail::planReduceRows<detail::ReduceRowsPolicy>(request).algorithm == ReduceRowsAlgorithm::lanes);
  // Memory between rows that may not be read.
  request = planRows({1000, 3, 4}, false).request;
  CHECK(detail::planReduceRows<detail::ReduceRowsPolicy>(request).algorithm == ReduceRowsAlgorithm::staged);
  request.readsGaps = false;
  CHECK(detail::planReduceRows<detail::ReduceRowsPolicy>(request).algorithm == ReduceRowsAlgorithm::lanes);
}

// Floats of which the first is `head` elements before a 16-byte boundary.
ReduceColumnsPlan planColumns(const MatrixShape& matrix, bool areAligned, std::size_t head = 0,
                              std::size_t partialBytes = 4) {
  return detail::planReduceColumns<detail::ReduceColumnsPolicy>(
      {matrix, 4, 4, partialBytes, 4, head, head, areAligned});
}

// Every column is in a tile, every row in a split, and the threads suffice.
bool coversMatrix(const ReduceColumnsPlan& plan) {
  const detail::ColumnTiles& tiles = plan.tiles;
  const bool hasColumns = std::size_t{tiles.tiles} * tiles.tileColumns >= tiles.cols;
  const bool hasRows =
      tiles.splits * tiles.splitRows >= tiles.rows && (tiles.splits - 1) * tiles.splitRows <= tiles.rows;
  const bool hasThreads = tiles.rowThreads > 0 && tiles.tileSteps * tiles.rowThreads <= plan.grid.threads &&
                          tiles.rowThreads % tiles.rowPeriod == 0;
  return hasColumns && hasRows && hasThreads && plan.grid.blocks == std::size_t{tiles.tiles} * tiles.splits;
}

TEST_CASE("The tiles of columns follow from the length and alignment of rows", "[columns]") {
  using Algorithm = ReduceColumnsAlgorithm;
  struct Row {
    MatrixShape matrix;
    bool areAligned;
    std::size_t head;
    Algorithm algorithm;
    unsigned tiles, tileElements;
  };
  constexpr Row rows[] = {
      {{100, 0, 0}, true, 0, Algorithm::nothing, 0, 0},
      {{100000, 3, 3}, false, 0, Algorithm::flat, 1, 12},
      {{100000, 128, 128}, true, 0, Algorithm::flat, 1, 128},
      {{100000, 132, 132}, true, 0, Algorithm::steps, 2, 128},
      {{100000, 512, 512}, false, 1, Algorithm::flat, 1, 512},
      {{100000, 513, 513}, false, 0, Algorithm::steps, 3, 172},
      {{100000, 1024, 1024}, true, 0, Algorithm::steps, 8, 128},
      {{100000, 160, 201}, false, 0, Algorithm::steps, 1, 160},
      {{100000, 159, 201}, false, 0, Algorithm::elements, 2, 128},
      {{4, 1001, 1001}, false, 0, Algorithm::steps, 2, 504},
      {{3, 1001, 1001}, false, 0, Algorithm::elements, 2, 512},
  };
  for (const Row& row : rows) {
    const ReduceColumnsPlan plan = planColumns(row.matrix, row.areAligned, row.head);
    INFO(row.matrix.rows << " x " << row.matrix.cols << ", ld " << row.matrix.ld << ": " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    CHECK(plan.tiles.tiles == row.tiles);
    CHECK(plan.tiles.tileElements == row.tileElements);
    if (row.algorithm != Algorithm::nothing) CHECK(coversMatrix(plan));
  }
}

TEST_CASE("Every plan of columns covers its matrix", "[columns]") {
  for (const std::size_t rows : {0, 1, 3, 4, 100, 4097, 1000000})
    for (std::size_t cols = 1; cols < 100000; cols += cols / 5 + 1)
      for (const std::size_t gap : {0, 1, 4})
        for (const std::size_t head : {0, 3})
          for (const std::size_t partialBytes : {4, 12, 256}) {
            const bool areAligned = head == 0 && cols % 4 == 0 && gap % 4 == 0;
            const ReduceColumnsPlan plan = planColumns({rows, cols, cols + gap}, areAligned, head, partialBytes);
            INFO(rows << " x " << cols << ", gap " << gap << ", head " << head << ": " << planInWords(plan));
            REQUIRE((rows == 0 || plan.tiles.isFlat || coversMatrix(plan)));
            const auto& tiles = plan.tiles;
            if (tiles.isFlat)
              REQUIRE(tiles.rowThreads * tiles.tileElements * partialBytes <= detail::ReduceColumnsPolicy::flatBytes);
            else
              REQUIRE(plan.grid.threads * (plan.algorithm == ReduceColumnsAlgorithm::elements ? 1 : 4) * partialBytes <=
                      detail::ReduceColumnsPolicy::sharedBytes);
            REQUIRE((!tiles.isFlat || (tiles.rowThreads > 0 && tiles.tileSteps <= plan.grid.threads)));
          }
}

TEST_CASE("Segments are divided among as many warps as scratch memory allows", "[segments]") {
  const auto planned = [](std::size_t segments, std::size_t partialBytes) {
    return detail::planReduceSegments<detail::ReduceSegmentsPolicy>({segments, 4, 4, partialBytes, 4});
  };
  CHECK(planned(0, 4).grid.blocks == 0);
  CHECK(planned(1, 4).warps == 16384);
  CHECK(planned(1000000, 4).grid.blocks == 4096);
  CHECK(planned(1000000, 4).longElements == 2048);
  CHECK(planned(1000000, 160).warps == 3276);
  CHECK(planned(1000000, 160).grid.blocks == 819);
}

TEST_CASE("Columns have no more splits than fill the device", "[columns]") {
  struct Row {
    std::size_t mebibytes, cols, partialBytes;
    unsigned threads, tiles, splits;
  };
  constexpr Row rows[] = {{1024, 32, 4, 1024, 1, 132},    // flat: one wave of large blocks
                          {1024, 16, 4, 512, 1, 1056},    // flat and very short: four waves
                          {64, 16, 4, 512, 1, 264},       // or one, of a small matrix
                          {1024, 333, 4, 1024, 1, 132},   // 999 of 1024 threads have steps
                          {1024, 333, 12, 1024, 1, 132},  // the same with 48 KiB of partial results
                          {1024, 333, 16, 512, 1, 196},   // too many for these; what scratch memory allows
                          {1024, 1001, 4, 512, 4, 261},   // not aligned: four waves
                          {64, 1001, 4, 512, 4, 66},      // or one, of a small matrix
                          {64, 5001, 4, 512, 20, 13},     // 260 blocks
                          {64, 10007, 8, 512, 40, 13},    // 520, nearly two waves: one would have 240
                          {64, 10007, 12, 512, 40, 6},    // 240 instead of 320, which scratch memory would allow
                          {64, 100000, 4, 512, 782, 1},   // more tiles than four waves have blocks
                          {1024, 1024, 12, 512, 8, 33}};  // aligned: one wave
  for (const Row& row : rows) {
    CAPTURE(row.mebibytes, row.cols, row.partialBytes);
    const MatrixShape matrix{(row.mebibytes << 18) / row.cols, row.cols, row.cols};
    const auto plan = detail::planReduceColumns<detail::ReduceColumnsPolicy>(
        {matrix, 4, 4, row.partialBytes, 4, 0, 0, row.cols % 4 == 0});
    CHECK(plan.grid.threads == row.threads);
    CHECK(plan.tiles.tiles == row.tiles);
    CHECK(plan.tiles.splits == row.splits);
  }
}

TEST_CASE("Reductions of lines say what they launch", "[rows][columns][segments]") {
  const DeviceArray<float> in(100 * 101);
  const float* const data = in.data();
  CHECK(
      explainReduceRows(data, 100, 100, 100) ==
      "4 lanes a row, by vectors, 4 blocks of 128 threads: rows are short, and consist of vectors; reads 40000 bytes, "
      "writes 400");
  CHECK(explainReduceRows<double>(data, 100, 99, 101, Maximum{}) ==
        "tiles of 40 rows in shared memory, 2 lanes a row, 3 blocks of 128 threads: rows are short, and do not consist "
        "of vectors; reads 39600 bytes, writes 800");
  CHECK(explainReduceRows(data, 2, 5000, 5000) ==
        "a block a row, 2 blocks of 256 threads: rows are long; reads 40000 bytes, writes 8");
  CHECK(explainReduceColumns(data, 100, 100, 100) ==
        "flat rows of 100 columns by vectors, 1 across, 1 down, 1 block of 1024 threads: rows are short, without gaps; "
        "reads 40000 bytes, writes 400");
  CHECK(explainReduceColumns(data, 100, 100, 101).find("tiles of 100 columns, 1 across, ") == 0);
  const DeviceArray<int> offsets(101);
  CHECK(explainReduceSegments(data, offsets.data(), 100) ==
        "16384 warps, 4096 blocks of 128 threads: elements and ends of segments are divided evenly, among blocks if "
        "segments have 2048 elements on average; reads 404 bytes and all elements, writes 400");
  CHECK(explainReduceRows(data, 0, 100, 100) == "nothing to launch: no rows");
  CHECK(explainReduceColumns(data, 100, 0, 0) == "nothing to launch: no columns");
  CHECK(explainReduceSegments(data, offsets.data(), 0) == "nothing to launch: no segments");
  CHECK(explainReduceRows(MatrixView<const float>{data, 4, 100, 100, 0, 7}) == "nothing to launch: no matrices");
  CHECK_THROWS_AS(explainReduceRows(data, 10, 100, 99), std::invalid_argument);
  CHECK_THROWS_AS(explainReduceColumns(data, 10, 100, 99), std::invalid_argument);
  CHECK_THROWS_AS(explainReduceSegments(data, static_cast<const int*>(nullptr), 100), std::invalid_argument);
}

// A container of device memory.
struct Floats {
  const float* first;
  std::size_t count;

  const float* data() const { return first; }
  std::size_t size() const { return count; }
};

TEST_CASE("Explanations of lines take the forms that the calls take", "[rows][columns]") {
  const DeviceArray<float> in(100 * 101);
  const float* const data = in.data();
  const auto check = [&](const auto& explain) {
    const std::string sums = explain(data, 100, 99, 99), maxima = explain(data, 100, 99, 101, Maximum{});
    CHECK(explain(data, 100, 99) == sums);
    CHECK(explain(data, 100, 99, Plus{}) == sums);
    CHECK(explain(Floats{data, 9900}, 100, 99) == sums);
    CHECK(explain(MatrixView<const float>{data, 100, 99}) == sums);
    CHECK(explain(Floats{data, 10098}, 100, 99, 101, Maximum{}) == maxima);
    CHECK(explain(MatrixView<const float>{data, 100, 99, 101}, Maximum{}) == maxima);
    CHECK(explain(MatrixView<const float>{data, 30, 99, 99, 3, 3000}) ==
          "3 launches, the first: " + explain(data, 30, 99));
    CHECK_THROWS_AS(explain(Floats{data, 9899}, 100, 99), std::invalid_argument);
  };
  check([](const auto&... args) { return explainReduceRows(args...); });
  check([](const auto&... args) { return explainReduceColumns(args...); });
  const MatrixView<const float> batch{data, 25, 100, 100, 4, 2500};
  CHECK(explainReduceRows(batch) == explainReduceRows(data, 100, 100));
  CHECK(explainReduceColumns(batch) == "4 launches, the first: " + explainReduceColumns(data, 25, 100));
}

}  // namespace
}  // namespace gpuopt::test::lines_plan_test
