/// \file
/// The experiment on bank conflicts.
// SPDX-License-Identifier: MIT
#include "shared_memory.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

namespace experiments {
namespace {

std::string text(const gpuopt::SharedAccess& access) {
  return format("%u-way, wavefronts: %u", access.degree, access.wavefronts);
}

/// Rows of one width. The time of the first is the unit of the others.
template <class T>
void bankRows(Report& report) {
  constexpr unsigned ROUNDS = 4096, FEW = 10, BLOCKS = 2, BYTES = sizeof(T);
  constexpr struct {
    const char* name;
    LaneIndices lanes;
    const char* then;
    bool isForWordsOnly;
  } rows[] = {{"stride 1", strided(1), "none", false}, {"stride 2", strided(2), "2-way", false},
              {"stride 3", strided(3), "", true},      {"stride 4", strided(4), "", true},
              {"stride 8", strided(8), "8-way", true}, {"stride 16", strided(16), "", true},
              {"stride 32", strided(32), "", false},   {"stride 33", strided(33), "", false},
              {"permuted", permuted(), "none", true},  {"the same word", broadcast(), "none", false}};

  const unsigned timedBlocks = 8 * static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  const TimedArray<T> in(bankWords, Filling::bits);
  const TimedArray<unsigned> out(timedBlocks * bankBlock);
  const auto words = wholeNumbers<unsigned>(bankWords * BYTES / 4);
  double unit = 0;
  for (const auto& row : rows) {
    if (row.isForWordsOnly && BYTES > 4) continue;
    const auto sums = resultOf<unsigned>(words, BLOCKS * bankBlock, [&](const unsigned* from, unsigned* to) {
      launchBanks(reinterpret_cast<const T*>(from), to, BLOCKS, row.lanes, FEW);
    });
    const double seconds = secondsOf([&] { launchBanks(in.data(), out.data(), timedBlocks, row.lanes, ROUNDS); });
    if (unit == 0) unit = seconds;
    report.add({format("%u bytes, ", BYTES) + row.name,
                BYTES == 4 ? row.then : "",
                text(gpuopt::sharedLoad<T>([&](unsigned lane) { return row.lanes.index[lane]; })),
                {1e6 * seconds, unit > 0 ? seconds / unit : 0},
                sums == banksOnHost(words, BYTES / 4, BLOCKS, row.lanes, FEW)});
  }
}

template <TileLayout LAYOUT>
void tileRow(Report& report, const char* name) {
  constexpr unsigned ROUNDS = 257, TILES = 3;
  const unsigned tiles = 32 * static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  const TimedArray<unsigned> in(1024 * tiles), out(1024 * tiles);
  const auto values = wholeNumbers<unsigned>(1024 * TILES);
  const auto found = resultOf<unsigned>(
      values, values.size(), [](const unsigned* from, unsigned* to) { launchTile<LAYOUT>(from, to, TILES, 3); });
  const auto row = gpuopt::sharedAccess<float>([](unsigned lane) { return indexInTile<LAYOUT>(7, lane); });
  const auto column = gpuopt::sharedAccess<float>([](unsigned lane) { return indexInTile<LAYOUT>(lane, 7); });
  report.add({name,
              "",
              format("%u / %u", row.wavefronts, column.wavefronts),
              {1e6 * secondsOf([&] { launchTile<LAYOUT>(in.data(), out.data(), tiles, ROUNDS); })},
              found == tilesOnHost(values, 3)});
}

void run(Report& report) {
  report.table({"4096 reads of shared memory by each thread: conflicts by stride",
                "element, its index by lane",
                "then",
                "a warp's read",
                {"us", "of stride 1"}});
  bankRows<unsigned>(report);
  bankRows<uint2>(report);
  bankRows<uint4>(report);

  report.table({"A tile of 32 x 32 words, written by rows and read by columns 257 times",
                "layout",
                "",
                "wavefronts, row/column",
                {"us"}});
  tileRow<TileLayout::plain>(report, "plain");
  tileRow<TileLayout::padded>(report, "rows padded to 33 words");
  tileRow<TileLayout::swizzled>(report, "swizzled: column ^ row");
}

}  // namespace

const Experiment sharedMemoryExperiment{
    "shared_memory",
    "Word w of shared memory lies in bank w % 32, and a bank serves one word at a time, to all who want it.\n"
    "n different words of one bank take n passes (wavefronts), so the time is that of the worst bank.",
    run};

}  // namespace experiments
