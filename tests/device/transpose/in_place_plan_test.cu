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

TEST_CASE("explainTransposeInPlace says how, and why", "[transpose]") {
  DeviceArray<float> data(100 * 100);
  CHECK(explainTransposeInPlace(data.data(), 100, 100) ==
        "pairs of tiles by vectors: rows begin at 16-byte boundaries; reads 40000 bytes, writes 40000");
  CHECK(explainTransposeInPlace(data.data() + 1, 99, 99) ==
        "pairs of tiles by words: rows do not begin at 16-byte boundaries; reads 39204 bytes, writes 39204");
  CHECK(
      explainTransposeInPlace(MatrixView<float>{data.data(), 4, 4, 4, 3, 17}).find("pairs of tiles by words: rows ") ==
      0);
  CHECK(explainTransposeInPlace(data.data(), 50, 200) ==
        "into scratch memory and back: the matrix fits into scratch memory; reads 80000 bytes, writes 80000");
  CHECK(explainTransposeInPlace(data.data(), 1, 200) == "nothing to launch: the elements stay where they are");
  CHECK_THROWS_AS(explainTransposeInPlace(MatrixView<float>{data.data(), 5, 6, 7}), std::invalid_argument);
}

}  // namespace
}  // namespace gpuopt::test::in_place_plan_test
