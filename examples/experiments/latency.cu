/// \file
/// The experiment on latency.
// SPDX-License-Identifier: MIT
#include "latency.cuh"

#include "experiment.hpp"
#include "host_memory.cuh"
#include "measure.cuh"

#include <algorithm>
#include <string>
#include <utility>

namespace experiments {
namespace {

constexpr unsigned steps = emulated ? 100 : 2048;

constexpr int launches = emulated ? 2 : 7;

/// The least cycles of some launches, each of which changes *state.
template <class State, class Launch>
long long leastCycles(DeviceArray<State>& state, const Launch& launch) {
  long long least = 0;
  for (int call = 0; call < launches; ++call) {
    launch(state.data());
    const long long cycles = state.toHost()[0].cycles;
    least = call == 0 ? cycles : (std::min)(least, cycles);
  }
  return least;
}

/// Cycles a second, where they are counted.
double clockRate() { return 1e3 * gpuopt::deviceAttribute(cudaDevAttrClockRate, gpuopt::currentDevice()); }

struct Cycles {
  double each;
  bool isRight;
};

/// Chases go on where the last one ended, so that none finds in L2 what another one has read.
template <class Load>
Cycles chaseCycles(unsigned* next, unsigned lines, Load load) {
  launchLinks(next, lines);
  const unsigned warmUp = (std::min)(lines, emulated ? 10u : 4096u);
  DeviceArray<Chase> chase(std::vector<Chase>{Chase{}});
  const auto cycles = leastCycles(chase, [&](Chase* state) { launchChase(next, warmUp, steps, load, state); });
  return {static_cast<double>(cycles) / steps,
          chase.toHost()[0].at == chaseOnHost(lines, launches * (warmUp + steps)) * chaseStride};
}

template <class Load>
Cycles globalCycles(unsigned lines, Load load) {
  const DeviceArray<unsigned> next(std::size_t{lines} * chaseStride);
  return chaseCycles(next.data(), lines, load);
}

/// Through the link, a line after the other.
Cycles hostCycles(unsigned lines) {
  const HostBuffer next(HostMemory::mapped, std::size_t{lines} * chaseStride * sizeof(unsigned));
  return chaseCycles(next.onDevice<unsigned>(), lines, CachedLoad{});
}

Cycles sharedCycles() {
  DeviceArray<Chase> chase(1);
  const auto cycles = leastCycles(chase, [](Chase* state) { launchSharedChase(steps, state); });
  return {static_cast<double>(cycles) / steps, chase.toHost()[0].at == chaseOnHost(sharedChaseWords, steps)};
}

template <int CHAINS>
Cycles arithmeticCycles(unsigned block) {
  DeviceArray<BlockResult> result(1);
  const auto cycles =
      leastCycles(result, [=](BlockResult* state) { launchDependentSteps<CHAINS>(block, 1, 0.5F, steps, state); });
  return {static_cast<double>(cycles) / steps, result.toHost()[0].sum == dependentStepsOnHost(CHAINS, 1, 0.5F, steps)};
}

void latencies(Report& report) {
  report.table({"A step of a chain that waits for the last one", "a step", "then, cycles", "", {"cycles", "ns"}});
  const auto add = [&](const std::string& name, const char* then, const Cycles& cycles) {
    report.add({name, then, "", {cycles.each, 1e9 * cycles.each / clockRate()}, cycles.isRight});
  };
  add("multiply-add", "24 (11)", arithmeticCycles<1>(32));
  add("load from shared memory", "1 to 2", sharedCycles());
  constexpr std::size_t KIB = 1024, LINE = 128;
  add("load, of 16 KiB, from L1", "no L1", globalCycles(16 * KIB / LINE, CachedLoad{}));
  add("load, of 4 MiB, from L2", "no L2", globalCycles(4096 * KIB / LINE, L2Load{}));
  add("load, of 1 GiB, from memory", "400 to 800",
      globalCycles(emulated ? 64 : 1024 * 1024 * KIB / LINE, CachedLoad{}));
  add("load, of 64 MiB of the host's", "", hostCycles(emulated ? 64 : 64 * 1024 * KIB / LINE));
}

void bySize(Report& report) {
  report.table({"A load from an array that is walked in no order, by its size", "array", "", "", {"cycles"}});
  for (const unsigned kibibytes :
       {16u, 64u, 128u, 256u, 512u, 1024u, 4096u, 16384u, 32768u, 65536u, 262144u, 1048576u}) {
    const auto cycles = globalCycles(emulated ? 8 : 8 * kibibytes, CachedLoad{});
    const std::string name = kibibytes < 1024 ? format("%u KiB", kibibytes) : format("%u MiB", kibibytes / 1024);
    report.add({name, "", "", {cycles.each}, cycles.isRight});
  }
}

/// Multiply-adds of a multiprocessor in a cycle: each chain has one in every `latency` cycles, up to 128 in all.
template <int... CHAINS>
void arithmetic(Report& report, std::integer_sequence<int, CHAINS...>) {
  constexpr double LATENCY = 4, MOST = 128;
  report.table({"Multiply-adds a cycle and multiprocessor, by chains of each thread; at most 128, 4 cycles each",
                "warps",
                "then",
                "1, 2, 4 chains",
                {format("%d, a cycle", CHAINS)...}});
  for (const unsigned warps : {1u, 2u, 4u, 6u, 8u, 16u, 32u}) {
    const auto predicted = [=](int chains) { return (std::min)(MOST, 32 * warps * chains / LATENCY); };
    const Cycles found[] = {arithmeticCycles<CHAINS>(32 * warps)...};
    std::size_t number = 0;
    std::vector<double> rates;
    std::string prediction;
    for (const int chains : {CHAINS...}) {
      rates.push_back(32 * warps * chains / found[number++].each);
      prediction += format("%s%.0f", prediction.empty() ? "" : ", ", predicted(chains));
    }
    const bool isRight = std::all_of(found, found + sizeof...(CHAINS), [](const Cycles& each) { return each.isRight; });
    report.add({std::to_string(warps), warps == 6 ? "enough: 192 threads" : "", prediction, rates, isRight});
  }
}

template <int LOADS>
bool sumsRightly() {
  const auto words = wholeNumbers<unsigned>(LOADS * 3 * 64 * 2);
  return sumsOnHost(words, 3 * 64) == resultOf<unsigned>(words, 3 * 64, [&](const unsigned* from, unsigned* to) {
           launchSumInFlight<LOADS>(from, to, words.size(), 3, 64);
         });
}

/// Little's law: what is in flight is bandwidth times latency.
template <int... LOADS>
void memory(Report& report, std::integer_sequence<int, LOADS...>) {
  const auto blocks = static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  const TimedArray<unsigned> in(std::size_t{1} << 28, Filling::bits), out(blocks * 2048);
  const double latency = emulated ? 1 : globalCycles(8 * 1024 * 1024, CachedLoad{}).each / clockRate();
  report.table({"Reads of memory in GB/s, by loads in flight of each thread; predicted: bytes in flight / latency",
                "warps a multiprocessor",
                "",
                emulated ? "KiB in flight" : "1, 4, 16 loads",
                {format("%d, GB/s", LOADS)...}});
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    const unsigned block = 32 * (std::min)(warps, 32u), grid = blocks * (warps > 32 ? 2 : 1);
    const std::size_t threads = std::size_t{grid} * block, n = (std::size_t{1} << 28) / (16 * threads) * 16 * threads;
    std::string prediction;
    for (const int loads : {LOADS...}) {
      const double inFlight = 4.0 * loads * static_cast<double>(threads);
      prediction +=
          format("%s%.0f", prediction.empty() ? "" : ", ", emulated ? inFlight / 1024 : 1e-9 * inFlight / latency);
    }
    report.add({std::to_string(warps),
                "",
                prediction,
                {billionsPerSecond(4.0 * static_cast<double>(n),
                                   [&] { launchSumInFlight<LOADS>(in.data(), out.data(), n, grid, block); })...},
                (sumsRightly<LOADS>() && ...)});
  }
}

void run(Report& report) {
  latencies(report);
  bySize(report);
  arithmetic(report, std::integer_sequence<int, 1, 2, 4>{});
  memory(report, std::integer_sequence<int, 1, 4, 16>{});
}

}  // namespace

const Experiment latencyExperiment{
    "latency",
    "Latency is what one step takes that has to wait for the last one. Little's law says how much must be in\n"
    "flight to hide it: bandwidth times latency, whether by many warps or by independent work of each thread.",
    run};

}  // namespace experiments
