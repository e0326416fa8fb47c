/// How many devices there are, and which one a host thread uses.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gpuopt::emulation {

/// The most devices that there can be.
inline constexpr int MAX_DEVICES = 64;

namespace detail {

inline int numberOfDevices(const char* variable, const char* text) {
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (*end == '\0' && count >= 1 && count <= MAX_DEVICES) return static_cast<int>(count);
  std::fprintf(stderr, "gpuopt emulation: %s=%s is not a number from 1 to %d\n", variable, text, MAX_DEVICES);
  std::abort();
}

/// GPUOPT_EMULATION_DEVICES=1 to 64
inline int environmentDeviceCount() {
  const char* text = std::getenv("GPUOPT_EMULATION_DEVICES");
  return text == nullptr || *text == '\0' ? 1 : numberOfDevices("GPUOPT_EMULATION_DEVICES", text);
}

/// GPUOPT_EMULATION_NODE_DEVICES=1 to 64
inline int environmentNodeDevices() {
  const char* text = std::getenv("GPUOPT_EMULATION_NODE_DEVICES");
  return text == nullptr || *text == '\0' ? MAX_DEVICES : numberOfDevices("GPUOPT_EMULATION_NODE_DEVICES", text);
}

/// What the devices of the process have in common.
struct Devices {
  std::atomic<int> count{environmentDeviceCount()};
  std::atomic<int> perNode{environmentNodeDevices()};
  std::atomic<bool> canAccessPeers{true};
};

// Never destroyed, like all state of the emulation.
inline Devices& devices() {
  static Devices* const instance = new Devices;
  return *instance;
}

inline bool isDevice(int device) { return device >= 0 && device < devices().count; }

/// The device that the calling host thread has set.
inline thread_local int currentDevice = 0;

/// Whether a host function of a stream runs, which must not call the runtime.
inline thread_local bool isInHostFunction = false;

/// Of all threads. While there are some, other threads of the host may work for them.
inline std::atomic<int> runningHostFunctions{0};

}  // namespace detail

/// Sets the number of devices, 1 to 64, instead of the environment. Devices that exist keep their memory and streams:
/// call it before devices are used that there will be no more. Throws std::invalid_argument for other numbers.
inline void setDeviceCount(int count) {
  if (count < 1 || count > MAX_DEVICES)
    throw std::invalid_argument("gpuopt::emulation::setDeviceCount: count (" + std::to_string(count) +
                                ") is not from 1 to " + std::to_string(MAX_DEVICES));
  detail::devices().count = count;
}

/// The number of devices.
inline int deviceCount() { return detail::devices().count; }

/// Sets how many neighbouring devices are a node, 1 to 64, instead of the environment. cudaDeviceCanAccessPeer says yes
/// within a node alone. Throws std::invalid_argument for other numbers.
inline void setNodeDevices(int count) {
  if (count < 1 || count > MAX_DEVICES)
    throw std::invalid_argument("gpuopt::emulation::setNodeDevices: count (" + std::to_string(count) +
                                ") is not from 1 to " + std::to_string(MAX_DEVICES));
  detail::devices().perNode = count;
}

/// Sets whether cudaDeviceCanAccessPeer says yes, which it does at first: to test what a program does without.
inline void setPeerAccess(bool canAccess) { detail::devices().canAccessPeers = canAccess; }

}  // namespace gpuopt::emulation
