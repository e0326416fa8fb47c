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
  const DeviceArray<SumOf<T>> sum(1);
  const DeviceArray<gpuopt::MeanVariance<double>> moments(1);
  const DeviceArray<gpuopt::ArgResult<T>> extreme(1);
  const std::size_t bytes = n * sizeof(T);
  printSpeedHeader(bytes, "read", copy);
  printSpeed("sum", medianTime([&] { gpuopt::reduceInto<SumOf<T>>(data, n, sum.data()); }), bytes, copy);
  printSpeed("mean and variance", medianTime([&] { gpuopt::meanVarianceInto<double>(data, n, moments.data()); }), bytes,
             copy);
  printSpeed("minimum, its position", medianTime([&] { gpuopt::argMinInto(data, n, extreme.data()); }), bytes, copy);
  printSpeed("maximum, its position", medianTime([&] { gpuopt::argMaxInto(data, n, extreme.data()); }), bytes, copy);
}
