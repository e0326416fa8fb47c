/// \file
/// <gpuopt/launch.cuh>: configurations that fill the device, checked arguments, errors that say what is
/// wrong.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>

#include <cstddef>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

// y = a x + y. The grid may be smaller than n, so that the kernel loops.
__global__ void axpy(float a, const float* x, float* y, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < n; i += threads) y[i] += a * x[i];
}

void show(const char* name, const gpuopt::LaunchConfig& config) {
  std::printf("%-20s %u blocks of %u threads, occupancy %.0f %%\n", name, config.grid.x, config.block.x,
              100 * config.occupancy);
}

// A launch that cannot work is refused before anything runs; the message names the parameter and its value.
bool isRefused(gpuopt::LaunchConfig config) {
  config.block = dim3(2048);
  try {
    gpuopt::launch(axpy, config, 1, nullptr, nullptr, 0);
  } catch (const std::invalid_argument& error) {
    std::printf("refused: %s\n", error.what());
    return true;
  }
  return false;
}

bool run() {
  const std::size_t n = 100003;
  std::vector<float> x(n), y(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i * 31 % 1009);
    y[i] = static_cast<float>(i * 17 % 997);
    expected[i] = 7 * x[i] + y[i];
  }
  const DeviceArray<float> in(x), out(y);

  // As many blocks as fill the device, no more than the work needs: of 256 threads, with 4 items each...
  const auto config = gpuopt::occupancyConfig(axpy, n, 256, 4);
  show("occupancyConfig", config);
  gpuopt::launch(axpy, config, 3, in.data(), out.data(), n);  // 3 becomes the float that axpy takes

  // ... or of the size with which most threads are resident.
  const auto fullest = gpuopt::maxOccupancyConfig(axpy, n);
  show("maxOccupancyConfig", fullest);
  gpuopt::launch(axpy, fullest, 4, in.data(), out.data(), n);

  // What limits a kernel: here, shared memory.
  const auto report = gpuopt::explainOccupancy(axpy, 256, 40 * 1024);
  std::cout << report << std::endl;

  const bool right = out.toHost() == expected && report.limitedBySharedMemory() && isRefused(config);
  std::printf("7 x + y in two launches: %s\n", right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("launch_kernel", run); }
