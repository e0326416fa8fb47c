/// \file
/// Times of the demo's calls on a GPU, beside a plain copy.
// SPDX-License-Identifier: MIT
#pragma once

#include "statistics.cuh"
#include "timing.cuh"

#include <cstddef>

/// Prints what each pass over n numbers in device memory takes.
template <class T>
void printSpeeds(const T* data, std::size_t n) {
  const double copy = copyBandwidth();
  const DeviceBytes out(256);
  const std::size_t bytes = n * sizeof(T);
  printSpeedHeader(bytes, "read", copy);
  printSpeed("sum", medianTime([&] { gpuopt::reduceInto<SumOf<T>>(data, n, out.as<SumOf<T>>()); }), bytes,
             copy);
  printSpeed("mean and variance", medianTime([&] {
               gpuopt::meanVarianceInto<double>(data, n, out.as<gpuopt::MeanVariance<double>>());
             }),
             bytes, copy);
  printSpeed("minimum, its position",
             medianTime([&] { gpuopt::argMinInto(data, n, out.as<gpuopt::ArgResult<T>>()); }), bytes, copy);
  printSpeed("maximum, its position",
             medianTime([&] { gpuopt::argMaxInto(data, n, out.as<gpuopt::ArgResult<T>>()); }), bytes, copy);
}
