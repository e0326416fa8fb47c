/// \file
/// Which device an example runs on, and times of calls on a GPU, beside a plain copy.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_array.cuh"

#include <gpuopt/host/device.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

/// The emulated device shows what a GPU computes, not how fast: no times are printed there.
#ifdef GPUOPT_EMULATION
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

inline void printDevice(const char* program) {
  cudaDeviceProp properties{};
  gpuopt::check(cudaGetDeviceProperties(&properties, gpuopt::currentDevice()), "cudaGetDeviceProperties");
  std::printf("%s on %s\n", program, emulated ? "the gpuopt emulated device (no GPU)" : properties.name);
}

/// The median time of `samples` calls on the default stream, in seconds; `prepare` comes before each, and is not timed.
template <class Prepare, class Call>
double medianAfter(int samples, const Prepare& prepare, const Call& call) {
  cudaEvent_t start, stop;
  gpuopt::check(cudaEventCreate(&start), "cudaEventCreate");
  gpuopt::check(cudaEventCreate(&stop), "cudaEventCreate");
  std::vector<float> milliseconds(static_cast<std::size_t>(samples));
  for (float& each : milliseconds) {
    prepare();
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

/// The median time of 21 calls on the default stream, in seconds.
template <class Call>
double medianTime(const Call& call) {
  call();
  return medianAfter(
      21, [] {}, call);
}

/// Bytes read and written a second by a copy of 512 MiB, or of less where memory is short.
inline double copyBandwidth() {
  std::size_t available = 0, total = 0;
  gpuopt::check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  const std::size_t bytes = (std::min)(std::size_t{512} << 20, available / 4);
  const DeviceArray<unsigned char> from(bytes), to(bytes);
  from.poison();
  const double seconds = medianTime([&] {
    gpuopt::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

/// The first lines of a table of speeds; `bytes` are what one call reads, or `moved`.
inline void printSpeedHeader(std::size_t bytes, const char* moved, double copy) {
  std::printf("\n  GPU time, median of 21 repeated calls; a copy moves %.0f GB/s\n", 1e-9 * copy);
  if (bytes < std::size_t{64} << 20)
    std::printf("  (%.1f KiB are too few to show bandwidth: the times are those of a launch)\n",
                static_cast<double>(bytes) / 1024);
  std::printf("  %-22s %15s %15s %10s\n", "", "time", moved, "of a copy");
}

inline void printSpeed(const char* name, double seconds, std::size_t bytes, double copy) {
  const double rate = static_cast<double>(bytes) / seconds;
  std::printf("  %-22s %12.1f us %10.1f GB/s %8.1f %%\n", name, 1e6 * seconds, 1e-9 * rate, 100 * rate / copy);
}
