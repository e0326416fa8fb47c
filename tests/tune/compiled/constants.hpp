// The constants of kernels, as the source that includes it is compiled.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/device/transpose/plan.cuh>

#include <cstddef>
#include <string>

namespace {

std::string planned(std::size_t rows, unsigned inBytes, unsigned outBytes) {
  constexpr std::size_t COLS = 8192;
  const bool onlyMoves = inBytes == outBytes;
  const auto plan = gpuopt::detail::planTranspose(
      {rows, COLS, COLS, rows, 1, 0, 0, 0, 0, inBytes, outBytes, inBytes, outBytes, onlyMoves, 232448, 90});
  return std::to_string(plan.tileRows) + "x" + std::to_string(plan.tileCols) + " " + std::to_string(plan.threads) + "|";
}

template <class Policy>
std::string mapOf() {
  return std::to_string(Policy::BLOCK) + "," + std::to_string(Policy::TILES) + ";";
}

std::string constantsHere() {
  using namespace gpuopt::detail;
  return planned(8192, 4, 4) + planned(8192, 8, 8) + planned(8196, 4, 4) + planned(8192, 1, 4) +
         std::to_string(registerLimit(2, {}) >> 10) + "," + std::to_string(registerLimit(4, {}) >> 10) + " " +
         std::to_string(transformThreads(20)) + " " + std::to_string(transformThreads(40)) + " " +
         std::to_string(convertThreads(100)) + " " + std::to_string(indexedBlock) + "," +
         std::to_string(indexedLoadsInFlight) + "," + std::to_string(indexedBlocksPerSm) + " " +
         mapOf<TransformWordsPolicy<4, 4>>() + mapOf<TransformWordsPolicy<4, 2>>() +
         mapOf<TransformWordsPolicy<4, 8>>();
}

}  // namespace
