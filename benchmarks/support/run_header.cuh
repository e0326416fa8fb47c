/// \file
/// What a file of results says about how it came about.
// SPDX-License-Identifier: MIT
#pragma once

#include "text.hpp"

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace bench {

using gpuopt::check;

namespace detail {

// 13000 as "13.0".
inline std::string dotted(int version) { return format("%d.%d", version / 1000, version % 1000 / 10); }

// The driver's own version, as nvidia-smi shows it; the CUDA version that it supports where that cannot be
// read.
inline std::string driverVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;)
    if (word.find_first_not_of("0123456789.") == std::string::npos &&
        std::count(word.begin(), word.end(), '.') >= 1)
      return word;
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return "for CUDA " + dotted(version);
}

}  // namespace detail

/// Program, GPU, driver, CUDA version, date and command of this run.
inline HeaderLines headerLines(const std::string& program, const std::string& command) {
  cudaDeviceProp properties{};
  int runtime = 0;
  check(cudaGetDeviceProperties(&properties, gpuopt::currentDevice()), "cudaGetDeviceProperties");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"program", program},
          {"gpu", properties.name},
          {"driver", detail::driverVersion()},
          {"cuda", detail::dotted(runtime)},
          {"date", detail::today()},
          {"command", command}};
}

}  // namespace bench
