/// \file
/// The experiment on constant and global memory.
// SPDX-License-Identifier: MIT
#include "memory_spaces.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

#include <cstring>
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

void lookUps(Report& report) {
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

template <Staging STAGING, class MakeSource>
void coefficientRow(Report& report, const char* name, const char* then, const ParameterCoefficients& values,
                    const MakeSource& sourceOf) {
  constexpr std::size_t N = 1 << 22, CHECKED = 1001;
  constexpr unsigned ROUNDS = 64;
  const DeviceArray<float> global(std::vector<float>(values.values, values.values + coefficients));
  const auto source = sourceOf(global.data());
  const auto in = wholeNumbers<float>(CHECKED);
  const auto found = resultOf<float>(
      in, CHECKED, [&](const float* from, float* to) { launchEvaluate<STAGING>(source, from, to, CHECKED, 2); });
  const TimedArray<float> timedIn(N), out(N);
  report.add({name,
              then,
              "",
              {billionsPerSecond(2.0 * coefficients * ROUNDS * N,
                                 [&] { launchEvaluate<STAGING>(source, timedIn.data(), out.data(), N, ROUNDS); })},
              found == evaluateOnHost(values, in, 2)});
}

void sharedCoefficients(Report& report) {
  ParameterCoefficients values{};
  std::vector<unsigned> words(spaceWords, 0);
  for (unsigned k = 0; k < coefficients; ++k) {
    values.values[k] = 0.0625F * static_cast<float>(k % 5) - 0.125F;
    std::memcpy(&words[k], &values.values[k], sizeof(float));
  }
  setConstantTable(words.data());
  report.table(
      {"A polynomial with 16 coefficients, the same for all threads", "coefficients in", "then", "", {"GFLOP/s"}});
  coefficientRow<Staging::none>(report, "parameters of the kernel", "shared memory", values,
                                [&](const float*) { return values; });
  coefficientRow<Staging::none>(report, "constant memory", "fast", values,
                                [](const float*) { return ConstantCoefficients{}; });
  coefficientRow<Staging::none>(report, "global memory", "", values,
                                [](const float* data) { return GlobalCoefficients{data}; });
  coefficientRow<Staging::shared>(report, "shared memory", "", values,
                                  [](const float* data) { return GlobalCoefficients{data}; });
}

void run(Report& report) {
  lookUps(report);
  sharedCoefficients(report);
}

}  // namespace

const Experiment memorySpacesExperiment{
    "memory_spaces",
    "The constant cache gives a warp one word at a time: at once where all lanes want the same, 32 times "
    "where\n"
    "they do not. L1 gives it a line at a time. For coefficients constant memory, for tables global memory.",
    run};

}  // namespace experiments
