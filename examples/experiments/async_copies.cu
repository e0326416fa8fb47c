/// \file
/// The experiment on asynchronous copies.
// SPDX-License-Identifier: MIT
#include "async_copies.cuh"

#include "experiment.hpp"
#include "measure.cuh"

namespace experiments {
namespace {

bool isRight(const TileStep& step) {
  constexpr unsigned BLOCKS = 3, TILES = 17;
  const auto words = wholeNumbers<unsigned>(TILES * tileBlock * 4);
  return tileSumsOnHost(words, BLOCKS) ==
         resultOf<unsigned>(words, BLOCKS * tileBlock, [&](const unsigned* from, unsigned* to) {
           launchTileStep(step, reinterpret_cast<const uint4*>(from), to, TILES, BLOCKS);
         });
}

void run(Report& report) {
  constexpr std::size_t TILES = std::size_t{1} << 17;
  constexpr double BYTES = 16.0 * tileBlock * TILES;
  const auto multiprocessors = static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  const TimedArray<uint4> in(TILES * tileBlock, Filling::bits);
  const TimedArray<unsigned> out(std::size_t{8} * multiprocessors * tileBlock);
  report.table({"Tiles of 4 KiB by way of shared memory, with 1, 2 and 8 blocks of 256 on a multiprocessor",
                "how",
                "",
                "",
                {"1, GB/s", "2, GB/s", "8, GB/s"}});
  for (const TileStep& step : tileSteps) {
    const auto rate = [&](unsigned blocks) {
      return billionsPerSecond(BYTES,
                               [&] { launchTileStep(step, in.data(), out.data(), TILES, blocks * multiprocessors); });
    };
    report.add({step.name, "", "", {rate(1), rate(2), rate(8)}, isRight(step)});
  }
}

}  // namespace

const Experiment asyncCopiesExperiment{
    "async_copies",
    "An asynchronous copy goes from global to shared memory without a register, and the thread goes on. With\n"
    "several stages, tiles are on their way while others are used.",
    run};

}  // namespace experiments
