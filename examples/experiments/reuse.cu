/// \file
/// The experiment on convolutions and stencils.
// SPDX-License-Identifier: MIT
#include "reuse_steps.cuh"

#include "experiment.hpp"
#include "measure.cuh"

namespace experiments {
namespace {

/// Small whole numbers, so that sums are exact in any order.
Filter wholeFilter() {
  Filter filter{};
  for (int j = 0; j < filterSide; ++j)
    for (int i = 0; i < filterSide; ++i) filter.weights[j][i] = static_cast<float>((3 * j + 5 * i) % 7 - 2);
  return filter;
}

/// What a copy takes of the same bytes.
double copySeconds(const TimedArray<float>& from, const TimedArray<float>& to, std::size_t n) {
  return secondsOf([&] {
    gpuopt::check(cudaMemcpyAsync(to.data(), from.data(), n * sizeof(float), cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
  });
}

/// GB/s of n elements read once and written once, and the share of a copy's speed.
std::vector<double> speeds(std::size_t n, double seconds, double copy) {
  if (emulated) return {0, 0};
  return {8e-9 * static_cast<double>(n) / seconds, 100 * copy / seconds};
}

void convolutions(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  constexpr Picture SIZE{8192, 8192}, CHECKED{300, 37};
  constexpr std::size_t N = std::size_t{8192} * 8192;
  const Filter filter = wholeFilter();
  const auto values = wholeNumbers<float>(std::size_t(CHECKED.width) * CHECKED.height);
  const auto expected = convolutionOnHost(values, CHECKED, filter);
  const double copy = copySeconds(in, out, N);
  report.table({"A convolution of 5 x 5 points on 8192 x 8192 floats", "step", "", "", {"GB/s", "of a copy, %"}});
  for (const ConvolutionStep& step : convolutionSteps) {
    const auto found = resultOf<float>(values, values.size(), [&](const float* from, float* to) {
      launchConvolution(step, from, to, CHECKED, filter);
    });
    const double seconds = secondsOf([&] { launchConvolution(step, in.data(), out.data(), SIZE, filter); });
    report.add({step.name, "", "", speeds(N, seconds, copy), found == expected});
  }
}

void stencils(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  constexpr Volume SIZE{512, 512, 512}, CHECKED{36, 13, 35};
  constexpr std::size_t N = std::size_t{512} * 512 * 512;
  const auto values = wholeNumbers<float>(std::size_t(CHECKED.width) * CHECKED.height * CHECKED.depth);
  const auto expected = volumeStencilOnHost(values, CHECKED);
  const double copy = copySeconds(in, out, N);
  report.table({"A stencil of 7 points on 512 x 512 x 512 floats", "step", "", "", {"GB/s", "of a copy, %"}});
  for (const StencilStep& step : stencilSteps) {
    const auto found = resultOf<float>(values, values.size(),
                                       [&](const float* from, float* to) { launchStencil(step, from, to, CHECKED); });
    const double seconds = secondsOf([&] { launchStencil(step, in.data(), out.data(), SIZE); });
    report.add({step.name, "", "", speeds(N, seconds, copy), found == expected});
  }
}

void run(Report& report) {
  constexpr std::size_t N = std::size_t{512} * 512 * 512;
  const TimedArray<float> in(N), out(N);
  convolutions(report, in, out);
  stencils(report, in, out);
}

}  // namespace

const Experiment reuseExperiment{
    "reuse",
    "Neighbouring results need the same elements. Who takes each of them from memory once is as fast as a copy;\n"
    "shared memory, registers or L1 hold them until then.",
    run};

}  // namespace experiments
