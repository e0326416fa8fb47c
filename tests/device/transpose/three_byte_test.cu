/// Transposition of elements of three bytes with aligned rows: edges of tiles, of blocks of registers and of
/// vectors; gaps, batches.
// SPDX-License-Identifier: MIT
#include "support/transpose_data.cuh"
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <initializer_list>

namespace three_byte_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::ThreeByteElement;

using Sizes = std::initializer_list<std::size_t>;

struct LaunchTile {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::launchTile<gpuopt::detail::ThreeByteTile>(problem, 0, nullptr);
  }
};

void check(const TransposeShape& shape, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  checkTranspose<ThreeByteElement, ThreeByteElement>(shape, Identity{}, LaunchTile{}, inOffset, outOffset);
}

TEST_CASE("three bytes, dense, in multiples of what vectors hold") {
  for (const std::size_t rows : Sizes{16, 48, 112, 128, 144, 272})
    for (const std::size_t cols : Sizes{16, 48, 112, 128, 144, 272}) check(TransposeShape::dense(rows, cols));
}

TEST_CASE("three bytes, any rows and columns with gaps behind them") {
  for (const std::size_t rows : Sizes{1, 3, 4, 5, 6, 11, 15, 17, 33, 127, 129})
    for (const std::size_t cols : Sizes{1, 15, 17, 31, 127, 129, 143})
      check(TransposeShape::pitched(rows, cols, 16, 16));
  check({64, 80, 112, 96});
  check({130, 140, 256, 192});
}

TEST_CASE("three bytes, batches, and bases that are aligned to no more than 16 bytes") {
  check(TransposeShape::dense(48, 144, 3));
  check(TransposeShape::pitched(131, 37, 16, 16, 3, 1), 16, 32);
  check({33, 20, 32, 48, 4, 0, 48 * 20});
  check(TransposeShape::dense(144, 160), 32, 16);
}

TEST_CASE("three bytes by the call that chooses the kernel", "[sweep]") {
  TransposeCheck<Bytes3> check(700 * 720);
  for (const Case& c : {Case{688, 688}, Case{688, 700, 4, 16}, Case{688, 688, 0, 0, 16, 32}, Case{688, 689},
                        Case{688, 688, 0, 0, 1, 0}, Case{144, 160, 0, 0, 0, 0, 3}})
    check(c);
  check.finish();
}

}  // namespace three_byte_test
