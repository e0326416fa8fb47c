/// \file
/// The experiment on atomics.
// SPDX-License-Identifier: MIT
#include "atomics.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <numeric>
#include <string>
#include <vector>

namespace experiments {
namespace {

constexpr unsigned timedBlocks = 132 * 8, timedRounds = 64;
constexpr double timedAdditions = 1.0 * timedBlocks * atomicBlock * timedRounds;

/// What launch(counts, blocks, rounds) adds to zeros.
template <class Launch>
bool addsRightly(unsigned words, unsigned apart, const Launch& launch) {
  constexpr unsigned BLOCKS = 3, ROUNDS = 5;
  const DeviceArray<unsigned> counts(std::vector<unsigned>(std::size_t{words} * apart, 0));
  launch(counts.data(), BLOCKS, ROUNDS);
  return counts.toHost() == spreadOnHost(BLOCKS, words, apart, ROUNDS);
}

template <class Launch>
double additionsPerSecond(const TimedArray<unsigned>& counts, const Launch& launch) {
  return billionsPerSecond(timedAdditions, [&] { launch(counts.data(), timedBlocks, timedRounds); });
}

void spread(Report& report) {
  const TimedArray<unsigned> counts(std::size_t{1} << 22);
  report.table(
      {"Additions by how many words they are spread over: words side by side, each in a line of its own, in shared "
       "memory",
       "words",
       "",
       "",
       {"side by side, G/s", "own lines, G/s", "shared, G/s"}});
  for (const unsigned words : {1u, 2u, 4u, 8u, 16u, 32u, 128u, 1024u, 4096u, 65536u}) {
    const auto packed = [=](unsigned* to, unsigned blocks, unsigned rounds) {
      launchAddSpread(to, blocks, words, 1, rounds, DeviceScope{});
    };
    const auto apart = [=](unsigned* to, unsigned blocks, unsigned rounds) {
      launchAddSpread(to, blocks, words, 32, rounds, DeviceScope{});
    };
    const auto shared = [=](unsigned* to, unsigned blocks, unsigned rounds) {
      launchAddSpreadShared(to, blocks, words, rounds);
    };
    const bool fits = words <= sharedAtomicWords;
    report.add(
        {std::to_string(words),
         "",
         "",
         {additionsPerSecond(counts, packed), additionsPerSecond(counts, apart),
          fits ? additionsPerSecond(counts, shared) : 0},
         addsRightly(words, 1, packed) && addsRightly(words, 32, apart) && (!fits || addsRightly(words, 1, shared))});
  }
}

template <class Add>
void scopeRow(Report& report, const char* name, const TimedArray<unsigned>& counts, Add add) {
  const auto over = [&](unsigned words) {
    return additionsPerSecond(counts, [=](unsigned* to, unsigned blocks, unsigned rounds) {
      launchAddSpread(to, blocks, words, 1, rounds, add);
    });
  };
  // Words that other blocks use need the device's scope, so the check has one block only.
  constexpr unsigned WORDS = 128, ROUNDS = 5;
  const DeviceArray<unsigned> checked(std::vector<unsigned>(WORDS, 0));
  launchAddSpread(checked.data(), 1, WORDS, 1, ROUNDS, add);
  report.add({name, "", "", {over(1), over(1024)}, checked.toHost() == spreadOnHost(1, WORDS, 1, ROUNDS)});
}

void scopes(Report& report) {
  const TimedArray<unsigned> counts(1024);
  report.table({"Additions by who must see them", "scope", "", "", {"1 word, G/s", "1024 words, G/s"}});
  scopeRow(report, "block", counts, BlockScope{});
  scopeRow(report, "device", counts, DeviceScope{});
  scopeRow(report, "system", counts, SystemScope{});
}

template <AddedBy BY>
void sumRow(Report& report, const char* name, const char* then, const TimedArray<unsigned>& in,
            const TimedArray<unsigned>& total) {
  constexpr std::size_t N = std::size_t{1} << 26;
  const auto values = wholeNumbers<unsigned>(10007);
  const DeviceArray<unsigned> input(values), sum(std::vector<unsigned>{0});
  launchSumToOneWord<BY>(input.data(), sum.data(), values.size());
  report.add({name,
              then,
              "",
              {billionsPerSecond(4.0 * N, [&] { launchSumToOneWord<BY>(in.data(), total.data(), N); })},
              sum.toHost()[0] == std::accumulate(values.begin(), values.end(), 0u)});
}

void sums(Report& report) {
  const TimedArray<unsigned> in(std::size_t{1} << 26, Filling::bits), total(1);
  report.table({"A sum of 64 M words in one word", "who adds to it", "then", "", {"GB/s"}});
  sumRow<AddedBy::thread>(report, "each thread", "one after the other", in, total);
  sumRow<AddedBy::warp>(report, "a lane of each warp", "", in, total);
  sumRow<AddedBy::block>(report, "a thread of each block", "", in, total);
}

void run(Report& report) {
  spread(report);
  scopes(report);
  sums(report);
}

}  // namespace

const Experiment atomicsExperiment{
    "atomics",
    "Atomic additions to one word happen one after the other. Spread them over more words, add up in a warp or a\n"
    "block before, or do them in shared memory.",
    run};

}  // namespace experiments
