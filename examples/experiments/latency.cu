/// \file
/// The experiment on latency.
// SPDX-License-Identifier: MIT
#include "latency.cuh"

#include "block_steps.cuh"
#include "experiment.hpp"
#include "grid_steps.cuh"
#include "host.cuh"
#include "mailbox.cuh"
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
long long minCycles(DeviceArray<State>& state, const Launch& launch) {
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
  const auto cycles = minCycles(chase, [&](Chase* state) { launchChase(next, warmUp, steps, load, state); });
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
  const auto cycles = minCycles(chase, [](Chase* state) { launchSharedChase(steps, state); });
  return {static_cast<double>(cycles) / steps, chase.toHost()[0].at == chaseOnHost(sharedChaseWords, steps)};
}

template <int CHAINS>
Cycles arithmeticCycles(unsigned block) {
  DeviceArray<BlockResult> result(1);
  const auto cycles =
      minCycles(result, [=](BlockResult* state) { launchDependentSteps<CHAINS>(block, 1, 0.5F, steps, state); });
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

// ------------------------------------------------------------------------------- waiting for each other

template <class Step, int BLOCK>
Cycles blockStepCycles() {
  const auto values = wholeNumbers<float>(BLOCK);
  const DeviceArray<float> in(values), out(values.size());
  const DeviceArray<long long> cycles(1);
  out.poison();
  long long least = 0;
  for (int call = 0; call < launches; ++call) {
    launchBlockStep<Step, BLOCK>(in.data(), out.data(), steps, cycles.data());
    const long long taken = cycles.toHost()[0];
    least = call == 0 ? taken : (std::min)(least, taken);
  }
  return {static_cast<double>(least) / steps, out.toHost() == blockStepOnHost<Step>(values, steps)};
}

template <int WARPS>
void blockStepRow(Report& report) {
  constexpr int BLOCK = 32 * WARPS;
  const Cycles found[] = {blockStepCycles<BlockBarrier, BLOCK>(), blockStepCycles<NamedBarrier, BLOCK>(),
                          blockStepCycles<WarpBarrier, BLOCK>(), blockStepCycles<Rotation, BLOCK>(),
                          blockStepCycles<BlockMean, BLOCK>()};
  std::vector<double> cycles;
  bool isRight = true;
  for (const Cycles& each : found) {
    cycles.push_back(each.each);
    isRight = isRight && each.isRight;
  }
  report.add({std::to_string(WARPS), "", "", cycles, isRight});
}

template <int... WARPS>
void blockSteps(Report& report, std::integer_sequence<int, WARPS...>) {
  report.table({"A barrier of the block, of four of its warps and of one; a shuffle; a reduction of floats",
                "warps a block",
                "",
                "",
                {"__syncthreads(), cycles", "bar.sync of 4 warps, cycles", "__syncwarp(), cycles",
                 "__shfl_sync(), cycles", "blockAllReduce(), cycles"}});
  (blockStepRow<WARPS>(report), ...);
}

/// Two arrays and a counter that belong together.
struct GridMemory {
  explicit GridMemory(const std::vector<unsigned>& in) : even(in), odd(in.size()), counter(std::vector<unsigned>{0}) {
    odd.poison();
  }
  GridWords words() const { return {even.data(), odd.data(), counter.data()}; }
  DeviceArray<unsigned> even, odd, counter;
};

bool stepsRightly(GridBarrier how) {
  constexpr unsigned BLOCKS = 5, STEPS = 6;
  const auto in = wholeNumbers<unsigned>(BLOCKS);
  const GridMemory memory(in);
  launchGridSteps(how, memory.words(), BLOCKS, STEPS);
  return memory.even.toHost() == gridStepsOnHost(in, STEPS);
}

/// Seconds of a step in a long row of them. The steps are queued while the device is busy: the host's time for a launch
/// does not count.
double gridStepSeconds(GridBarrier how, unsigned blocks) {
  constexpr unsigned FEW = 2, MANY = 130;
  const GridMemory memory(std::vector<unsigned>(emulated ? 1 : blocks, 1));
  const DeviceArray<unsigned> passed(std::vector<unsigned>{0, 0});
  const auto busyCycles = static_cast<long long>(2e-3 * clockRate());
  const auto secondsOfSteps = [&](unsigned count) {
    return secondsAfter([&] { launchPassOn(passed.data(), 0, 1, busyCycles); },
                        [&] { launchGridSteps(how, memory.words(), blocks, count); });
  };
  return (secondsOfSteps(MANY) - secondsOfSteps(FEW)) / (MANY - FEW);
}

void gridSteps(Report& report) {
  constexpr struct {
    const char* name;
    const char* then;
    GridBarrier how;
  } rows[] = {{"another launch", "the only way", GridBarrier::launch},
              {"another launch, programmatic", "", GridBarrier::programmatic},
              {"by the last block: a ticket", "", GridBarrier::ticket},
              {"grid.sync(), all blocks resident", "", GridBarrier::gridSync}};
  const auto multiprocessors = static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  report.table({"A step of a grid that needs all results of the step before; 1 and 4 blocks on a multiprocessor",
                "how",
                "then",
                "",
                {"1, us", "4, us"}});
  for (const auto& [name, then, how] : rows) {
    std::vector<double> microseconds;
    for (const unsigned blocks : {multiprocessors, 4 * multiprocessors}) {
      double seconds = gridStepSeconds(how, blocks);
      // Every other step of these is a launch.
      if (how == GridBarrier::ticket) seconds = 2 * seconds - gridStepSeconds(GridBarrier::launch, blocks);
      microseconds.push_back(1e6 * seconds);
    }
    report.add({name, then, "", microseconds, stepsRightly(how)});
  }
}

void mailbox(Report& report) {
  constexpr unsigned QUESTIONS = emulated ? 5 : 1001;
  Mailbox box;
  report.table({"The host asks a kernel, which answers, through words of mapped memory", "how", "", "", {"us"}});
  const auto add = [&](const char* name, const RoundTrips& trips) {
    report.add({name, "", "", {1e6 * trips.seconds}, trips.isRight});
  };
  add("a launch, cudaDeviceSynchronize", box.launchAndSynchronize(QUESTIONS));
  add("a launch; the kernel sets a word", box.launchAndWatch(QUESTIONS));
  add("a running kernel, both by words", box.askRunningKernel(QUESTIONS));
}

void run(Report& report) {
  latencies(report);
  bySize(report);
  arithmetic(report, std::integer_sequence<int, 1, 2, 4>{});
  memory(report, std::integer_sequence<int, 1, 4, 16>{});
  blockSteps(report, std::integer_sequence<int, 1, 2, 4, 8, 16, 32>{});
  gridSteps(report);
  mailbox(report);
}

}  // namespace

const Experiment latencyExperiment{
    "latency",
    "Latency is what one step takes that has to wait for the last one. Little's law says how much must be in\n"
    "flight to hide it: bandwidth times latency, whether by many warps or by independent work of each thread.",
    run};

}  // namespace experiments
