/// \file
/// The library's own constants.
// SPDX-License-Identifier: MIT
#include "constants_work.cuh"

namespace {

using gpuopt::tune::LimitWork;

template <std::size_t SIZE>
LimitWork registerWork(int logSize, const gpuopt::detail::TransposeTuning& tuning) {
  return {"gpuopt.transposeRegisters", logSize, gpuopt::detail::registerLimit(SIZE, tuning), transposeRegisters<SIZE>,
          transposeTiles<SIZE>};
}

// Of the current device, as plans have it.
gpuopt::detail::TransposeTuning currentTuning() {
  const gpuopt::detail::TransposeProblem<float, float, gpuopt::Identity> any{nullptr, nullptr, 1, 1, 1, 1, 1, 1, 1, {}};
  return gpuopt::detail::tuningOf(gpuopt::detail::shapeOf(any));
}

}  // namespace

std::vector<ConstantWork> gpuopt::tune::constantWorks0() { return works(true); }

std::vector<LimitWork> gpuopt::tune::limitWorks() {
  const detail::TransposeTuning tuning = currentTuning();
  return {registerWork<1>(0, tuning), registerWork<2>(1, tuning), registerWork<4>(2, tuning),
          registerWork<8>(3, tuning), registerWork<16>(4, tuning)};
}
