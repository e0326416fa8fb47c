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

namespace detail {

inline int queryDeviceAttribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace detail

/// An attribute of a device. The first call queries the runtime, later ones cost a few nanoseconds. Thread-safe. Throws
/// CudaError for an unknown device or attribute.
GPUOPT_HIDDEN inline int deviceAttribute(cudaDeviceAttr attribute, int device) {
  constexpr unsigned DEVICES = 64;
  constexpr unsigned ATTRIBUTES = 256;
  constexpr std::int64_t KNOWN = std::int64_t{1} << 32;
  static std::atomic<std::int64_t> cache[DEVICES][ATTRIBUTES];  // zero: not KNOWN yet

  const auto row = static_cast<unsigned>(device);
  const auto column = static_cast<unsigned>(attribute);
  if (row >= DEVICES || column >= ATTRIBUTES) return detail::queryDeviceAttribute(attribute, device);

  std::atomic<std::int64_t>& entry = cache[row][column];
  std::int64_t cached = entry.load(std::memory_order_relaxed);
  if (cached == 0) {
    const int value = detail::queryDeviceAttribute(attribute, device);
    cached = KNOWN | static_cast<std::uint32_t>(value);
    entry.store(cached, std::memory_order_relaxed);
  }
  return static_cast<int>(static_cast<std::uint32_t>(cached));
}

/// The number of multiprocessors of a device.
inline int multiprocessorCount(int device) { return deviceAttribute(cudaDevAttrMultiProcessorCount, device); }

/// The compute capability of a device as one number: 90 for 9.0.
inline int computeCapability(int device) {
  return 10 * deviceAttribute(cudaDevAttrComputeCapabilityMajor, device) +
         deviceAttribute(cudaDevAttrComputeCapabilityMinor, device);
}

GPUOPT_NAMESPACE_END
