/// How structures become columns: in numbers, and in words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/soa.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpuopt::test::soa_plan_test {
namespace {

using detail::ConvertAlgorithm;

TEST_CASE("Alignment and size say how many structures a thread converts", "[soa]") {
  struct Row {
    std::size_t n, structBytes;
    bool areColumns, areAligned;
    ConvertAlgorithm algorithm;
    unsigned items, threads;
    std::size_t blocks;
  };
  constexpr Row rows[] = {
      {0, 16, true, true, ConvertAlgorithm::nothing, 0, 0, 0},
      {128, 16, true, true, ConvertAlgorithm::alignedColumns, 2, 128, 1},
      {257, 16, true, true, ConvertAlgorithm::alignedColumns, 2, 128, 2},
      {257, 24, true, true, ConvertAlgorithm::alignedColumns, 2, 64, 3},
      {257, 16, true, false, ConvertAlgorithm::anyColumns, 4, 64, 2},
      {257, 3, true, true, ConvertAlgorithm::alignedColumns, 4, 128, 1},
      {257, 100, true, false, ConvertAlgorithm::anyColumns, 2, 64, 3},
      {257, 500, true, true, ConvertAlgorithm::alignedColumns, 1, 64, 5},
      {257, 16, false, false, ConvertAlgorithm::layout, 1, 128, 3},
  };
  for (const Row& row : rows) {
    const detail::ConvertPlan plan =
        detail::planConvert({row.n, row.structBytes, row.structBytes, true, row.areColumns, row.areAligned});
    INFO(row.n << " structures of " << row.structBytes << " bytes: " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    CHECK(plan.items == row.items);
    CHECK(plan.threads == row.threads);
    CHECK(plan.blocks == row.blocks);
  }
}

struct Padded {
  double energy;
  int id;
};

TEST_CASE("Conversions say how they move structures", "[soa]") {
  SoaVector<Padded> columns(1000);
  DeviceArray<Padded> structs(1000);
  CHECK(explainToSoa(structs.data(), 1000, columns.view()) ==
        "2 structures a thread, 4 blocks of 128 threads: all columns begin at aligned addresses; reads 16000 bytes, "
        "writes 12000");
  CHECK(explainToAos(columns.view(), structs.data()) ==
        "2 structures a thread, 4 blocks of 128 threads: all columns begin at aligned addresses; reads 12000 bytes, "
        "writes 16000");
  CHECK(explainToAos(columns.view().subview(1, 999), structs.data())
            .find("4 structures a thread, 4 blocks of 64 threads: a column does not begin at an aligned address;") ==
        0);
  SoaVector<Padded, SoaTiles<32>> tiles(1000);
  CHECK(explainToSoa(structs.data(), 1000, tiles.view())
            .find("1 structure a thread, 8 blocks of 128 threads: the columns are not contiguous;") == 0);
  CHECK_THROWS_AS(explainToSoa(structs.data(), 999, columns.view()), std::invalid_argument);
}

}  // namespace
}  // namespace gpuopt::test::soa_plan_test
