/// Which kernel scans rows and columns, and what calls refuse: pure host code.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/device/rows/scan_plan.cuh>
#include <gpuopt/rows_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpuopt::test::scan_plan_test {
namespace {

using detail::planScanColumns, detail::planScanRows, detail::ScanAlgorithm, detail::ScanPlan, detail::ScanRequest;

// Floats, of which the addresses are aligned to 256 bytes and `shift` more elements.
ScanRequest floats(std::size_t rows, std::size_t cols, std::size_t shift = 0) {
  const std::uintptr_t in = (std::uintptr_t{1} << 40) + 4 * shift, out = (std::uintptr_t{1} << 41) + 4 * shift;
  return {in, out, rows, cols, cols, cols, 4, 4, 4, 4, false, 132};
}

TEST_CASE("Kernels of rows", "[rows][scan]") {
  CHECK(planScanRows(floats(0, 5)).algorithm == ScanAlgorithm::nothing);
  CHECK(planScanRows(floats(1000, 32)).steps == 1);
  CHECK(planScanRows(floats(1000, 36)).steps == 2);
  CHECK(planScanRows(floats(1000, 256)).algorithm == ScanAlgorithm::shortRows);
  CHECK(planScanRows(floats(1000, 260)).algorithm == ScanAlgorithm::rows);
  CHECK(planScanRows(floats(1000, 129280)).algorithm == ScanAlgorithm::rows);
  CHECK(planScanRows(floats(100, 8192)).algorithm == ScanAlgorithm::rows);
  CHECK(planScanRows(floats(100, 8196)).algorithm == ScanAlgorithm::longRows);
}

TEST_CASE("Blocks of a long row", "[rows][scan]") {
  const ScanPlan one = planScanRows(floats(1, 129280));
  CHECK((one.chain.tiles == 32 && one.chain.group == 32 && one.threads == 256 && !one.chain.isZeroedBefore));
  const ScanPlan many = planScanRows(floats(1, std::size_t{1} << 30));
  CHECK((many.chain.tiles == 65536 && many.threads == 1024 && many.chain.isZeroedBefore && many.launches == 1));
  CHECK(many.chain.words() <= detail::scanManySlotWords);
  CHECK(many.chain.counters() <= detail::scanArrivals);
  const ScanPlan rows = planScanRows(floats(263, std::size_t{1} << 24));
  CHECK(rows.chain.words() <= detail::scanManySlotWords);
  CHECK(rows.chain.strips * rows.launches >= 263);
}

TEST_CASE("Words of rows", "[rows][scan]") {
  CHECK((planScanRows(floats(10, 1000)).items == 4 && !planScanRows(floats(10, 1000)).isShifted));
  CHECK((planScanRows(floats(10, 1001)).items == 4 && planScanRows(floats(10, 1001)).isShifted));
  ScanRequest apart = floats(10, 1000);
  apart.out += 4;
  CHECK(planScanRows(apart).items == 1);
}

TEST_CASE("Short columns", "[rows][scan]") {
  const auto plan = [](std::size_t rows, std::size_t cols) { return planScanColumns(floats(rows, cols)); };
  CHECK(plan(32, 256).algorithm == ScanAlgorithm::columns);
  CHECK(plan(33, 256).algorithm == ScanAlgorithm::shortColumns);
  CHECK((plan(1024, 256).threads == 256 && plan(1024, 256).blocks == 32 && plan(1024, 256).chain.tiles == 1));
  CHECK((plan(1025, 260).threads == 512 && plan(1025, 260).blocks == 33));
  CHECK(plan(2048, 2048).algorithm == ScanAlgorithm::shortColumns);
  CHECK(plan(2048, 2052).algorithm == ScanAlgorithm::columns);
  CHECK(plan(2049, 256).algorithm == ScanAlgorithm::columns);
  ScanRequest apart = floats(512, 256);
  apart.out += 4;
  CHECK((planScanColumns(apart).lanes == 8 && planScanColumns(apart).blocks == 32));
  apart.rows = 513;
  CHECK(planScanColumns(apart).algorithm == ScanAlgorithm::columns);
  CHECK(planScanColumns(floats(100, 256, 1)).blocks == 33);
}

TEST_CASE("Tiles of columns", "[rows][scan]") {
  CHECK(planScanColumns(floats(16384, 4096)).chain.group == 1);
  CHECK(planScanColumns(floats(std::size_t{1} << 20, 64)).chain.group == 32);
  CHECK(planScanColumns(floats(100000, 4096)).threads == 512);
  CHECK(planScanColumns(floats(2500, 64)).threads == 256);
  for (const std::size_t cols : {64, 700, 16384, 100000, 2000000}) {
    const ScanPlan plan = planScanColumns(floats(5000, cols));
    CHECK(plan.chain.words() <= detail::scanManySlotWords);
    CHECK(plan.chain.strips * plan.launches >= plan.strips);
  }
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("Bad arguments of scans", "[rows][scan]") {
  DeviceArray<float> memory(2000);
  float* const data = memory.data();
  const MatrixView<const float> in{data, 10, 20};
  CHECK(refusal([&] {
          inclusiveScanRows(in, MatrixView<float>{data + 1000, 10, 21});
        }) == "gpuopt::inclusiveScanRows: in is 10 x 20, so out must be, but it is 10 x 21");
  CHECK(refusal([&] {
          inclusiveScanRows(in, MatrixView<float>{data + 1000, 10, 20, 19});
        }) == "gpuopt::inclusiveScanRows: out.ld (19) is less than out.cols (20)");
  CHECK(refusal([&] {
          exclusiveScanColumns(in, MatrixView<float>{nullptr, 10, 20}, 0.0f);
        }) == "gpuopt::exclusiveScanColumns: out is null, but its shape is 10 x 20");
  CHECK(refusal([&] {
          inclusiveScanColumns(in, MatrixView<float>{data + 100, 10, 20});
        }) == "gpuopt::inclusiveScanColumns: in and out overlap: out begins at byte 400 of the 800 that in spans");
  const MatrixView<float> batch{data, 2, 20, 20, 5};
  CHECK(refusal([&] { inclusiveScanColumns(batch, batch); }) ==
        "gpuopt::inclusiveScanColumns: in is a batch of 5 matrices; columns are those of one matrix");
}

}  // namespace
}  // namespace gpuopt::test::scan_plan_test
