/// \file
/// The experiment on constant and global memory.
// SPDX-License-Identifier: MIT
#include "memory_spaces.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

#include <vector>

namespace experiments {
namespace {

template <class MakeTable>
bool isRight(const std::vector<unsigned>& words, unsigned laneStep, const MakeTable& tableOf) {
  constexpr std::size_t N = 1001;
  constexpr unsigned ROUNDS = 7;
  return lookUpOnHost(words, N, ROUNDS, laneStep) ==
         resultOf<unsigned>(words, N, [&](const unsigned* from, unsigned* to) {
           launchLookUp(tableOf(from), to, N, ROUNDS, laneStep);
         });
}

void run(Report& report) {
  constexpr std::size_t N = 1 << 20;
  constexpr unsigned ROUNDS = 256;
  constexpr struct {
    const char* name;
    unsigned laneStep;
    const char* then;
  } rows[] = {{"one word for all lanes", 0, "constant: fast"},
              {"32 neighbours", 1, "constant: 32 in turn"},
              {"32 words in as many lines", 33, "constant: 32 in turn"}};

  const auto words = wholeNumbers<unsigned>(spaceWords);
  setConstantTable(words.data());
  const TimedArray<unsigned> table(spaceWords), out(N);
  const auto constantOf = [](const unsigned*) { return ConstantTable{}; };
  const auto readOnlyOf = [](const unsigned* data) { return ReadOnlyTable{data}; };
  const auto globalOf = [](const unsigned* data) { return GlobalTable{data}; };
  report.table({"256 look-ups of each thread in a table of 4 KiB",
                "what a warp reads",
                "then",
                "a warp's read",
                {"constant, us", "read-only, us", "global, us"}});
  for (const auto& row : rows) {
    const auto timed = [&](const auto& tableOf) {
      return 1e6 * secondsOf([&] { launchLookUp(tableOf(table.data()), out.data(), N, ROUNDS, row.laneStep); });
    };
    const auto access = gpuopt::globalAccess<unsigned>([&](unsigned lane) { return lane * row.laneStep % spaceWords; });
    report.add({row.name,
                row.then,
                format("sectors: %u, lines: %u", access.sectors, access.lines),
                {timed(constantOf), timed(readOnlyOf), timed(globalOf)},
                isRight(words, row.laneStep, constantOf) && isRight(words, row.laneStep, readOnlyOf) &&
                    isRight(words, row.laneStep, globalOf)});
  }
}

}  // namespace

const Experiment memorySpacesExperiment{
    "memory_spaces",
    "The constant cache gives a warp one word at a time: at once where all lanes want the same, 32 times "
    "where\n"
    "they do not. L1 gives it a line at a time. For coefficients constant memory, for tables global memory.",
    run};

}  // namespace experiments
