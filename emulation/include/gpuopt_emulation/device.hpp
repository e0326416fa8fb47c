/// The emulated devices, which are all alike.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "limits.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstring>
#include <optional>

namespace gpuopt::emulation::detail {

inline std::optional<int> attributeValue(cudaDeviceAttr attribute) {
  switch (attribute) {
#define GPUOPT_EMULATION_CASE(name, number, answer) \
  case name:                                        \
    return static_cast<int>(answer);
    GPUOPT_EMULATION_ATTRIBUTES(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return std::nullopt;
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = gpuopt::emulation::deviceCount();
  return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int* device) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isInHostFunction)
    return emulated::failure(cudaErrorNotPermitted, "cudaGetDevice: a host function of a stream calls the runtime");
  *device = emulated::currentDevice;
  return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int device) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(device)) return emulated::result(cudaErrorInvalidDevice);
  emulated::currentDevice = device;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize() {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::waited(emulated::Queue::instance().waitForDevice(emulated::currentDevice));
}
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = gpuopt::emulation::RUNTIME_VERSION;
  return cudaSuccess;
}

inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(device)) return emulated::result(cudaErrorInvalidDevice);
  const std::optional<int> answer = emulated::attributeValue(attribute);
  *value = answer.value_or(0);
  return emulated::resultIf(answer.has_value());
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  namespace emulated = gpuopt::emulation;
  if (!emulated::detail::isDevice(device)) return emulated::detail::result(cudaErrorInvalidDevice);
  cudaDeviceProp p{};
  std::memcpy(p.name, emulated::DEVICE_NAME, sizeof emulated::DEVICE_NAME);
  p.totalGlobalMem = emulated::detail::memory().capacity();
  p.sharedMemPerBlock = emulated::SHARED_BYTES;
  p.sharedMemPerBlockOptin = emulated::SHARED_BYTES_OPTIN;
  p.sharedMemPerMultiprocessor = emulated::SHARED_BYTES_PER_MULTIPROCESSOR;
  p.reservedSharedMemPerBlock = emulated::SHARED_BYTES_RESERVED;
  p.regsPerBlock = p.regsPerMultiprocessor = emulated::REGISTERS_PER_MULTIPROCESSOR;
  p.warpSize = static_cast<int>(emulated::WARP_LANES);
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = static_cast<int>(emulated::MAX_BLOCK_THREADS);
  p.maxThreadsPerMultiProcessor = emulated::THREADS_PER_MULTIPROCESSOR;
  p.maxBlocksPerMultiProcessor = emulated::BLOCKS_PER_MULTIPROCESSOR;
  const unsigned blockLimits[] = {emulated::MAX_BLOCK_X, emulated::MAX_BLOCK_Y, emulated::MAX_BLOCK_Z};
  const unsigned gridLimits[] = {emulated::MAX_GRID_X, emulated::MAX_GRID_Y, emulated::MAX_GRID_Z};
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = static_cast<int>(blockLimits[i]);
    p.maxGridSize[i] = static_cast<int>(gridLimits[i]);
  }
  p.totalConstMem = 64 * 1024;
  p.major = emulated::COMPUTE_CAPABILITY_MAJOR;
  p.minor = emulated::COMPUTE_CAPABILITY_MINOR;
  p.multiProcessorCount = emulated::MULTIPROCESSORS;
  p.l2CacheSize = emulated::L2_BYTES;
  p.memoryBusWidth = 64;
  p.clockRate = p.memoryClockRate = emulated::CLOCK_KHZ;
  p.textureAlignment = emulated::TEXTURE_ALIGNMENT;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = emulated::TEXTURE_ALIGNMENT;
  p.maxTexture1D = emulated::MAX_TEXTURE_1D;
  p.maxTexture1DLinear = emulated::MAX_TEXTURE_LINEAR;
  p.maxTexture2D[0] = emulated::MAX_TEXTURE_2D_WIDTH;
  p.maxTexture2D[1] = emulated::MAX_TEXTURE_2D_HEIGHT;
  for (int& side : p.maxTexture3D) side = emulated::MAX_TEXTURE_3D;
  p.canMapHostMemory = p.cooperativeLaunch = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess =
      p.memoryPoolsSupported = 1;
  *properties = p;
  return cudaSuccess;
}
