/// \file
/// The two timing methods of the ladders, the best copy, and the loop over the sizes.
// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "report.hpp"
#include "run_header.cuh"
#include "step.hpp"
#include "timing.cuh"

#include <gpuopt/transpose.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace ladders {

/// A loop over launches: what a program that calls the kernel sees, launches included.
inline double secondsOverLaunches(const Step& step, int repeats) {
  return medianTime([&] {
           for (int i = 0; i < repeats; ++i) step.run(1);
         }) /
         repeats;
}

/// A loop inside the kernel. It leaves the launches out. On the GPUs of its time it measured memory; today a
/// block finds in the caches what it has just read, so that it measures those.
inline double secondsInside(const Step& step, int repeats) {
  return medianTime([&] { step.run(repeats); }) / repeats;
}

/// GB/s (10^9) of a step that reads and writes `bytes`, by both methods.
inline Speeds speedsOf(const Step& step, std::size_t bytes, int repeats) {
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  return {gigabytes / secondsOverLaunches(step, repeats),
          step.repeatsInside ? gigabytes / secondsInside(step, repeats) : 0};
}

/// GB/s read and written by the best copy of `bytes`, a multiple of 16: cudaMemcpyAsync, or gpuopt's vector
/// copy, which is the transposition of a single row.
inline double copySpeed(const void* from, void* to, std::size_t bytes, int repeats) {
  Step runtime, vectors;
  runtime.run = [=](int) {
    gpuopt::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  };
  vectors.run = [=](int) {
    gpuopt::transpose(static_cast<const uint4*>(from), static_cast<uint4*>(to), 1, bytes / sizeof(uint4));
  };
  const double seconds = (std::min)(secondsOverLaunches(runtime, repeats), secondsOverLaunches(vectors, repeats));
  return 2e-9 * static_cast<double>(bytes) / seconds;
}

/// Calls climb(report, options, size, isFirst) for each size; `then` says where the published figures are
/// from. The number of wrong results.
template <class Size, class Climb>
int climbAll(const char* program, const char* then, const Options& options, const std::vector<Size>& sizes,
             const Climb& climb) {
  printDevice(program);
  if (!emulated) std::printf("GB/s then: %s\n", then);
  Report report(headerLines(program, options.command), options.csv, options.json);
  for (std::size_t i = 0; i < sizes.size(); ++i) climb(report, options, sizes[i], i == 0);
  if (emulated) std::printf("\nNo times: the emulated device shows what a GPU computes, not how fast.\n");
  return report.finish();
}

}  // namespace ladders
