/// \file
/// The experiment on histograms.
// SPDX-License-Identifier: MIT
#include "histogram.cuh"

#include "experiment.hpp"
#include "histogram_partition.cuh"
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

// Memory for a partition of n values; of one on the emulated device, if it is for timed calls.
template <template <class> class Array>
struct PartitionArrays {
  Array<unsigned short> values;
  Array<unsigned> sizes{binRanges}, ends{binRanges};

  explicit PartitionArrays(std::size_t n) : values(n) {}
  PartitionMemory memory() const { return {values.data(), sizes.data(), ends.data()}; }
};

__global__ void makeBinNumbers(unsigned* data, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += threads) data[i] = ladders::elementAt<unsigned>(i) % manyBins;
}

// Whether count(data, n, bins) counts right; the bins are zeros before.
template <class Count>
bool isRightOfMany(const Count& count) {
  std::vector<unsigned> data(3 * tileValues + 77);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = ladders::elementAt<unsigned>(i) % manyBins;
  const auto bins = resultOf<unsigned>(data, manyBins, [&](const unsigned* from, unsigned* to) {
    gpuopt::check(cudaMemset(to, 0, manyBins * sizeof(unsigned)), "cudaMemset");
    count(from, data.size(), to);
  });
  return bins == manyBinsOnHost(data);
}

void runMany(Report& report) {
  constexpr std::size_t N = std::size_t{1} << 26;
  const TimedArray<unsigned> data(N), bins(manyBins);
  const unsigned blocks = 8 * static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  if (!emulated) gpuopt::launch(makeBinNumbers, gridFor(std::size_t{blocks} * 256, 256), data.data(), N);
  const PartitionArrays<DeviceArray> small(3 * tileValues + 77);
  const PartitionArrays<TimedArray> large(N);
  report.table({"2^20 bins of 256 MiB: numbers of 4 bytes without pattern", "step", "", "", {"GB/s"}});
  const auto add = [&](const char* name, const auto& countSmall, const auto& count) {
    const double speed = billionsPerSecond(N * sizeof(unsigned), [&] { count(data.data(), N, bins.data()); });
    report.add({name, "", "", {speed}, isRightOfMany(countSmall)});
  };
  for (const ManyBinsStep& step : manyBinsSteps) {
    const auto countBy = [&step](const PartitionMemory& memory, unsigned with) {
      return [&step, memory, with](const unsigned* from, std::size_t n, unsigned* to) {
        step.launch(from, n, to, memory, with);
      };
    };
    add(step.name, countBy(small.memory(), 3), countBy(large.memory(), blocks));
  }
  const auto library = [](const unsigned* from, std::size_t n, unsigned* to) {
    gpuopt::bincount(from, n, to, manyBins);
  };
  add("gpuopt::bincount", library, library);
}

void runFew(Report& report) {
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

void run(Report& report) {
  runFew(report);
  runMany(report);
}

}  // namespace

const Experiment histogramExperiment{
    "histogram",
    "Atomics on one word happen one after another. Histograms of their own for blocks and warps divide "
    "those\n"
    "who want it; joining equal values before they are counted makes the atomics fewer. Of more bins than\n"
    "shared memory has room for, a partition counts one range after the other.",
    run};

}  // namespace experiments
