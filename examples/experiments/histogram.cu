/// \file
/// The experiment on histograms.
// SPDX-License-Identifier: MIT
#include "histogram.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/histogram.cuh>

#include <vector>

namespace experiments {
namespace {

// Whether count(data, n, bins) counts right; the bins are zeros before.
template <class Count>
bool isRight(const Count& count, const std::vector<unsigned char>& data) {
  const auto bins = resultOf<unsigned>(data, histogramBins, [&](const unsigned char* from, unsigned* to) {
    gpuopt::check(cudaMemset(to, 0, histogramBins * sizeof(unsigned)), "cudaMemset");
    count(from, data.size(), to);
  });
  return bins == histogramOnHost(data);
}

void run(Report& report) {
  constexpr std::size_t N = std::size_t{1} << 28, RUN = 64;
  std::vector<unsigned char> random(5003), alike(5003, 200), runs(5003);
  for (std::size_t i = 0; i < random.size(); ++i) {
    random[i] = static_cast<unsigned char>(ladders::elementAt<unsigned>(i));
    runs[i] = static_cast<unsigned char>(ladders::elementAt<unsigned>(i / RUN));
  }

  const TimedArray<unsigned char> timedRandom(N, Filling::bits), timedAlike(N);
  if (!emulated) gpuopt::check(cudaMemset(timedAlike.data(), 200, N), "cudaMemset");
  const TimedArray<unsigned> bins(histogramBins);
  const unsigned blocks = 8 * static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  report.table(
      {"256 bins of 256 MiB: values without pattern, and all alike", "step", "", "", {"random, GB/s", "alike, GB/s"}});
  const auto add = [&](const char* name, const auto& countSmall, const auto& count) {
    const auto timed = [&](const TimedArray<unsigned char>& data) {
      return billionsPerSecond(N, [&] { count(data.data(), N, bins.data()); });
    };
    const bool right = isRight(countSmall, random) && isRight(countSmall, alike) && isRight(countSmall, runs);
    report.add({name, "", "", {timed(timedRandom), timed(timedAlike)}, right});
  };
  for (const HistogramStep& step : histogramSteps) {
    const auto countBy = [&](unsigned with) {
      return [&step, with](const unsigned char* data, std::size_t n, unsigned* to) {
        launchHistogram(step, data, n, to, with);
      };
    };
    add(step.name, countBy(3), countBy(blocks));
  }
  const auto library = [](const unsigned char* data, std::size_t n, unsigned* to) {
    gpuopt::bincount(data, n, to, histogramBins);
  };
  add("gpuopt::bincount", library, library);
}

}  // namespace

const Experiment histogramExperiment{
    "histogram",
    "Atomics on one word happen one after another. Histograms of their own for blocks and warps divide "
    "those\n"
    "who want it; joining equal values before they are counted makes the atomics fewer.",
    run};

}  // namespace experiments
