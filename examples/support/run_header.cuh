/// \file
/// Asks the device and the clock what a file of results says about its run.
// SPDX-License-Identifier: MIT
#pragma once

#include "run_header.hpp"

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

/// A CUDA version: 13000 as "13.0".
inline std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The driver's own version, as nvidia-smi shows it, or the CUDA version that it supports.
inline std::string driverVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;)
    if (word.find_first_not_of("0123456789.") == std::string::npos && std::count(word.begin(), word.end(), '.') >= 1)
      return word;
  int version = 0;
  gpuopt::check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return "for CUDA " + dotted(version);
}

/// The date in UTC, as 2026-11-22.
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

inline HeaderLines headerLines(const std::string& program, const std::string& command) {
  cudaDeviceProp properties{};
  int runtime = 0;
  gpuopt::check(cudaGetDeviceProperties(&properties, gpuopt::currentDevice()), "cudaGetDeviceProperties");
  gpuopt::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"program", program},      {"gpu", properties.name}, {"driver", driverVersion()},
          {"cuda", dotted(runtime)}, {"date", today()},        {"command", command}};
}
