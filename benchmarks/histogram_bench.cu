/// \file
/// Histograms by number of bins, distribution and type of the samples, beside the best read of as many bytes and CUB.
// SPDX-License-Identifier: MIT
#include "support/buffers.cuh"
#include "support/goal_report.cuh"
#include "support/histogram_data.cuh"
#include "support/options.hpp"

#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>
#include <gpuopt/histogram_channels.cuh>
#include <gpuopt/histogram_weighted.cuh>

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t MOST_BINS = std::size_t{1} << 24;

template <class T>
constexpr const char* nameOfType = std::is_same_v<T, float> ? "float"
                                   : sizeof(T) == 1         ? "uint8"
                                                            : "uint16";

/// The upper limit of all samples.
template <class T>
auto limitOf() {
  if constexpr (std::is_floating_point_v<T>)
    return T(1);
  else
    return std::int64_t{1} << 8 * sizeof(T);
}

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : timer_(timer), buffers_(buffers), report_(report), bytes_(bytes) {}

  /// All distributions.
  template <class T>
  void bins(const char* group, std::size_t bins, double goal, bool besideCub = true) {
    for (const auto& [distribution, name] : distributions)
      run<T>(group, bytes_ / sizeof(T), bins, name, distribution, atLeast(goal), besideCub, Mode::coldRead);
  }

  /// Few samples, in a graph.
  void small(std::size_t n, std::size_t bins) {
    run<float>("small", n, bins, "uniform", Distribution::uniform, Goal{}, true, Mode::graph);
  }

  /// Three channels of bytes.
  void channels() {
    constexpr std::size_t BINS = 256;
    const std::size_t pixels = bytes_ / 3;
    const auto* samples = fill<std::uint8_t>(3 * pixels, Distribution::uniform, BINS);
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    const auto call = [=] { gpuopt::histogramChannels<3>(samples, pixels, out, BINS, 0, 256, stream); };
    countReference(samples, 3 * pixels, gpuopt::detail::evenBins<std::uint8_t>(BINS, 0, 256, "histogram_bench"), BINS,
                   3);
    channels("3 x uint8", pixels, call, {{BINS, BINS, BINS}, {256, 256, 256}});
  }

  /// The same with bins of their own.
  void ownChannels() {
    const std::size_t pixels = bytes_ / 3;
    const auto* samples = fill<std::uint8_t>(3 * pixels, Distribution::uniform, 256);
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    const auto call = [=] {
      gpuopt::histogramChannels<3>(samples, pixels, out, {{180, 0, 180}, {100, 0, 256}, {256, 0, 256}}, stream);
    };
    const auto slots = [](std::size_t bins, int upper) {
      return gpuopt::detail::evenBins<std::uint8_t>(bins, 0, upper, "histogram_bench");
    };
    clearReference(536);
    launchThreads(countOwnChannels<decltype(slots(1, 1))>, pixels, stream, samples, pixels, slots(180, 180),
                  slots(100, 256), slots(256, 256), reference_.as<unsigned>());
    channels("3 x own bins", pixels, call, {{180, 100, 256}, {180, 256, 256}});
  }

  /// Limits that leave out four samples of five.
  void window() {
    constexpr std::size_t BINS = 1024;
    const std::size_t n = bytes_ / sizeof(float);
    const float* samples = fill<float>(n, Distribution::uniform, BINS);
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    countReference(samples, n, gpuopt::detail::evenBins<float>(BINS, 0.4F, 0.6F, "histogram_bench"), BINS);
    const auto call = [=] { gpuopt::histogram(samples, n, out, BINS, 0.4F, 0.6F, stream); };
    form("float window", n, BINS, "uniform",
         {candidate("gpuopt", false, call, BINS), cub(samples, n, BINS, 0.4F, 0.6F)});
  }

  /// Pairs of samples in 128 x 128 bins.
  void pairs() {
    constexpr std::size_t SIDE = 128, BINS = SIDE * SIDE;
    const std::size_t n = bytes_ / (2 * sizeof(float));
    const float* x = fill<float>(2 * n, Distribution::normal, BINS);
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    clearReference(BINS);
    const auto slotOf = gpuopt::detail::evenBins<float>(SIDE, 0, 1, "histogram_bench");
    launchThreads(countPairs<decltype(slotOf)>, n, stream, x, x + n, slotOf, reference_.as<unsigned>());
    const auto call = [=] { gpuopt::histogram2d(x, x + n, n, out, {SIDE, 0.0F, 1.0F}, {SIDE, 0.0F, 1.0F}, stream); };
    form("float pairs", n, BINS, "normal", {candidate("gpuopt", false, call, BINS)});
  }

  /// Sums of weights.
  void weighted(Distribution distribution, const char* name) {
    constexpr std::size_t BINS = 1024;
    const std::size_t n = bytes_ / (2 * sizeof(float));
    const float* samples = fill<float>(2 * n, distribution, BINS);
    const float* weights = samples + n;
    float* out = buffers_.out<float>();
    const cudaStream_t stream = timer_.stream();
    auto* const sums = reference_.as<unsigned long long>();
    clearReference(2 * BINS);
    const auto slotOf = gpuopt::detail::evenBins<float>(BINS, 0, 1, "histogram_bench");
    launchThreads(addWeights<decltype(slotOf)>, n, stream, samples, weights, slotOf, sums);
    const auto call = [=] { gpuopt::histogramWeighted(samples, n, weights, out, BINS, 0, 1, stream); };
    form("float weighted", n, BINS, name, {buffers_.candidate("gpuopt", false, call, BINS, AreSumsEqual{out, sums})});
  }

 private:
  // Bins and upper limits of three channels.
  struct Channels {
    cuda::std::array<int, 3> bins, upper;
  };

  template <class Call>
  void channels(const char* element, std::size_t pixels, const Call& call, const Channels& axes) {
    const auto* samples = samples_.as<std::uint8_t>();
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    const int bins = axes.bins[0] + axes.bins[1] + axes.bins[2];
    auto* storage = storage_.as<void>();
    const std::size_t limit = storage_.bytes();
    const auto cub = [=] {
      const cuda::std::array<unsigned*, 3> counts{out, out + axes.bins[0], out + axes.bins[0] + axes.bins[1]};
      const cuda::std::array<int, 3> lower{0, 0, 0};
      const cuda::std::array<int, 3> levels{axes.bins[0] + 1, axes.bins[1] + 1, axes.bins[2] + 1};
      std::size_t bytes = limit;
      check((cub::DeviceHistogram::MultiHistogramEven<3, 3>(storage, bytes, samples, counts, levels, lower, axes.upper,
                                                            static_cast<std::int64_t>(pixels), stream)),
            "cub::DeviceHistogram");
    };
    const auto count = static_cast<std::size_t>(bins);
    report_.run({"channels",
                 element,
                 fmt::format("{} pixels, {} bins", pixels, bins / 3),
                 fmt::format("{},{},uniform", pixels, bins / 3),
                 3 * pixels,
                 Goal{},
                 {candidate("gpuopt", false, call, count), candidate("CUB", true, cub, count)},
                 {read(3 * pixels)},
                 Mode::coldRead});
  }

  // A form of histogram that reads all of the buffer.
  void form(const char* element, std::size_t n, std::size_t bins, const char* name,
            const std::vector<Candidate>& candidates) {
    report_.run({"forms",
                 element,
                 fmt::format("{} bins, {}", bins, name),
                 fmt::format("{},{},{}", n, bins, name),
                 bytes_,
                 Goal{},
                 candidates,
                 {read(bytes_)},
                 Mode::coldRead});
  }

  template <class T>
  void run(const char* group, std::size_t n, std::size_t bins, const char* name, Distribution distribution,
           const Goal& goal, bool besideCub, Mode mode) {
    const T* samples = fill<T>(n, distribution, bins);
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    countReference(samples, n, gpuopt::detail::evenBins<T>(bins, {}, limitOf<T>(), "histogram_bench"), bins);
    const auto call = [=] { gpuopt::histogram(samples, n, out, bins, {}, limitOf<T>(), stream); };
    std::vector<Candidate> candidates{candidate("gpuopt", false, call, bins)};
    if (besideCub) candidates.push_back(cub(samples, n, bins, T(0), limitOf<T>()));
    report_.run({group,
                 nameOfType<T>,
                 fmt::format("{} bins, {}", bins, name),
                 fmt::format("{},{},{}", n, bins, name),
                 n * sizeof(T),
                 goal,
                 candidates,
                 {read(n * sizeof(T))},
                 mode});
  }

  template <class T>
  T* fill(std::size_t n, Distribution distribution, std::size_t bins) const {
    T* samples = samples_.as<T>();
    fillSamples<<<2048, 512, 0, timer_.stream()>>>(samples, n, distribution, static_cast<std::uint32_t>(bins));
    check(cudaGetLastError(), "fillSamples");
    return samples;
  }

  void clearReference(std::size_t words) const {
    check(cudaMemsetAsync(reference_.as<void>(), 0, words * sizeof(unsigned), timer_.stream()), "cudaMemsetAsync");
  }

  // Counts each sample by an atomic in global memory.
  template <class T, class SlotOf>
  void countReference(const T* samples, std::size_t n, const SlotOf& slotOf, std::size_t bins,
                      unsigned channels = 1) const {
    clearReference(channels * bins);
    countPlainly<<<1024, 512, 0, timer_.stream()>>>(samples, n, slotOf, static_cast<std::uint32_t>(bins), channels,
                                                    reference_.as<unsigned>());
    check(cudaGetLastError(), "countPlainly");
  }

  template <class Call>
  Candidate candidate(const char* name, bool isPeer, const Call& call, std::size_t counts) const {
    const AreCountsEqual areEqual{buffers_.out<unsigned>(), reference_.as<unsigned>()};
    return buffers_.candidate(name, isPeer, call, counts, areEqual);
  }

  // Its results are not compared: it has another rule for samples at an edge.
  template <class T, class Upper>
  Candidate cub(const T* samples, std::size_t n, std::size_t bins, T lower, Upper upper) const {
    using Level = std::conditional_t<std::is_floating_point_v<T>, T, int>;
    auto* storage = storage_.as<void>();
    const std::size_t limit = storage_.bytes();
    unsigned* out = buffers_.out<unsigned>();
    const cudaStream_t stream = timer_.stream();
    const auto call = [=] {
      std::size_t bytes = limit;
      check(cub::DeviceHistogram::HistogramEven(storage, bytes, samples, out, static_cast<int>(bins) + 1,
                                                static_cast<Level>(lower), static_cast<Level>(upper),
                                                static_cast<std::int64_t>(n), stream),
            "cub::DeviceHistogram");
    };
    return {"CUB", call, nullptr, false, 0, true};
  }

  Candidate read(std::size_t bytes) const {
    return vectorRead(samples_.as<uint4>(), bytes, never_.as<unsigned>(), timer_.stream());
  }

  Timer& timer_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
  DeviceMemory samples_{bytes_};
  DeviceMemory reference_{MOST_BINS * sizeof(unsigned)};
  DeviceMemory storage_{std::size_t{6} << 30};  // CUB's at 2^20 bins: 2 GiB
  DeviceMemory never_{256};
};

void measureFloat(Bench& bench) {
  for (const std::size_t bins : {1, 16, 64, 256, 1024, 4096, 8192}) bench.bins<float>("float", bins, 0.92);
  bench.bins<float>("float", 32768, 0.90);
  bench.bins<float>("float", 57600, 0.88);
}

void measureMany(Bench& bench) {
  bench.bins<float>("many", 65536, 0.60);
  bench.bins<float>("many", 131072, 0.31);
  bench.bins<float>("many", 262144, 0.21);
  bench.bins<float>("many", std::size_t{1} << 20, 0.18);
  bench.bins<float>("many", MOST_BINS, 0.10, false);
}

void measureShort(Bench& bench) {
  bench.bins<std::uint16_t>("short", 256, 0.84);
  bench.bins<std::uint16_t>("short", 4096, 0.82);
  bench.bins<std::uint16_t>("short", 65536, 0.40);
}

void measureBytes(Bench& bench) { bench.bins<std::uint8_t>("bytes", 256, 0.49); }

void measureChannels(Bench& bench) {
  bench.channels();
  bench.ownChannels();
}

void measureForms(Bench& bench) {
  bench.window();
  bench.pairs();
  bench.weighted(Distribution::uniform, "uniform");
  bench.weighted(Distribution::zipf, "zipf");
}

void measureSmall(Bench& bench) {
  for (const std::size_t bins : {256, 4096})
    for (std::size_t n = std::size_t{1} << 10; n <= std::size_t{1} << 20; n *= 4) bench.small(n, bins);
}

constexpr Group<Bench> groups[] = {{"float", measureFloat}, {"many", measureMany},         {"short", measureShort},
                                   {"bytes", measureBytes}, {"channels", measureChannels}, {"forms", measureForms},
                                   {"small", measureSmall}};

int run(Options& options) {
  Names rows = namesOf(groups);
  options.choice("--rows", rows, "groups of cases");
  options.parse(11, 7);
  Timer timer(options.repetitions);
  const std::size_t bytes = (options.isQuick ? 256 : 1024) * MiB;
  const Buffers buffers(MOST_BINS * sizeof(unsigned), timer.stream());
  GoalReport report(timer, options, "n,bins,distribution", copyBandwidth(timer, buffers));
  Bench bench(timer, buffers, report, bytes);
  measureChosen(groups, rows, bench);
  return report.finish(report.peers());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "histogram_bench", "Histograms, beside the best read and CUB.", run);
}
