/// What a program may prefer or advise, and the device has no use for: caches, limits, flags, prefetching.
// SPDX-License-Identifier: MIT
#pragma once

#include "device.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "queue.hpp"

#include <array>
#include <atomic>
#include <cstddef>

enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};
enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};

inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8,
                          cudaDeviceLmemResizeToMax = 16;
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

namespace gpuopt::emulation::detail {

/// What programs have set, to be read back.
struct Preferences {
  std::array<std::atomic<std::size_t>, 7> limits{64 * 1024, 1024 * 1024, 8 * 1024 * 1024, 2, 2048, 64, 0};
  std::atomic<cudaFuncCache> cache{cudaFuncCachePreferNone};
  std::atomic<unsigned> flags{cudaDeviceScheduleAuto};
};

inline Preferences& preferences() {
  static Preferences* const instance = new Preferences;
  return *instance;
}

/// Advice on managed memory, which has to be the program's.
inline cudaError_t checkManaged(const void* pointer, std::size_t bytes, int device) {
  const bool isKnown = memory().attributes(pointer).type == cudaMemoryTypeManaged;
  if (!isKnown || bytes == 0 || !memory().isWithinAllocation(pointer, bytes)) return result(cudaErrorInvalidValue);
  return resultIf(isDevice(device) || device == cudaCpuDeviceId, cudaErrorInvalidDevice);
}

inline int deviceOf(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace gpuopt::emulation::detail

// ------------------------------------------------------------------------- caches, limits and flags

inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cache) {
  gpuopt::emulation::detail::preferences().cache = cache;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* cache) {
  *cache = gpuopt::emulation::detail::preferences().cache;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache) {
  return gpuopt::emulation::detail::resultIf(kernel != nullptr, cudaErrorInvalidDeviceFunction);
}
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaFuncSetSharedMemConfig(Kernel* kernel, cudaSharedMemConfig) {
  return gpuopt::emulation::detail::resultIf(kernel != nullptr, cudaErrorInvalidDeviceFunction);
}

inline cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  auto& limits = gpuopt::emulation::detail::preferences().limits;
  if (limit < 0 || static_cast<std::size_t>(limit) >= limits.size())
    return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  limits[limit] = value;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  auto& limits = gpuopt::emulation::detail::preferences().limits;
  if (limit < 0 || static_cast<std::size_t>(limit) >= limits.size())
    return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  *value = limits[limit];
  return cudaSuccess;
}

/// A window of memory that L2 shall treat as `value` says; other attributes cannot be set.
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  if (attribute != cudaStreamAttributeAccessPolicyWindow || value == nullptr)
    return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  const cudaAccessPolicyWindow& window = value->accessPolicyWindow;
  const bool isRatio = window.hitRatio >= 0 && window.hitRatio <= 1;
  return gpuopt::emulation::detail::resultIf(isRatio && window.missProp != cudaAccessPropertyPersisting);
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

inline cudaError_t cudaSetDeviceFlags(unsigned flags) {
  gpuopt::emulation::detail::preferences().flags = flags;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = gpuopt::emulation::detail::preferences().flags;
  return cudaSuccess;
}

inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }

// --------------------------------------------------------------------------------- managed memory

inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t = nullptr) {
  return gpuopt::emulation::detail::checkManaged(pointer, bytes, device);
}
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(pointer, bytes, gpuopt::emulation::detail::deviceOf(location), stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int device) {
  return gpuopt::emulation::detail::checkManaged(pointer, bytes, device);
}
inline cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                 cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, gpuopt::emulation::detail::deviceOf(location));
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T* pointer, std::size_t = 0, unsigned = cudaMemAttachSingle) {
  const bool isManaged = gpuopt::emulation::detail::memory().attributes(pointer).type == cudaMemoryTypeManaged;
  return gpuopt::emulation::detail::resultIf(isManaged);
}

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
