/// \file
/// Runs the experiments: what they are about, what was published, what the analysis of their accesses
/// predicts, and what this device takes.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "run_header.cuh"
#include "timing.cuh"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

using namespace experiments;

namespace {

const std::vector<const Experiment*>& allExperiments() {
  static const std::vector<const Experiment*> all{
      &accessExperiment,      &structuresExperiment,    &sharedMemoryExperiment, &divergenceExperiment,
      &occupancyExperiment,   &matrixProductExperiment, &histogramExperiment,    &memorySpacesExperiment,
      &arithmeticExperiment,  &transfersExperiment,     &latencyExperiment,      &cachesExperiment,
      &registersExperiment,   &coarseningExperiment,    &throughputExperiment,   &atomicsExperiment,
      &asyncCopiesExperiment, &memoryRowsExperiment,    &reuseExperiment,        &numbersExperiment,
      &hostExperiment,        &limitsExperiment,        &texturesExperiment};
  return all;
}

int run(int count, char** words) {
  std::vector<std::string> names;
  for (const Experiment* each : allExperiments()) names.emplace_back(each->name);
  const Options options = parseOptions(count, words, names);
  if (options.list) {
    for (const Experiment* each : allExperiments()) std::printf("%s\n%s\n\n", each->name, each->lesson);
    return 0;
  }

  static_cast<void>(secondsOfFirstCall());

  const auto isWanted = [&](const Experiment* each) {
    return options.names.empty() ||
           std::find(options.names.begin(), options.names.end(), each->name) != options.names.end();
  };
  std::vector<const Experiment*> wanted;
  std::copy_if(allExperiments().begin(), allExperiments().end(), std::back_inserter(wanted), isWanted);
  printDevice("experiments");
  if (emulated)
    std::printf("Every kernel is checked. No times: the emulated device shows what a GPU computes, not how fast.\n");
  Report report(headerLines("experiments", options.command), !emulated, options.csv, options.json);
  for (const Experiment* each : wanted) {
    report.begin(each->name, each->lesson, wanted.size());
    each->run(report);
  }
  const int wrong = report.finish();
  std::printf(wrong == 0 ? "\nAll results agree with those of serial code.\n" : "\n%d results DISAGREE.\n", wrong);
  return wrong;
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("experiments", [&] { return run(count, words) == 0; });
}
