/// \file
/// The experiment on registers.
// SPDX-License-Identifier: MIT
#include "registers.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <string>
#include <vector>

namespace experiments {
namespace {

constexpr std::size_t mixN = 1 << 20, checkedN = 301;
constexpr unsigned mixRounds = 64, checkedRounds = 3;

cudaFuncAttributes attributesOf(MixKernel kernel) {
  cudaFuncAttributes attributes{};
  gpuopt::check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return attributes;
}

/// launch(in, out, n, rounds) checked and timed, beside the registers and bytes of local memory of a thread.
template <class Launch>
void mixRow(Report& report, const char* name, const char* predicted, const cudaFuncAttributes& attributes,
            const TimedArray<float>& in, const TimedArray<float>& out, const Launch& launch) {
  const auto values = wholeNumbers<float>(checkedN);
  const auto found = resultOf<float>(values, checkedN,
                                     [&](const float* from, float* to) { launch(from, to, checkedN, checkedRounds); });
  report.add({name,
              "",
              predicted,
              {static_cast<double>(attributes.numRegs), static_cast<double>(attributes.localSizeBytes),
               1e6 * secondsOf([&] { launch(in.data(), out.data(), mixN, mixRounds); })},
              found == mixOnHost(values, checkedRounds)});
}

template <unsigned BLOCKS>
void boundsRow(Report& report, const char* name, const char* predicted, const TimedArray<float>& in,
               const TimedArray<float>& out) {
  mixRow(report, name, predicted, attributesOf(mixValues<BLOCKS>), in, out,
         [](const float* from, float* to, std::size_t n, unsigned rounds) {
           launchMix(mixValues<BLOCKS>, from, to, n, rounds);
         });
}

void spills(Report& report) {
  const TimedArray<float> in(mixN), out(mixN);
  report.table({"64 values a thread, in blocks of 256: what launch bounds leave for them",
                "blocks a multiprocessor",
                "",
                "registers at most",
                {"registers", "local bytes", "us"}});
  boundsRow<1>(report, "1", "255", in, out);
  boundsRow<2>(report, "2", "128", in, out);
  boundsRow<3>(report, "3", "80", in, out);
  boundsRow<4>(report, "4", "64", in, out);
  boundsRow<5>(report, "5", "48", in, out);
  boundsRow<6>(report, "6", "40", in, out);
  boundsRow<8>(report, "8", "32", in, out);
  cudaFuncAttributes attributes{};
  gpuopt::check(cudaFuncGetAttributes(&attributes, mixIndexed), "cudaFuncGetAttributes");
  mixRow(report, "any, indexed by a variable", "255", attributes, in, out, launchMixIndexed);
}

template <int UNROLL>
void unrollRow(Report& report, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  constexpr std::size_t FEW = 132 * 256, MANY = 132 * 2048, CHECKED = 131;
  const auto values = wholeNumbers<unsigned>(CHECKED * unrollColumn);
  const auto found = resultOf<unsigned>(
      values, CHECKED, [](const unsigned* from, unsigned* to) { launchSumColumn<UNROLL>(from, to, CHECKED); });
  const auto rate = [&](std::size_t columns) {
    return billionsPerSecond(4.0 * unrollColumn * static_cast<double>(columns),
                             [&] { launchSumColumn<UNROLL>(in.data(), out.data(), columns); });
  };
  report.add({std::to_string(UNROLL), "", "", {rate(FEW), rate(MANY)}, found == columnSumsOnHost(values, CHECKED)});
}

void unrolling(Report& report) {
  constexpr std::size_t COLUMNS = 132 * 2048;
  const TimedArray<unsigned> in(COLUMNS * unrollColumn, Filling::bits), out(COLUMNS);
  report.table({"A loop over 1024 loads, by its unroll factor, with 8 and 64 warps on a multiprocessor",
                "factor",
                "",
                "",
                {"8, GB/s", "64, GB/s"}});
  unrollRow<1>(report, in, out);
  unrollRow<2>(report, in, out);
  unrollRow<4>(report, in, out);
  unrollRow<8>(report, in, out);
  unrollRow<16>(report, in, out);
}

template <bool IS_CALLED>
void callRow(Report& report, const char* name, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out) {
  constexpr std::size_t N = 1 << 22;
  constexpr unsigned ROUNDS = 256;
  const auto values = wholeNumbers<unsigned>(checkedN);
  const auto found = resultOf<unsigned>(values, checkedN, [](const unsigned* from, unsigned* to) {
    launchSteps<IS_CALLED>(from, to, checkedN, checkedRounds);
  });
  report.add({name,
              "",
              "",
              {billionsPerSecond(1.0 * N * ROUNDS, [&] { launchSteps<IS_CALLED>(in.data(), out.data(), N, ROUNDS); })},
              found == stepsOnHost(values, checkedRounds)});
}

void calls(Report& report) {
  const TimedArray<unsigned> in(std::size_t{1} << 22, Filling::bits), out(std::size_t{1} << 22);
  report.table({"A function of one multiply-add", "function", "", "", {"G/s"}});
  callRow<false>(report, "inlined", in, out);
  callRow<true>(report, "__noinline__", in, out);
}

void run(Report& report) {
  spills(report);
  unrolling(report);
  calls(report);
}

}  // namespace

const Experiment registersExperiment{
    "registers",
    "Registers are the fastest memory, and what does not fit into them goes to local memory, which is global\n"
    "memory by another name. Unrolling spends registers on work in flight; a call spends instructions.",
    run};

}  // namespace experiments
