/// Numbers, places and times as reports write them.
// SPDX-License-Identifier: MIT
#pragma once

#include "gpuopt_emulation/profile.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gpuopt::emulation::detail {

/// "1 byte", "4 bytes"
inline std::string counted(std::uint64_t number, const std::string& what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

inline std::string decimal(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

/// A mean with one decimal, if it has any.
inline std::string mean(std::uint64_t sum, std::uint64_t count) {
  const std::string text = decimal(count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count), 1);
  return text.substr(text.size() - 2) == ".0" ? text.substr(0, text.size() - 2) : text;
}

inline std::string percent(double fraction) { return decimal(100 * fraction, 0) + " %"; }

inline std::string sizeText(std::uint64_t bytes) {
  if (bytes < 10240) return counted(bytes, "byte");
  if (bytes < (10u << 20)) return decimal(static_cast<double>(bytes) / 1024, 1) + " KiB";
  return decimal(static_cast<double>(bytes) / (1 << 20), 1) + " MiB";
}

inline std::string fileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

inline std::string placeText(const SourceLine& source) {
  return fileName(source.file) + ':' + std::to_string(source.line);
}

/// A GPU's name and the bandwidth of its memory in GB/s, as its vendor publishes it.
struct Gpu {
  std::string name;
  double bandwidth;
};

/// GPUOPT_PROFILE_GPU: a GPU of the list, or a bandwidth in GB/s.
inline Gpu gpuOfReports() {
  static const Gpu known[] = {{"H200", 4800}, {"H100", 3350},     {"A100", 2039},    {"V100", 900},
                              {"L40S", 864},  {"RTX 4090", 1008}, {"RTX 5090", 1792}};
  const char* const wanted = std::getenv("GPUOPT_PROFILE_GPU");
  if (wanted == nullptr || *wanted == '\0') return known[0];
  for (const Gpu& gpu : known)
    if (gpu.name == wanted) return gpu;
  const double bandwidth = std::strtod(wanted, nullptr);
  if (bandwidth > 0) return {"a GPU", bandwidth};
  std::fprintf(stderr, "gpuopt: GPUOPT_PROFILE_GPU=%s is neither a bandwidth in GB/s nor one of", wanted);
  for (const Gpu& gpu : known) std::fprintf(stderr, " %s,", gpu.name.c_str());
  std::fprintf(stderr, " so reports are for %s\n", known[0].name.c_str());
  return known[0];
}

/// Microseconds that the GPU needs at least to move what a kernel reads and writes.
inline double minTime(const KernelProfile& kernel, const Gpu& gpu) {
  return static_cast<double>(kernel.bytesRead + kernel.bytesWritten) / (1000 * gpu.bandwidth);
}

inline std::string minTimeText(const KernelProfile& kernel, const Gpu& gpu) {
  const double time = minTime(kernel, gpu);
  return decimal(time, time < 10 ? 3 : 1) + " us on " + gpu.name + " (" + decimal(gpu.bandwidth, 0) + " GB/s)";
}

inline const char* nameOf(AccessKind kind) {
  static const char* const names[] = {"global load",  "global store",  "global atomic", "shared load",
                                      "shared store", "shared atomic", "async copy"};
  return names[static_cast<int>(kind)];
}

}  // namespace gpuopt::emulation::detail
