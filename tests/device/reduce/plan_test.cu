/// Which kernel reduces an array: in numbers, and in words.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpuopt::test::reduce_plan_test {
namespace {

using detail::ReduceAlgorithm;

// Floats that begin at a boundary, read by vectors of four.
detail::ReduceRequest floats(std::size_t n, std::size_t maxBlocks = 2048) {
  return {n, 0, 4, 16, 2, 2, 2, maxBlocks, 4, true};
}

TEST_CASE("The kernel of an array follows from the bytes", "[reduce]") {
  struct Row {
    std::size_t n, maxBlocks;
    ReduceAlgorithm algorithm;
    std::size_t threads, blocks;
    bool streams;
  };
  constexpr std::size_t KIB = 256;  // floats
  constexpr Row rows[] = {
      {0, 2048, ReduceAlgorithm::oneTile, 128, 1, true},
      {3, 2048, ReduceAlgorithm::oneTile, 128, 1, true},
      {8 * KIB, 2048, ReduceAlgorithm::oneTile, 256, 1, true},
      {8 * KIB + 4, 2048, ReduceAlgorithm::tiles, 256, 2, true},
      {64 * KIB + 3, 2048, ReduceAlgorithm::tiles, 256, 8, true},
      {64 * KIB + 4, 2048, ReduceAlgorithm::loop, 256, 5, true},
      {64 * KIB, 8, ReduceAlgorithm::tiles, 256, 8, true},
      {64 * KIB, 7, ReduceAlgorithm::loop, 256, 5, true},
      {64 * KIB, 3, ReduceAlgorithm::loop, 256, 3, true},
      {192 * KIB + 3, 2048, ReduceAlgorithm::loop, 256, 5, true},
      {192 * KIB + 4, 2048, ReduceAlgorithm::loop, 256, 5, false},
  };
  for (const Row& row : rows) {
    const detail::ReducePlan plan = detail::planReduce<LowBoundaries>(floats(row.n, row.maxBlocks));
    INFO(row.n << " floats: " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    CHECK(plan.grid.threads == row.threads);
    CHECK(plan.grid.blocks == row.blocks);
    CHECK(plan.grid.combines == (row.blocks > 1 || row.algorithm == ReduceAlgorithm::loop));
    CHECK(plan.streams == row.streams);
    CHECK(plan.steps * 4 + plan.edges == row.n);
  }
}

TEST_CASE("Warps in order take 2, 4 or 8 rows", "[reduce]") {
  for (const std::size_t n : {1u << 20, 3u << 20, 5u << 20}) {
    detail::ReduceRequest request = floats(n);
    request.orderedRows = 8;
    const detail::ReducePlan plan = detail::planReduce<InOrder>(request);
    INFO(planInWords(plan));
    CHECK(plan.algorithm == ReduceAlgorithm::ordered);
    CHECK(plan.rows == (n <= 1 << 20 ? 2u : n <= 4 << 20 ? 4u : 8u));
    CHECK(plan.grid.blocks == 256);
    request.orderedRows = 1;
    CHECK(detail::planReduce<InOrder>(request).rows == 1);
  }
}

TEST_CASE("explainReduce says what a call launches", "[reduce]") {
  const DeviceArray<float> in(50001);
  CHECK(explainReduce(in.data(), 1000) ==
        "one tile, by vectors, 1 block of 128 threads: one block takes the input at once; reads 4000 bytes, writes 4");
  CHECK(explainReduce<double>(in.data(), 50000, Maximum{}) ==
        "a tile a block, by vectors, 13 blocks of 128 threads: few enough blocks take the input at once; reads 200000 "
        "bytes, writes 8");
  CHECK(explainReduce<DefaultAccumulator, LowBoundaries>(in.data(), 50000).find("loop over tiles, by vectors, 5 ") ==
        0);
  // A fixed order at every alignment: misaligned elements are read one by one.
  CHECK(explainReduce<DefaultAccumulator, ByLength>(in.data(), 1000).find("one tile, by vectors") == 0);
  CHECK(explainReduce<DefaultAccumulator, ByLength>(in.data() + 1, 1000).find("one tile, by elements") == 0);
  CHECK(explainReduce(in.data() + 1, 1000).find("one tile, by vectors") == 0);
  CHECK(explainReduce<DefaultAccumulator, InOrder>(in.data(), 1000).find("warps in order, by vectors, 1 block") == 0);
  CHECK_THROWS_AS(explainReduce(static_cast<const float*>(nullptr), 5), std::invalid_argument);
}

}  // namespace
}  // namespace gpuopt::test::reduce_plan_test
