/// \file
/// The two timing methods of the ladders, and the copy that they are compared with.
// SPDX-License-Identifier: MIT
#pragma once

#include "step.hpp"
#include "timing.cuh"

#include <gpuopt/transpose.cuh>

#include <algorithm>
#include <cstddef>

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

/// GB/s (10^9) of a step that reads and writes so many bytes, by both methods.
inline Speeds speedsOf(const Step& step, std::size_t bytes, int repeats) {
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  return {gigabytes / secondsOverLaunches(step, repeats),
          step.repeatsInside ? gigabytes / secondsInside(step, repeats) : 0};
}

/// GB/s read and written by the best copy of so many bytes, a multiple of 16 each way: cudaMemcpyAsync, or
/// gpuopt's vector copy, which transposing a single row is.
inline double copySpeed(const void* from, void* to, std::size_t bytes, int repeats) {
  Step runtime, vectors;
  runtime.run = [=](int) {
    gpuopt::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  };
  vectors.run = [=](int) {
    gpuopt::transpose(static_cast<const uint4*>(from), static_cast<uint4*>(to), 1, bytes / sizeof(uint4));
  };
  const double seconds =
      (std::min)(secondsOverLaunches(runtime, repeats), secondsOverLaunches(vectors, repeats));
  return 2e-9 * static_cast<double>(bytes) / seconds;
}

}  // namespace ladders
