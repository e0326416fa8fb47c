/// \file
/// Device attributes, queried once; streams in graph capture, and calls that must not disturb one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/error.cuh>

#include <atomic>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// The calling thread's current device.
[[nodiscard]] inline int currentDevice() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// An attribute of a device. The first call queries the runtime, later ones cost a few nanoseconds. Thread-safe. Throws
/// CudaError for an unknown device or attribute.
[[nodiscard]] GPUOPT_HIDDEN inline int deviceAttribute(cudaDeviceAttr attribute, int device) {
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
[[nodiscard]] inline int multiprocessorCount(int device) {
  return deviceAttribute(cudaDevAttrMultiProcessorCount, device);
}

/// The compute capability of a device as one number: 90 for 9.0.
[[nodiscard]] inline int computeCapability(int device) {
  return 10 * deviceAttribute(cudaDevAttrComputeCapabilityMajor, device) +
         deviceAttribute(cudaDevAttrComputeCapabilityMinor, device);
}

namespace detail {

/// Makes a device the calling thread's current one for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(currentDevice()), device_(device) {
    if (device_ != before_) check(cudaSetDevice(device_), "cudaSetDevice");
  }
  ~DeviceScope() {
    if (device_ != before_) forgetError(cudaSetDevice(before_));
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_, device_;
};

/// Whether the stream is being captured into a graph. Throws CudaError for the legacy default stream while another
/// stream's capture forbids its use; that capture stays valid.
inline bool isCapturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// Throws std::invalid_argument if the stream is being captured: the kernel does not run, so there is no value to
/// return. `function` is the caller that returns a value ("gpuopt::reduce").
inline void requireNotCapturing(cudaStream_t stream, const char* function) {
  if (isCapturing(stream)) throwInvalid({function, ": stream is being captured; use ", function, "Into"});
}

/// Scope in which this thread may allocate and synchronise while any thread captures a stream. Without it, such a call
/// fails and invalidates the capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  // Errors are ignored: the guarded call will fail with the same one.
  void exchange() noexcept { forgetError(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // holds the thread's own mode meanwhile
};

}  // namespace detail
GPUOPT_NAMESPACE_END
