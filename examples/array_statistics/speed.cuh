/// \file
/// Times of the demo's calls on a GPU, beside a plain copy.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_bytes.cuh"
#include "statistics.cuh"

#include <gpuopt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

/// The median time of 21 calls on the default stream, in seconds.
template <class Call>
double medianTime(const Call& call) {
  cudaEvent_t start, stop;
  gpuopt::check(cudaEventCreate(&start), "cudaEventCreate");
  gpuopt::check(cudaEventCreate(&stop), "cudaEventCreate");
  std::vector<float> milliseconds(21);
  call();
  for (float& each : milliseconds) {
    gpuopt::check(cudaEventRecord(start), "cudaEventRecord");
    call();
    gpuopt::check(cudaEventRecord(stop), "cudaEventRecord");
    gpuopt::check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    gpuopt::check(cudaEventElapsedTime(&each, start, stop), "cudaEventElapsedTime");
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(milliseconds.begin(), milliseconds.end());
  return 1e-3 * milliseconds[milliseconds.size() / 2];
}

/// Bytes read and written a second by a copy of 512 MiB, or of less where memory is short.
inline double copyBandwidth() {
  std::size_t available = 0, total = 0;
  gpuopt::check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  const std::size_t bytes = (std::min)(std::size_t{512} << 20, available / 4);
  const DeviceBytes from(bytes), to(bytes);
  gpuopt::check(cudaMemset(from.as<void>(), 0x5A, bytes), "cudaMemset");
  const double seconds = medianTime([&] {
    gpuopt::check(cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes, cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

inline void printSpeed(const char* name, double seconds, std::size_t bytes, double copy) {
  const double rate = static_cast<double>(bytes) / seconds;
  std::printf("  %-22s %12.1f us %10.1f GB/s %8.1f %%\n", name, 1e6 * seconds, 1e-9 * rate,
              100 * rate / copy);
}

/// Prints what each pass over n numbers in device memory takes.
template <class T>
void printSpeeds(const T* data, std::size_t n) {
  const double copy = copyBandwidth();
  const DeviceBytes out(256);
  const std::size_t bytes = n * sizeof(T);
  std::printf("\n  GPU time, median of 21 repeated calls; a copy moves %.0f GB/s\n", 1e-9 * copy);
  if (bytes < std::size_t{64} << 20)
    std::printf("  (%.1f KiB are too few to show bandwidth: the times are those of a launch)\n",
                static_cast<double>(bytes) / 1024);
  std::printf("  %-22s %15s %15s %10s\n", "", "time", "read", "of a copy");
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
