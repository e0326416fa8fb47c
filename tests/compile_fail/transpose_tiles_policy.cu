// EXPECT: gpuopt::TransposeTile: TILE must be a power of two from 8 to 256
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/tiles.cuh>

struct Odd : gpuopt::TransposeTilesPolicy {
  template <std::size_t>
  static constexpr int TILE = 48;
};

void fail(const gpuopt::detail::TransposeProblem<float, float, gpuopt::Identity>& problem) {
  gpuopt::detail::launchTransposeTiles<Odd>(problem, nullptr);
}
