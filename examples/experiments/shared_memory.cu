/// \file
/// The experiment on bank conflicts.
// SPDX-License-Identifier: MIT
#include "shared_memory.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

#include <string>
#include <vector>

namespace experiments {
namespace {

std::string text(const gpuopt::SharedAccess& access) {
  return format("%u-way, wavefronts: %u", access.degree, access.wavefronts);
}

/// What the rows of one width share: the table that is read, and the time of the first row, the unit of the others.
template <class T>
struct Banks {
  TimedArray<T> in{bankWords, Filling::bits};
  unsigned blocks = 8 * static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  TimedArray<unsigned> out{blocks * bankBlock};
  std::vector<unsigned> words = wholeNumbers<unsigned>(bankWords * sizeof(T) / 4);
  double unit = 0;
};

template <class T>
void bankRow(Report& report, Banks<T>& banks, const std::string& name, const LaneIndices& lanes, const char* then) {
  constexpr unsigned ROUNDS = 4096, FEW = 10, BLOCKS = 2;
  const auto sums = resultOf<unsigned>(banks.words, BLOCKS * bankBlock, [&](const unsigned* from, unsigned* to) {
    launchBanks(reinterpret_cast<const T*>(from), to, BLOCKS, lanes, FEW);
  });
  const double seconds =
      secondsOf([&] { launchBanks(banks.in.data(), banks.out.data(), banks.blocks, lanes, ROUNDS); });
  if (banks.unit == 0) banks.unit = seconds;
  report.add({name,
              then,
              text(gpuopt::sharedLoad<T>([&](unsigned lane) { return lanes.index[lane]; })),
              {1e6 * seconds, banks.unit > 0 ? seconds / banks.unit : 0},
              sums == banksOnHost(banks.words, sizeof(T) / 4, BLOCKS, lanes, FEW)});
}

template <class T>
void bankRows(Report& report) {
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
  Banks<T> banks;
  for (const auto& row : rows)
    if (sizeof(T) == 4 || !row.isForWordsOnly)
      bankRow(report, banks, format("%u bytes, ", static_cast<unsigned>(sizeof(T))) + row.name, row.lanes,
              sizeof(T) == 4 ? row.then : "");
}

/// The index expressions of the classical texts.
void classicalPatterns(Report& report) {
  report.table({"Index expressions of CUDA Performance, 4096 reads of words",
                "index",
                "then",
                "a warp's read",
                {"us", "of tid"}});
  Banks<unsigned> banks;
  bankRow(report, banks, "tid", strided(1), "none");
  bankRow(report, banks, "tid - tid % 2", inPairs(), "none");
  bankRow(report, banks, "tid + tid % 2 * 31", oddApart(), "2-way");
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
  classicalPatterns(report);
}

}  // namespace

const Experiment sharedMemoryExperiment{
    "shared_memory",
    "Word w of shared memory lies in bank w % 32, and a bank serves one word at a time, to all who want it.\n"
    "n different words of one bank take n passes (wavefronts), so the time is that of the worst bank.",
    run};

}  // namespace experiments
