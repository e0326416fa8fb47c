/// \file
/// What is known of one choice: its key, the choice, and the measurement behind it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/version.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <ctime>
#include <string>
#include <tuple>
#include <utility>

GPUOPT_DETAIL_BEGIN

/// What was chosen for, apart from the device. Sizes of one power of two share a choice.
struct TuningKey {
  std::string name;  // of the experiment
  std::string type;  // of its elements
  int logSize = 0;   // the logarithm of their number to base 2, rounded down
};

/// One choice, as the file has it. Times are in nanoseconds: whole numbers look the same in every locale.
struct TuningEntry {
  TuningKey key;
  std::string device;
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  std::string choice;
  long long choiceTime = 0, firstTime = 0;  // medians: of the choice, and of the first candidate
  long long spread = 0;                     // of the choice, between the first and the last tenth of its samples
  int memory = 0;                           // of the device, MiB
  std::string driver, cuda, library, date;
};

/// Calls visit(name, member) with each member and its name in the file.
template <class Entry, class Visit>
void visitTuningMembers(Entry& entry, Visit visit) {
  visit("name", entry.key.name);
  visit("type", entry.key.type);
  visit("log2_size", entry.key.logSize);
  visit("choice", entry.choice);
  visit("device", entry.device);
  visit("capability", entry.capability);
  visit("multiprocessors", entry.multiprocessors);
  visit("choice_ns", entry.choiceTime);
  visit("first_ns", entry.firstTime);
  visit("spread_ns", entry.spread);
  visit("memory_mib", entry.memory);
  visit("driver", entry.driver);
  visit("cuda", entry.cuda);
  visit("library", entry.library);
  visit("date", entry.date);
}

inline auto orderOf(const TuningEntry& entry) {
  return std::tie(entry.key.name, entry.device, entry.key.type, entry.key.logSize);
}
inline bool operator<(const TuningEntry& a, const TuningEntry& b) { return orderOf(a) < orderOf(b); }
inline bool hasSameKey(const TuningEntry& a, const TuningEntry& b) { return orderOf(a) == orderOf(b); }

constexpr int logSizeOf(std::size_t size) {
  int log = 0;
  while (size >>= 1) ++log;
  return log;
}

// 13.0 of 13000.
inline std::string cudaVersion(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

inline std::string libraryVersion() {
  return std::to_string(GPUOPT_VERSION_MAJOR) + "." + std::to_string(GPUOPT_VERSION_MINOR) + "." +
         std::to_string(GPUOPT_VERSION_PATCH);
}

// In UTC, as 2026-11-23.
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[16];
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

GPUOPT_HIDDEN inline const std::string& deviceName(int device) {
  static auto& names = *new Registry<int, const std::string*>;
  return *names.get(device, [=] {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return new std::string(properties.name);
  });
}

/// An entry of the current device with everything but the times and the choice.
inline TuningEntry entryOf(TuningKey key) {
  const int device = currentDevice();
  std::size_t available = 0, memory = 0;
  check(cudaMemGetInfo(&available, &memory), "cudaMemGetInfo");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  TuningEntry entry;
  entry.key = std::move(key);
  entry.device = deviceName(device);
  entry.capability = computeCapability(device);
  entry.multiprocessors = multiprocessorCount(device);
  entry.memory = static_cast<int>(memory >> 20);
  entry.driver = cudaVersion(driver);
  entry.cuda = cudaVersion(runtime);
  entry.library = libraryVersion();
  entry.date = today();
  return entry;
}

GPUOPT_DETAIL_END
