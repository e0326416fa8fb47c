/// \file
/// The experiment on thread coarsening.
// SPDX-License-Identifier: MIT
#include "coarsening.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <string>
#include <vector>

namespace experiments {
namespace {

template <int FACTOR>
bool mapsRightly() {
  const auto values = wholeNumbers<float>(10007);
  return mapOnHost(values) == resultOf<float>(values, values.size(), [&](const float* from, float* to) {
           launchMapCoarsened<FACTOR>(from, to, values.size());
         });
}

template <int FACTOR>
void mapRow(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  const auto rate = [&](std::size_t n) {
    return billionsPerSecond(8.0 * static_cast<double>(n),
                             [&] { launchMapCoarsened<FACTOR>(in.data(), out.data(), n); });
  };
  report.add({std::to_string(FACTOR),
              "",
              "",
              {rate(std::size_t{1} << 26), rate(std::size_t{1} << 20)},
              mapsRightly<FACTOR>()});
}

void maps(Report& report) {
  const TimedArray<float> in(std::size_t{1} << 26), out(std::size_t{1} << 26);
  report.table(
      {"A map of 64 M and of 1 M floats, by results of each thread", "results", "", "", {"64 M, GB/s", "1 M, GB/s"}});
  mapRow<1>(report, in, out);
  mapRow<2>(report, in, out);
  mapRow<4>(report, in, out);
  mapRow<8>(report, in, out);
  mapRow<16>(report, in, out);
  mapRow<32>(report, in, out);
}

template <int FACTOR>
bool stencilIsRight() {
  constexpr Field SIZE{261, 37};
  const auto values = wholeNumbers<float>(SIZE.width * SIZE.height);
  return stencilOnHost(values, SIZE) == resultOf<float>(values, values.size(), [&](const float* from, float* to) {
           launchStencilCoarsened<FACTOR>(from, to, SIZE);
         });
}

template <int FACTOR>
void stencilRow(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  const auto rate = [&](unsigned side) {
    return billionsPerSecond(8.0 * side * side, [&] {
      launchStencilCoarsened<FACTOR>(in.data(), out.data(), {side, side});
    });
  };
  report.add({std::to_string(FACTOR),
              "",
              format("%.4g", 3 + 2.0 / FACTOR),
              {rate(8192), rate(1024)},
              stencilIsRight<FACTOR>()});
}

void stencils(Report& report) {
  const TimedArray<float> in(std::size_t{1} << 26), out(std::size_t{1} << 26);
  report.table({"A stencil of 5 points on 8192 x 8192 and on 1024 x 1024 floats, by rows of each thread",
                "rows",
                "",
                "loads of a result",
                {"8192, GB/s", "1024, GB/s"}});
  stencilRow<1>(report, in, out);
  stencilRow<2>(report, in, out);
  stencilRow<4>(report, in, out);
  stencilRow<8>(report, in, out);
  stencilRow<16>(report, in, out);
  stencilRow<32>(report, in, out);
}

void run(Report& report) {
  maps(report);
  stencils(report);
}

}  // namespace

const Experiment coarseningExperiment{
    "coarsening",
    "A thread that computes several results shares what they have in common. Too many, and the registers and the\n"
    "shared memory that it needs, or the lack of blocks, leave multiprocessors with too little to do.",
    run};

}  // namespace experiments
