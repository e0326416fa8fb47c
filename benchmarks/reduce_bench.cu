/// \file
/// Sums of every type and length: gpuopt::reduceInto against CUB's DeviceReduce and Thrust.
// SPDX-License-Identifier: MIT
#include "support/cub_environment.cuh"
#include "support/data.cuh"
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/reduce.cuh>

#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t maxBytes = std::size_t{4} << 30;

struct Lengths {
  int from;
  int to;
  int step;
};

struct Bench {
  Timer& timer;
  Report& report;
  const DeviceMemory& data;
  gpuopt::Workspace workspace{};
  DeviceMemory scratch{std::size_t{16} << 20};  // CUB's temporary storage
  Output output{};
};

// CUB with the index type that a user would choose for n: the 32-bit one where it suffices.
template <class T, class N>
void cubReduce(const Bench& bench, const T* in, N n, AccumulatorOf<T>* out) {
  using A = AccumulatorOf<T>;
  std::size_t bytes = bench.scratch.bytes();
  check(cub::DeviceReduce::Reduce(bench.scratch.as<void>(), bytes, in, out, n, cuda::std::plus<A>{}, A{},
                                  bench.timer.stream()),
        "cub::DeviceReduce::Reduce");
}

template <class T>
void cubSum(const Bench& bench, const T* in, std::size_t n, AccumulatorOf<T>* out) {
  if constexpr (maxBytes / sizeof(T) > (std::numeric_limits<std::uint32_t>::max)())
    if (n > (std::numeric_limits<std::uint32_t>::max)()) return cubReduce(bench, in, n, out);
  cubReduce(bench, in, static_cast<std::uint32_t>(n), out);
}

#if GPUOPT_BENCHMARK_CUB_ENVIRONMENTS
// Sums of floats whose bits are alike on every run, or on every GPU as well, which gpuopt's always are.
void addDeterministic(Case& work, Bench& bench, const float* in, std::size_t n, const Reference<float>& reference) {
  float* out = bench.output.device<float>();
  const auto add = [&](const char* name, auto determinism) {
    const auto call = [=, &bench] {
      const ReadyMemory memory(bench.scratch.as<void>(), bench.scratch.bytes());
      const auto environment = cubEnvironment(bench.timer.stream(), memory, determinism);
      check(cub::DeviceReduce::Reduce(in, out, static_cast<std::uint32_t>(n), cuda::std::plus<float>{}, 0.0f,
                                      environment),
            name);
    };
    work.candidates.push_back(candidate(name, out, call, [=](float sum) { return reference.matches(sum); }));
  };
  add("cub::DeviceReduce::Reduce run_to_run", cuda::execution::determinism::run_to_run);
  add("cub::DeviceReduce::Reduce gpu_to_gpu", cuda::execution::determinism::gpu_to_gpu);
}
#endif

template <class T>
void measureLength(Bench& bench, std::size_t n) {
  using A = AccumulatorOf<T>;
  const T* in = bench.data.as<T>();
  A* out = bench.output.device<A>();
  A* value = bench.output.host<A>();
  const Reference<T> reference(in, n, bench.timer.stream());
  const auto right = [=](const A& sum) { return reference.matches(sum); };

  Case work{"sum", Element<T>::name, n, n * sizeof(T), {}};
  work.candidates.push_back(candidate(
      "gpuopt", out,
      [=, &bench] { gpuopt::reduceInto(in, n, out, gpuopt::Plus{}, bench.timer.stream(), &bench.workspace); }, right));
  work.candidates.push_back(candidate(
      "cub::DeviceReduce::Reduce", out, [=, &bench] { cubSum(bench, in, n, out); }, right));
  work.candidates.push_back(candidate(
      "thrust::reduce", value,
      [=, &bench] {
        *value = thrust::reduce(thrust::cuda::par.on(bench.timer.stream()), in, in + n, A{}, cuda::std::plus<A>{});
      },
      right, true));
#if GPUOPT_BENCHMARK_CUB_ENVIRONMENTS
  if constexpr (std::is_same_v<T, float>) addDeterministic(work, bench, in, n, reference);
#endif
  bench.report.run(work);
}

template <class T>
void measureType(Bench& bench, const Lengths& lengths) {
  fillRandom(bench.data.as<T>(), bench.data.bytes() / sizeof(T), bench.timer.stream());
  for (int exponent = lengths.from; exponent <= lengths.to; exponent += lengths.step)
    if ((sizeof(T) << exponent) <= bench.data.bytes()) measureLength<T>(bench, std::size_t{1} << exponent);
}

template <class... Types>
void measureTypes(Bench& bench, const Lengths& lengths, const Names& types) {
  ((contains(types, Element<Types>::name) ? measureType<Types>(bench, lengths) : void()), ...);
}

Names peersOf(const Report& report) {
  Names peers;
  for (const Row& row : report.rows())
    if (row.name == "sum" && row.candidate != "gpuopt" && !contains(peers, row.candidate))
      peers.push_back(row.candidate);
  return peers;
}

// Of one mode and peer: the geometric mean over middle lengths, the worst cell, and how many are lost.
void summarizePeer(const Report& report, Mode mode, const std::string& peer, ReportLines& lines) {
  std::vector<double> middle;
  const Row* worst = nullptr;
  int lost = 0;
  for (const Row& row : report.rows()) {
    if (row.mode != mode || row.candidate != peer) continue;
    if (row.n >= 1 << 14 && row.n <= 1 << 24) middle.push_back(row.ratio);
    if (worst == nullptr || row.ratio < worst->ratio) worst = &row;
    lost += row.ratio < 0.99;
  }
  if (worst == nullptr) return;
  const std::string name = peer + " over gpuopt, " + nameOf(mode);
  if (!middle.empty()) lines.emplace_back(name + ", mean of 2^14 to 2^24", detail::geometricMean(middle));
  lines.emplace_back(name + ", worst (" + worst->type + " " + std::to_string(worst->n) + ")", worst->ratio);
  lines.emplace_back(name + ", cells below 0.99", lost);
}

ReportLines summarize(const Report& report) {
  ReportLines lines;
  const Names peers = peersOf(report);
  for (const Mode mode : report.modes())
    for (const std::string& peer : peers) summarizePeer(report, mode, peer, lines);
  return lines;
}

int run(Options& options) {
  Names types{"float", "double", "half", "bfloat16", "int8", "float3", "struct20"};
  Names modes = allModes();
  Lengths lengths{10, 32, 0};
  options.choice("--types", types, "element types");
  options.choice("--modes", modes, "how the cache is before a sample, and which clock is read");
  options.number("--from", lengths.from, "base 2 logarithm of the least length");
  options.number("--to", lengths.to, "base 2 logarithm of the greatest length, up to 4 GiB of each type");
  options.number("--step", lengths.step, "between the logarithms; 0: 1, or 2 with --quick");
  options.parse(61, 21);
  if (lengths.step == 0) lengths.step = options.isQuick ? 2 : 1;
  Timer timer(options.repetitions);

  const DeviceMemory data(maxBytes);
  fillRandom(data.as<float>(), data.bytes() / sizeof(float), timer.stream());
  Report report(timer, modesOf(modes), options, copyBandwidth(timer, data));
  report.run({"empty", "kernel", 0, 1, {{"launch", [&] { launchEmpty(timer.stream()); }, nullptr}}});
  Bench bench{timer, report, data};
  measureTypes<float, double, __half, __nv_bfloat16, std::int8_t, Float3, Float5>(bench, lengths, types);
  return report.finish(summarize(report));
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_bench", "Sums of seven types, beside CUB and Thrust.", run);
}
