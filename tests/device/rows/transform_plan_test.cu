/// Which kernel transforms rows, and why: pure host code.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/rows_transform.cuh>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace gpuopt::test::transform_plan_test {
namespace {

using detail::TransformAlgorithm;
using detail::TransformPlan;

// Of 2-byte elements on a device of 132 multiprocessors.
TransformPlan planned(std::size_t rows, std::size_t cols, bool hasClusters = true, bool isShifted = false,
                      bool areJoined = false) {
  return detail::planTransformRows(
      {rows, cols, 2, 2, isShifted, cols % 8 == 0 && !isShifted, areJoined, hasClusters, 132}, {});
}

TransformPlan plannedJoined(std::size_t rows, std::size_t cols) { return planned(rows, cols, true, true, true); }

// Every vector of a row is taken by a thread, and every row by some threads.
bool coversRows(const TransformPlan& plan) {
  if (plan.algorithm == TransformAlgorithm::staged)
    return plan.lanes * plan.elements >= plan.request.cols &&
           plan.lanes * (plan.elements - detail::stagedSlack) <= plan.request.cols &&
           plan.spanRows % (32 / plan.lanes) == 0 &&
           plan.blocks * plan.threads / 32 * plan.spanRows * (plan.request.loadsNumbers ? 2 : 1) >= plan.request.rows;
  const bool isOfLanes = plan.algorithm == TransformAlgorithm::lanes;
  const std::size_t rowThreads = isOfLanes ? plan.lanes : plan.threads * plan.cluster;
  const bool holds = plan.algorithm == TransformAlgorithm::reread || rowThreads * plan.vectors >= plan.rowVectors;
  const bool isEach = plan.blocks * plan.threads / rowThreads >= plan.request.rows;
  return holds && isEach && plan.threads % 32 == 0 && plan.threads <= 512;
}

TEST_CASE("The kernel follows from the bytes of a row", "[rows]") {
  CHECK(planned(0, 100).algorithm == TransformAlgorithm::nothing);
  CHECK(planned(100, 0).algorithm == TransformAlgorithm::nothing);
  CHECK(planned(1000000, 1).lanes == 1);
  CHECK(planned(1000000, 128).lanes == 8);
  CHECK(planned(1000000, 120, true, true).lanes == 8);
  CHECK(planned(1000000, 1024).algorithm == TransformAlgorithm::lanes);
  CHECK(planned(1000000, 1032).algorithm == TransformAlgorithm::block);
  CHECK(planned(1000000, 32768).algorithm == TransformAlgorithm::block);
  CHECK(planned(1000000, 32776).algorithm == TransformAlgorithm::cluster);
  CHECK(planned(1000000, 32776, false).algorithm == TransformAlgorithm::reread);
  CHECK(planned(1000000, 262144).algorithm == TransformAlgorithm::cluster);
  CHECK(planned(1000000, 262152).algorithm == TransformAlgorithm::reread);
  CHECK(planned(1000000, 262152).cluster == 8);
}

TEST_CASE("Rows that do not begin and end with vectors have ends, but short ones", "[rows]") {
  CHECK(!planned(1000000, 1024).hasEnds);
  CHECK(!planned(1000000, 127).hasEnds);
  CHECK(planned(1000000, 129).hasEnds);
  CHECK(planned(1000000, 129).lanes == 16);
  CHECK(planned(1000000, 129).rowVectors == 13);
  CHECK(planned(1000000, 129).vectors == 1);
  CHECK((planned(1000000, 159).vectors == 1 && planned(1000000, 161).vectors == 2));
  CHECK((planned(1000000, 333).vectors == 3 && planned(1000000, 333).lanes == 16));
  CHECK((planned(1000000, 415).lanes == 16 && planned(1000000, 417).lanes == 32));
  CHECK((planned(1000000, 543).vectors == 2 && planned(1000000, 545).vectors == 4));
  CHECK(planned(1000000, 1001).vectors == 4);
  CHECK(planned(1000000, 1056, true, true).algorithm == TransformAlgorithm::block);
  CHECK(planned(1000000, 1049, true, true).algorithm == TransformAlgorithm::lanes);
  CHECK(planned(8, 4099, true, true).vectors == 1);  // 510 vectors
  CHECK(planned(8, 4099, true, true).threads == 512);
}

TEST_CASE("Short unaligned rows that follow one another are staged", "[rows]") {
  CHECK(plannedJoined(1000000, 133).algorithm == TransformAlgorithm::staged);
  CHECK(plannedJoined(1000000, 40).algorithm == TransformAlgorithm::lanes);
  CHECK((plannedJoined(1000000, 41).lanes == 4 && plannedJoined(1000000, 44).elements == 11));
  CHECK((plannedJoined(1000000, 45).elements == 14 && plannedJoined(1000000, 57).elements == 17));
  CHECK((plannedJoined(1000000, 68).lanes == 4 && plannedJoined(1000000, 69).lanes == 8));
  CHECK((plannedJoined(1000000, 136).lanes == 8 && plannedJoined(1000000, 137).lanes == 16));
  CHECK((plannedJoined(1000000, 272).lanes == 16 && plannedJoined(1000000, 273).lanes == 32));
  CHECK((plannedJoined(1000000, 272).spanRows == 16 && plannedJoined(1000000, 273).spanRows == 8));
  CHECK((plannedJoined(1000000, 352).elements == 11 && plannedJoined(1000000, 352).lanes == 32));
  CHECK(plannedJoined(1000000, 353).algorithm == TransformAlgorithm::lanes);
  CHECK(detail::planTransformRows({1000000, 128, 2, 2, false, true, true, true, 132}, {}).elements == 0);  // vectors
  CHECK(plannedJoined(1000, 133).algorithm == TransformAlgorithm::lanes);  // latency counts
  CHECK(planned(1000000, 133, true, true).algorithm == TransformAlgorithm::lanes);
  CHECK(detail::planTransformRows({1000000, 133, 4, 4, true, false, true, true, 132}, {}).elements == 0);
}

TEST_CASE("Lanes that keep numbers of columns take several spans of staged rows", "[rows]") {
  const auto plannedNumbers = [](std::size_t cols, std::size_t rows = 1000000) {
    return detail::planTransformRows({rows, cols, 2, 2, true, false, true, true, 132, false, true}, {});
  };
  for (std::size_t cols = 41; cols <= 352; ++cols)
    if (cols % 8 != 0) CHECK(coversRows(plannedNumbers(cols)));
  CHECK((plannedNumbers(68).lanes == 4 && plannedNumbers(136).lanes == 8 && plannedNumbers(137).lanes == 16));
  CHECK((plannedNumbers(272).elements == 17 && plannedNumbers(273).elements == 20));
  CHECK((plannedNumbers(320).elements == 20 && plannedNumbers(321).elements == 23));
  CHECK(plannedNumbers(353).algorithm == TransformAlgorithm::lanes);
  CHECK((plannedNumbers(87).spanRows == 32 && plannedNumbers(89).spanRows == 16));  // 5.5 KiB
  CHECK((plannedNumbers(175).spanRows == 16 && plannedNumbers(177).spanRows == 8 && plannedNumbers(352).spanRows == 8));
  CHECK(plannedNumbers(41, 256 * 3000).blocks == 3000);
  CHECK(plannedNumbers(41, 256 * 3000 + 1).blocks == 3001);
  CHECK((plannedNumbers(41, 64 * 300).blocks == 300 && plannedNumbers(41, 64 * 300).spanRows == 16));  // few rows
}

TEST_CASE("L2 fetches 4 MiB ahead of many rows of clusters", "[rows]") {
  CHECK(planned(1000000, 129280).ahead == 16);
  CHECK(planned(1000000, 65536).ahead == 32);
  CHECK(planned(1000000, 32768).ahead == 0);
  CHECK(planned(8, 129280).ahead == 0);
}

TEST_CASE("Small matrices get a thread for each vector", "[rows]") {
  CHECK(planned(1000, 128).lanes == 16);
  CHECK(planned(100, 1000).threads == 128);
  CHECK(planned(100, 4096).threads == 512);
  CHECK(planned(8, 16384).cluster == 8);
  CHECK(planned(8, 16384).vectors == 1);
  CHECK(planned(4, 129280).cluster == 8);
  CHECK(planned(4, 129280).vectors == 4);
}

TEST_CASE("Few rows of many vectors get larger clusters, where there are some", "[rows]") {
  const auto plannedLarge = [](std::size_t rows, std::size_t cols) {
    return detail::planTransformRows({rows, cols, 2, 2, false, true, false, true, 132, true}, {});
  };
  CHECK((plannedLarge(1, 129280).cluster == 16 && plannedLarge(1, 129280).vectors == 2));
  CHECK((plannedLarge(8, 129280).blocks == 128 && plannedLarge(8, 129280).threads == 512));
  CHECK(plannedLarge(9, 129280).cluster == 8);
  CHECK((plannedLarge(1, 32768).cluster == 8 && plannedLarge(1, 32776).cluster == 16));
  CHECK((plannedLarge(1, 262144).vectors == 4 && plannedLarge(1, 262144).cluster == 16));
  for (std::size_t cols = 16384; cols < 2000000; cols += 8 * (cols / 50)) CHECK(coversRows(plannedLarge(3, cols)));
}

TEST_CASE("Every plan covers its rows", "[rows]") {
  for (const std::size_t rows : {1u, 7u, 66u, 67u, 1000u, 100000u})
    for (std::size_t cols = 1; cols < 2000000; cols += cols / 3 + 1)
      for (const bool hasClusters : {false, true}) {
        INFO(rows << " x " << cols);
        CHECK(coversRows(planned(rows, cols, hasClusters, cols % 2 == 0)));
        CHECK(coversRows(plannedJoined(rows, cols)));
      }
}

// What launchTransform has kernels for.
bool hasKernel(const TransformPlan& plan) {
  const detail::TransformRequest& r = plan.request;
  const auto isOneOf = [&](std::initializer_list<unsigned> all) {
    return std::find(all.begin(), all.end(), plan.vectors) != all.end();
  };
  switch (plan.algorithm) {
    case TransformAlgorithm::lanes:
      if (r.isWhole) return isOneOf({1, 2, 4});
      if (!plan.hasEnds) return isOneOf({1, 2});
      return plan.lanes == 16 ? isOneOf({1, 2, 3}) : plan.lanes == 32 && isOneOf({2, 4});
    case TransformAlgorithm::staged:
      return !r.isWhole && r.areJoined && r.inBytes <= detail::stagedElementBytes && plan.lanes <= 32 &&
             (plan.elements == 11 || (plan.lanes < 32 && (plan.elements == 14 || plan.elements == 17)));
    case TransformAlgorithm::reread:
      return true;
    case TransformAlgorithm::cluster:
      return isOneOf({1, 2, 4, 8});
    default:
      return isOneOf({1, 4, 8});
  }
}

TEST_CASE("There is a kernel for every plan", "[rows]") {
  for (const std::size_t bytes : {1u, 2u, 4u, 8u})
    for (const std::size_t rows : {1u, 66u, 1000u, 100000u})
      for (std::size_t cols = 1; cols < 200000; cols += cols / 50 + 1)
        for (const bool isWhole : {false, true})
          for (const bool isOther : {false, true}) {
            INFO(rows << " x " << cols << ", " << bytes << " bytes");
            const TransformPlan plan = detail::planTransformRows(
                {rows, cols, bytes, 4, !isWhole && isOther, isWhole, isOther, isOther, 132}, {});
            if (!hasKernel(plan)) FAIL(detail::planInWords(plan));
          }
}

TEST_CASE("A plan in words", "[rows]") {
  CHECK(detail::planInWords(planned(0, 5)) == "nothing to launch: no elements");
  CHECK(detail::planInWords(planned(100000, 128)) ==
        "lanes, 8 lanes a row, 2 vectors a thread, 6250 blocks of 128 threads: a part of a warp holds a row; reads "
        "25600000 bytes, writes 25600000");
  CHECK(detail::planInWords(plannedJoined(100001, 133)) ==
        "staged, 8 lanes a row, 17 elements a lane, 16 rows a warp, 1563 blocks of 128 threads: unaligned "
        "rows, which a warp copies to shared memory together; reads 26600266 bytes, writes 26600266");
  CHECK(
      detail::planInWords(planned(4, 129280)) ==
      "cluster, 8 blocks a row, 4 vectors a thread, 32 blocks of 512 threads: few rows, each held by the registers of "
      "several blocks; reads 1034240 bytes, writes 1034240");
}

TEST_CASE("explainTransformRows names the kernel", "[rows]") {
  const DeviceArray<float> input(20000);
  DeviceArray<float> output(20000);
  const float* const in = input.data();
  float* const out = output.data();
  CHECK(contains(explainTransformRows(in, out, 1000, 16), "4 lanes a row"));
  CHECK(contains(explainTransformRows(in + 1, out, 1000, 16), "8 lanes a row"));
  CHECK(contains(explainTransformRows(MatrixView{in, 1000, 16, 17}, MatrixView{out, 1000, 16}), "8 lanes a row"));
  CHECK(contains(explainTransformRows(in, out, 0, 16), "nothing"));
}

}  // namespace
}  // namespace gpuopt::test::transform_plan_test
