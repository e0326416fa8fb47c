/// The one emulated device.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "limits.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstring>

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int device) { return gpuopt::emulation::detail::resultIf(device == 0, cudaErrorInvalidDevice); }

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }

inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = gpuopt::emulation::RUNTIME_VERSION;
  return cudaSuccess;
}

inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  using namespace gpuopt::emulation;
  if (device != 0) return detail::result(cudaErrorInvalidDevice);
  switch (attribute) {
#define GPUOPT_EMULATION_CASE(name, number, answer) \
  case name: *value = static_cast<int>(answer); return cudaSuccess;
    GPUOPT_EMULATION_ATTRIBUTES(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return detail::result(cudaErrorInvalidValue);
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  using namespace gpuopt::emulation;
  if (device != 0) return detail::result(cudaErrorInvalidDevice);
  cudaDeviceProp p{};
  std::memcpy(p.name, DEVICE_NAME, sizeof DEVICE_NAME);
  p.totalGlobalMem = detail::memory().capacity();
  p.sharedMemPerBlock = SHARED_BYTES;
  p.sharedMemPerBlockOptin = SHARED_BYTES_OPTIN;
  p.sharedMemPerMultiprocessor = SHARED_BYTES_PER_MULTIPROCESSOR;
  p.reservedSharedMemPerBlock = SHARED_BYTES_RESERVED;
  p.regsPerBlock = p.regsPerMultiprocessor = REGISTERS_PER_MULTIPROCESSOR;
  p.warpSize = static_cast<int>(WARP_LANES);
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = static_cast<int>(MAX_BLOCK_THREADS);
  p.maxThreadsPerMultiProcessor = THREADS_PER_MULTIPROCESSOR;
  p.maxBlocksPerMultiProcessor = BLOCKS_PER_MULTIPROCESSOR;
  const unsigned blockLimits[] = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z};
  const unsigned gridLimits[] = {MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z};
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = static_cast<int>(blockLimits[i]);
    p.maxGridSize[i] = static_cast<int>(gridLimits[i]);
  }
  p.totalConstMem = 64 * 1024;
  p.major = COMPUTE_CAPABILITY_MAJOR;
  p.minor = COMPUTE_CAPABILITY_MINOR;
  p.multiProcessorCount = MULTIPROCESSORS;
  p.l2CacheSize = L2_BYTES;
  p.memoryBusWidth = 64;
  p.canMapHostMemory = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess = p.memoryPoolsSupported = 1;
  *properties = p;
  return cudaSuccess;
}
