/// \file
/// The experiment on branches.
// SPDX-License-Identifier: MIT
#include "divergence.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <cstring>
#include <string>
#include <vector>

namespace experiments {
namespace {

constexpr std::size_t timedN = 1 << 22, checkedN = 1001;
constexpr unsigned timedRounds = 256, checkedRounds = 5;

/// launch(in, out, n, rounds) checked against way(x, i), and timed.
template <class Launch, class Way>
void branchRow(Report& report, const char* name, const char* then, const char* predicted,
               const TimedArray<unsigned>& in, const TimedArray<unsigned>& out, const Launch& launch, const Way& way) {
  const auto values = wholeNumbers<unsigned>(checkedN);
  const auto found = resultOf<unsigned>(
      values, checkedN, [&](const unsigned* from, unsigned* to) { launch(from, to, checkedN, checkedRounds); });
  report.add({name,
              then,
              predicted,
              {1e6 * secondsOf([&] { launch(in.data(), out.data(), timedN, timedRounds); })},
              found == mapOnHost(values, way)});
}

void granularities(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  constexpr struct {
    const char* name;
    unsigned bit;
    const char* predicted;
  } rows[] = {{"none, all go way A", 0, "A"},
              {"every other block", branchBlock, "(A + B) / 2"},
              {"every other warp", 32, "(A + B) / 2"},
              {"every other half-warp", 16, "A + B"},
              {"every other lane", 1, "A + B"}};
  report.table({"Two ways, A and B: who goes way B", "who", "", "predicted", {"us"}});
  branchRow(report, "all", "", "B", in, out, launchSecondWay,
            [](unsigned x, std::size_t) { return shiftXor(x, checkedRounds); });
  for (const auto& row : rows)
    branchRow(
        report, row.name, "", row.predicted, in, out,
        [&](const unsigned* from, unsigned* to, std::size_t n, unsigned rounds) {
          launchBranch(from, to, n, row.bit, rounds);
        },
        [&](unsigned x, std::size_t i) {
          return goesSecondWay(i, row.bit) ? shiftXor(x, checkedRounds) : multiplyXor(x, checkedRounds);
        });
}

void thresholds(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  constexpr struct {
    const char* name;
    unsigned last;
    const char* then;
    const char* predicted;
  } rows[] = {{"tid > 15", 15, "splits a warp", "(A + 2 B) / 2"}, {"tid > 31", 31, "splits none", "(A + B) / 2"}};
  report.table({"Blocks of two warps", "who goes way B", "then", "predicted", {"us"}});
  for (const auto& row : rows)
    branchRow(
        report, row.name, row.then, row.predicted, in, out,
        [&](const unsigned* from, unsigned* to, std::size_t n, unsigned rounds) {
          launchBranchAt(from, to, n, row.last, rounds);
        },
        [&](unsigned x, std::size_t i) {
          return i % aboveBlock > row.last ? shiftXor(x, checkedRounds) : multiplyXor(x, checkedRounds);
        });
}

template <Side SIDE>
void sideRow(Report& report, const char* name, const char* predicted, const TimedArray<unsigned>& in,
             const TimedArray<unsigned>& out, unsigned last) {
  branchRow(
      report, name, "", predicted, in, out,
      [=](const unsigned* from, unsigned* to, std::size_t n, unsigned rounds) {
        launchBranchAt<SIDE>(from, to, n, last, rounds);
      },
      [=](unsigned x, std::size_t i) {
        const bool isSecond =
            isOnSide(SIDE, static_cast<unsigned>(i % aboveBlock), static_cast<unsigned>(i / aboveBlock), last);
        return isSecond ? shiftXor(x, checkedRounds) : multiplyXor(x, checkedRounds);
      });
}

/// What the second warps of all blocks do, the first ones do here, or those of half of the blocks.
void otherOrders(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  report.table({"Blocks of two warps, the other way round, and one half of the blocks either way",
                "who goes way B",
                "",
                "predicted",
                {"us"}});
  sideRow<Side::upTo>(report, "tid <= 15", "(2 A + B) / 2", in, out, 15);
  sideRow<Side::either>(report, "tid <= 15 or tid > 15", "(3 A + 3 B) / 4", in, out, 15);
  sideRow<Side::upTo>(report, "tid <= 31", "(A + B) / 2", in, out, 31);
  sideRow<Side::either>(report, "tid <= 31 or tid > 31", "(A + B) / 2", in, out, 31);
}

void earlyReturns(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  constexpr struct {
    const char* name;
    unsigned bit;
    const char* predicted;
  } rows[] = {{"nobody", 0, "B"},
              {"every other block", branchBlock, "B / 2"},
              {"every other warp", 32, "B / 2"},
              {"every other lane", 1, "B"}};
  report.table({"Way B, but some threads return at once", "who returns", "", "predicted", {"us"}});
  for (const auto& row : rows)
    branchRow(
        report, row.name, "", row.predicted, in, out,
        [&](const unsigned* from, unsigned* to, std::size_t n, unsigned rounds) {
          launchReturnEarly(from, to, n, row.bit, rounds);
        },
        [&](unsigned x, std::size_t i) { return goesSecondWay(i, row.bit) ? x : shiftXor(x, checkedRounds); });
}

void shortBranches(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  const auto launch = [](const unsigned* from, unsigned* to, std::size_t n, unsigned rounds) {
    launchShortly(from, to, n, rounds);
  };
  const auto way = [](unsigned x, std::size_t) { return collatz(x, checkedRounds); };
  const TimedArray<unsigned> alike(timedN);
  if (!emulated) gpuopt::check(cudaMemset(alike.data(), 0x5B, timedN * sizeof(unsigned)), "cudaMemset");
  report.table({"if (x is odd) x = 3 x + 1: a branch of one instruction", "data", "", "predicted", {"us"}});
  branchRow(report, "lanes disagree", "", "the same: predicated", in, out, launch, way);
  branchRow(report, "all lanes alike", "", "the same", alike, out, launch, way);
}

template <int LENGTH>
void lengthRow(Report& report, const char* then, const TimedArray<unsigned>& mixed, const TimedArray<unsigned>& all,
               const TimedArray<unsigned>& none, const TimedArray<unsigned>& out) {
  const auto bits = wholeNumbers<unsigned>(checkedN);
  const auto found = resultOf<unsigned>(bits, checkedN, [](const unsigned* from, unsigned* to) {
    launchBranchOfLength<LENGTH>(from, to, checkedN, checkedRounds);
  });
  const auto time = [&](const TimedArray<unsigned>& in) {
    return 1e6 * secondsOf([&] { launchBranchOfLength<LENGTH>(in.data(), out.data(), timedN, timedRounds); });
  };
  report.add({std::to_string(LENGTH),
              then,
              "",
              {time(mixed), time(all), time(none)},
              found == mapOnHost(bits, [](unsigned x, std::size_t i) {
                return squareWhere<LENGTH>(x, static_cast<unsigned>(i), checkedRounds);
              })});
}

void lengths(Report& report, const TimedArray<unsigned>& mixed, const TimedArray<unsigned>& out) {
  const TimedArray<unsigned> all(timedN), none(timedN);
  if (!emulated) gpuopt::check(cudaMemset(all.data(), 0xFF, timedN * sizeof(unsigned)), "cudaMemset");
  if (!emulated) gpuopt::check(cudaMemset(none.data(), 0, timedN * sizeof(unsigned)), "cudaMemset");
  report.table({"A branch by its length: half of the lanes take it, all do, none does",
                "instructions",
                "then",
                "",
                {"half, us", "all, us", "none, us"}});
  lengthRow<1>(report, "predicated", mixed, all, none, out);
  lengthRow<2>(report, "predicated", mixed, all, none, out);
  lengthRow<4>(report, "predicated", mixed, all, none, out);
  lengthRow<7>(report, "predicated, if divergent", mixed, all, none, out);
  lengthRow<8>(report, "a branch", mixed, all, none, out);
  lengthRow<10>(report, "a branch", mixed, all, none, out);
  lengthRow<12>(report, "a branch", mixed, all, none, out);
  lengthRow<16>(report, "a branch", mixed, all, none, out);
  lengthRow<32>(report, "a branch", mixed, all, none, out);
}

std::string listOf(const unsigned (&numbers)[passes]) {
  std::string text;
  for (const unsigned number : numbers) text += format("%u ", number);
  return text;
}

PassCounts countOnHost(Addressing addressing) {
  PassCounts counts{};
  for (unsigned pass = 0; pass < passes; ++pass)
    for (unsigned warp = 0; warp < passBlock; warp += 32) {
      unsigned adding = 0;
      for (unsigned lane = 0; lane < 32; ++lane) adding += adds(addressing, pass, warp + lane) ? 1 : 0;
      counts.working[pass] += adding > 0 ? 1 : 0;
      counts.split[pass] += adding > 0 && adding < 32 ? 1 : 0;
    }
  return counts;
}

void retirement(Report& report) {
  constexpr struct {
    const char* name;
    Addressing addressing;
  } rows[] = {{"v1, tid % 2c == 0", Addressing::moduloOfThread},
              {"v2, the first threads", Addressing::firstThreads},
              {"v3, tid < c", Addressing::sequential}};
  report.table({"The 8 warps of a block in the 8 passes of a reduction, counted by themselves",
                "ladder step",
                "warps at work",
                "of these split",
                {}});
  for (const auto& row : rows) {
    const auto found = resultOf<PassCounts>(std::vector<int>(1), 1, [&](const int*, PassCounts* counts) {
      gpuopt::check(cudaMemset(counts, 0, sizeof *counts), "cudaMemset");
      launchCount(row.addressing, counts);
    });
    const PassCounts expected = countOnHost(row.addressing);
    report.add({row.name,
                listOf(found[0].working),
                listOf(found[0].split),
                {},
                std::memcmp(&found[0], &expected, sizeof expected) == 0});
  }
}

void run(Report& report) {
  const TimedArray<unsigned> in(timedN, Filling::bits), out(timedN);
  granularities(report, in, out);
  thresholds(report, in, out);
  shortBranches(report, in, out);
  lengths(report, in, out);
  retirement(report);
  otherOrders(report, in, out);
  earlyReturns(report, in, out);
}

}  // namespace

const Experiment divergenceExperiment{
    "divergence",
    "The lanes of a warp share one stream of instructions. Where they disagree the warp goes both ways one\n"
    "after the other; where whole warps disagree nothing is lost.",
    run};

}  // namespace experiments
