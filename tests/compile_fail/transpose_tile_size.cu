// EXPECT: gpuopt::TransposeTile: TILE must be a power of two from 8 to 256
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

void fail(const gpuopt::detail::TransposeProblem<float, float, gpuopt::Identity>& problem) {
  gpuopt::detail::launchTile<gpuopt::detail::SquareTile<float, float, 48, 4>>(problem, 0, nullptr);
}
