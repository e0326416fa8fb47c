/// \file
/// Device attributes, queried once.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <atomic>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// The calling thread's current device.
inline int currentDevice() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// An attribute of a device. The first call queries the runtime, later ones cost a few nanoseconds. Thread-safe. Throws
/// CudaError for an unknown device or attribute.
GPUOPT_HIDDEN inline int deviceAttribute(cudaDeviceAttr attribute, int device) {
  constexpr unsigned DEVICES = 64;
  constexpr unsigned ATTRIBUTES = 256;
  constexpr std::int64_t KNOWN = std::int64_t{1} << 32;
  static std::atomic<std::int64_t> cache[DEVICES][ATTRIBUTES];  // zero: not KNOWN yet

  const auto row = static_cast<unsigned>(device);
  const auto column = static_cast<unsigned>(attribute);
  std::atomic<std::int64_t>* entry = row < DEVICES && column < ATTRIBUTES ? &cache[row][column] : nullptr;
  const std::int64_t cached = entry != nullptr ? entry->load(std::memory_order_relaxed) : 0;
  if (cached != 0) return static_cast<int>(static_cast<std::uint32_t>(cached));
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  if (entry != nullptr) entry->store(KNOWN | static_cast<std::uint32_t>(value), std::memory_order_relaxed);
  return value;
}

/// The number of multiprocessors of a device.
inline int multiprocessorCount(int device) { return deviceAttribute(cudaDevAttrMultiProcessorCount, device); }

/// The compute capability of a device as one number: 90 for 9.0.
inline int computeCapability(int device) {
  return 10 * deviceAttribute(cudaDevAttrComputeCapabilityMajor, device) +
         deviceAttribute(cudaDevAttrComputeCapabilityMinor, device);
}

GPUOPT_NAMESPACE_END
