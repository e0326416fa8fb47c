/// How matrices are transposed in place: in numbers, and in words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpuopt::test::in_place_plan_test {
namespace {

using detail::InPlaceAlgorithm;
using detail::InPlacePlan;

TEST_CASE("The passes in place follow from shape, size and alignment", "[transpose]") {
  struct Row {
    std::size_t rows, cols, batch, elementBytes;
    unsigned rowAlignment;
    bool movesByVectors;
    InPlaceAlgorithm algorithm;
  };
  constexpr Row rows[] = {
      {0, 5, 1, 4, 32, true, InPlaceAlgorithm::nothing},       {1, 5, 1, 4, 32, true, InPlaceAlgorithm::nothing},
      {5, 1, 1, 4, 32, true, InPlaceAlgorithm::nothing},       {5, 5, 0, 4, 32, true, InPlaceAlgorithm::nothing},
      {64, 64, 1, 4, 16, true, InPlaceAlgorithm::vectorPairs}, {64, 64, 1, 4, 8, true, InPlaceAlgorithm::wordPairs},
      {64, 64, 1, 12, 16, false, InPlaceAlgorithm::wordPairs}, {4096, 2048, 1, 4, 4, true, InPlaceAlgorithm::scratch},
      {4097, 2048, 1, 4, 4, true, InPlaceAlgorithm::panels},   {2048, 4097, 1, 4, 4, true, InPlaceAlgorithm::panels},
  };
  for (const Row& row : rows) {
    const InPlacePlan plan =
        detail::planInPlace({row.rows, row.cols, row.batch, row.elementBytes, row.rowAlignment, row.movesByVectors});
    INFO(row.rows << " x " << row.cols << ": " << planInWords(plan));
    CHECK(plan.algorithm == row.algorithm);
    if (row.algorithm == InPlaceAlgorithm::panels)
      CHECK(plan.panels.panels * plan.panels.height + plan.panels.remainder == 4097);
  }
}

// Blocks from distant regions, where no sector is shared and elements are large.
TEST_CASE("The order of the tiles of a square follows from sectors", "[transpose]") {
  const auto regions = [](std::size_t bytes, unsigned alignment) {
    return detail::planInPlace({1024, 1024, 1, bytes, alignment, true}).order.regions;
  };
  CHECK(regions(2, 32) == 1);
  CHECK(regions(4, 32) == 1);
  CHECK(regions(8, 32) == 4);
  CHECK(regions(8, 16) == 1);
  CHECK(regions(16, 32) == 4);
  CHECK(detail::planInPlace({1024, 1024, 1, 4, 32, false}).order.regions == 1);
}

// Whatever the device has above 64 KiB.
TEST_CASE("The tiles of a square fit into the device's shared memory", "[transpose]") {
  constexpr std::size_t KIB = 1 << 10;
  struct Row {
    std::size_t elementBytes;
    unsigned rowAlignment;
    std::size_t sharedLimit;
    detail::PairTileSizes tile;
  };
  constexpr Row rows[] = {
      {1, 16, 227 * KIB, {256, 512, 128 * KIB}},       {1, 16, 128 * KIB, {256, 512, 128 * KIB}},
      {1, 16, 127 * KIB, {128, 128, 32 * KIB}},        {1, 16, 0, {128, 128, 32 * KIB}},
      {2, 16, 48 * KIB, {128, 256, 64 * KIB}},         {4, 16, 48 * KIB, {64, 256, 32 * KIB}},
      {8, 32, 48 * KIB, {64, 512, 64 * KIB}},          {16, 32, 48 * KIB, {32, 256, 32 * KIB}},
      {1, 1, 48 * KIB, {128, 512, 41 * KIB}},          {2, 2, 227 * KIB, {128, 512, 73 * KIB}},
      {2, 2, 64 * KIB, {64, 512, 19 * KIB + 512}},     {4, 4, 64 * KIB, {64, 512, 34 * KIB + 512}},
      {8, 8, 227 * KIB, {64, 512, 67 * KIB}},          {8, 8, 66 * KIB, {32, 512, 17 * KIB + 512}},
      {128, 16, 227 * KIB, {16, 512, 64 * KIB + 512}}, {128, 16, 64 * KIB, {8, 512, 16 * KIB + 256}},
  };
  for (const Row& row : rows) {
    const bool movesByVectors = row.elementBytes <= 16;
    const InPlacePlan plan =
        detail::planInPlace({1024, 1024, 3, row.elementBytes, row.rowAlignment, movesByVectors, 1, 1, row.sharedLimit});
    INFO(row.elementBytes << " bytes, " << row.sharedLimit << " of shared memory: " << planInWords(plan));
    CHECK(plan.tile.side == row.tile.side);
    CHECK(plan.tile.threads == row.tile.threads);
    CHECK(plan.tile.sharedBytes == row.tile.sharedBytes);
    CHECK(plan.tile.sharedBytes <= (row.sharedLimit > 64 * KIB ? row.sharedLimit : 64 * KIB));
    const std::size_t tiles = 1024 / plan.tile.side;
    CHECK(plan.blocks >= 3 * (tiles * (tiles + 1) / 2));
    CHECK(plan.blocks < 3 * tiles * tiles);
  }
}

// Words as wide as the segments' alignment, regions as long as the shared memory has room for.
TEST_CASE("The words and the regions of the column shuffle follow from alignment and shared memory", "[transpose]") {
  constexpr std::size_t KIB = 1 << 10;
  struct Row {
    std::size_t rows, cols, elementBytes;
    unsigned addressAlignment, elementAlignment;
    std::size_t sharedLimit;
    unsigned wordBytes, alignment, regionBytes;
  };
  constexpr Row rows[] = {
      {8192, 4096, 4, 16, 4, 227 * KIB, 16, 16, 1024}, {8192, 4096, 4, 4, 4, 227 * KIB, 4, 4, 1024},
      {8192, 4096, 4, 16, 4, 4 * KIB, 16, 16, 128},    {8192, 4096, 4, 4, 4, 4 * KIB, 4, 4, 128},
      {16411, 8209, 1, 16, 1, 227 * KIB, 4, 1, 1020},  {16411, 8209, 2, 2, 2, 227 * KIB, 4, 2, 1020},
      {16384, 8192, 1, 1, 1, 227 * KIB, 4, 1, 1020},   {3, 3000000, 4, 16, 4, 227 * KIB, 16, 16, 1024},
  };
  for (const Row& row : rows) {
    const InPlacePlan plan = detail::planInPlace({row.rows, row.cols, 1, row.elementBytes, 1, false,
                                                  row.addressAlignment, row.elementAlignment, row.sharedLimit});
    INFO(row.rows << " x " << row.cols << ": " << planInWords(plan));
    REQUIRE(plan.algorithm == InPlaceAlgorithm::panels);
    CHECK(plan.shuffle.wordBytes == row.wordBytes);
    CHECK(plan.shuffle.alignment == row.alignment);
    CHECK(plan.shuffle.regionBytes == row.regionBytes);
    CHECK(plan.shuffle.sharedBytes <= row.sharedLimit);
    const std::size_t segment = plan.panels.height * row.elementBytes;
    CHECK(std::size_t{plan.shuffle.regions} * row.regionBytes >= segment);
    CHECK((plan.shuffle.regions - 1) * std::size_t{row.regionBytes} < segment);
  }
}

TEST_CASE("explainTransposeInPlace says how, and why", "[transpose]") {
  DeviceArray<float> data(100 * 100);
  CHECK(explainTransposeInPlace(data.data(), 100, 100) ==
        "vector pairs of tiles 64 x 64, 3 blocks of 256 threads: rows begin at 16-byte boundaries; reads 40000 bytes, "
        "writes 40000");
  CHECK(explainTransposeInPlace(data.data() + 1, 99, 99) ==
        "word pairs of tiles 64 x 64, 3 blocks of 512 threads: rows do not begin at 16-byte boundaries; reads 39204 "
        "bytes, writes 39204");
  CHECK(explainTransposeInPlace(MatrixView<float>{data.data(), 4, 4, 4, 3, 17}).find("word pairs of tiles 64 x 64, ") ==
        0);
  CHECK(explainTransposeInPlace(data.data(), 50, 200) ==
        "scratch memory, and back: the matrix fits into scratch memory; reads 80000 bytes, writes 80000");
  CHECK(explainTransposeInPlace(data.data(), 1, 200) == "nothing to launch: the elements stay where they are");
  CHECK_THROWS_AS(explainTransposeInPlace(MatrixView<float>{data.data(), 5, 6, 7}), std::invalid_argument);
}

}  // namespace
}  // namespace gpuopt::test::in_place_plan_test
