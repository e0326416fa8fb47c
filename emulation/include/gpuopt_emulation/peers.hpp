/// Devices that use the memory of each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "copies.hpp"
#include "current_device.hpp"
#include "errors.hpp"

#include <atomic>
#include <cstddef>

namespace gpuopt::emulation::detail {

/// Whether device `from` may use the memory of device `to`. Kernels can in any case: the memory of all devices is the
/// host's.
inline std::atomic<bool>& hasPeerAccess(int from, int to) {
  static auto* const enabled = new std::atomic<bool>[std::size_t{MAX_DEVICES} * MAX_DEVICES] {};
  return enabled[from * MAX_DEVICES + to];
}

/// Whether the devices are two of a node, and can use the memory of each other.
inline bool canAccessPeer(int device, int peer) {
  const int perNode = devices().perNode;
  return device != peer && devices().canAccessPeers && device / perNode == peer / perNode;
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peer) {
  namespace emulated = gpuopt::emulation::detail;
  *canAccess = 0;
  if (!emulated::isDevice(device) || !emulated::isDevice(peer)) return emulated::result(cudaErrorInvalidDevice);
  *canAccess = emulated::canAccessPeer(device, peer) ? 1 : 0;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(peer) || peer == emulated::currentDevice) return emulated::result(cudaErrorInvalidDevice);
  if (flags != 0) return emulated::result(cudaErrorInvalidValue);
  if (!emulated::canAccessPeer(emulated::currentDevice, peer)) return emulated::result(cudaErrorPeerAccessUnsupported);
  const bool before = emulated::hasPeerAccess(emulated::currentDevice, peer).exchange(true);
  return emulated::resultIf(!before, cudaErrorPeerAccessAlreadyEnabled);
}

inline cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(peer) || peer == emulated::currentDevice) return emulated::result(cudaErrorInvalidDevice);
  const bool before = emulated::hasPeerAccess(emulated::currentDevice, peer).exchange(false);
  return emulated::resultIf(before, cudaErrorPeerAccessNotEnabled);
}

/// Between any two devices, with peer access or without.
inline cudaError_t cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, std::size_t bytes,
                                       cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(toDevice) || !emulated::isDevice(fromDevice)) return emulated::result(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

inline cudaError_t cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, std::size_t bytes) {
  return cudaMemcpyPeerAsync(to, toDevice, from, fromDevice, bytes, cudaStreamLegacy);
}

// ------------------------------------------------------------------------ memory of other processes

struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};
inline constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;

inline cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaIpcCloseMemHandle(void*) { return gpuopt::emulation::detail::result(cudaErrorNotSupported); }
inline cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}

struct cudaMemPoolPtrExportData {
  unsigned char reserved[64];
};

inline cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, cudaMemAllocationHandleType, unsigned) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, cudaMemAllocationHandleType, unsigned) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
inline cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
  return gpuopt::emulation::detail::result(cudaErrorNotSupported);
}
