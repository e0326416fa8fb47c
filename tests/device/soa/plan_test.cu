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

using detail::ColumnsAlgorithm;

TEST_CASE("Alignment, layout and size say how functions access columns", "[soa]") {
  struct Row {
    std::size_t n, largestBytes;
    bool areColumns, areAligned;
    ColumnsAlgorithm algorithm;
    unsigned items, threads;
    std::size_t blocks;
  };
  constexpr Row rows[] = {
      {0, 16, true, true, ColumnsAlgorithm::nothing, 0, 0, 0},
      {256, 16, true, true, ColumnsAlgorithm::words, 2, 128, 1},
      {257, 16, true, true, ColumnsAlgorithm::words, 2, 128, 2},
      {257, 16, true, false, ColumnsAlgorithm::elements, 2, 128, 2},
      {257, 16, false, false, ColumnsAlgorithm::elements, 2, 128, 2},
      {257, 24, true, true, ColumnsAlgorithm::words, 2, 64, 3},
      {257, 3, true, true, ColumnsAlgorithm::words, 4, 128, 1},
      {257, 256, true, true, ColumnsAlgorithm::words, 1, 64, 5},
      {257, 257, true, true, ColumnsAlgorithm::elements, 1, 64, 5},
  };
  for (const Row& row : rows) {
    const detail::ColumnsPlan plan = detail::planColumns(
        {row.n, row.largestBytes, row.largestBytes, row.largestBytes, row.areColumns, row.areAligned});
    INFO(row.n << " structures of " << row.largestBytes << " bytes: " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    CHECK(plan.items == row.items);
    CHECK(plan.threads == row.threads);
    CHECK(plan.blocks == row.blocks);
  }
  const detail::ColumnsRequest aligned{257, 12, 8, 16, true, true};
  const detail::ColumnsPlan whole{
      ColumnsAlgorithm::words, "all columns begin at aligned addresses", aligned, 2, 128, 2};
  CHECK(detail::planColumns(aligned) == whole);
  detail::ColumnsRequest read = aligned;
  read.writtenBytes = 0;
  CHECK(detail::planColumns(read) != whole);
  CHECK(detail::planColumns({}) == detail::ColumnsPlan{});
}

struct Wide {
  double values[33];
};

TEST_CASE("Functions of views say how they access columns", "[soa]") {
  SoaVector<Padded> columns(1000), results(1000);
  const SoaView<const Padded> read = columns.view();
  CHECK(explainForEach(columns.view()) ==
        "words, 2 structures a thread, 4 blocks of 128 threads: all columns begin at aligned addresses; reads 12000 "
        "bytes, writes 12000");
  CHECK(explainForEach(read) ==
        "words, 2 structures a thread, 4 blocks of 128 threads: all columns begin at aligned addresses; reads 12000 "
        "bytes, writes 0");
  CHECK(explainTransform(read, results.view()) == explainForEach(columns.view()));
  CHECK(explainTransform(read, results.view().select<&Padded::id>()).find("; reads 12000 bytes, writes 4000") !=
        std::string::npos);
  CHECK(explainForEach(read.subview(1, 999))
            .find("members, 2 structures a thread, 4 blocks of 128 threads: a column does not begin at an aligned "
                  "address;") == 0);
  SoaVector<Padded, SoaTiles<32>> tiles(1000);
  CHECK(explainTransform(read, tiles.view())
            .find("members, 2 structures a thread, 4 blocks of 128 threads: the "
                  "columns are not contiguous;") == 0);
  CHECK(explainTransform(tiles.view(), results.view()) == explainTransform(read, tiles.view()));
  CHECK(explainForEach(tiles.view()) == explainTransform(read, tiles.view()));
  SoaVector<Wide> wide(100);
  CHECK(explainForEach(wide.view())
            .find("members, 1 structure a thread, 2 blocks of 64 threads: a structure does not fit into a thread's "
                  "registers;") == 0);
  CHECK(explainForEach(SoaView<Padded>{}) == "nothing to launch: no structures");
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(explainTransform(read, results.view().subview(0, 999)));
        }) == "gpuopt::explainTransform: in has 1000 structures, but out has 999");
}

}  // namespace
}  // namespace gpuopt::test::soa_plan_test
