/// Pools of device memory: allocation from them, attributes, access.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

struct CUmemPoolHandle_st {
  int device = 0;
  std::uint64_t attributes[9] = {};
};

namespace gpuopt::emulation::detail {

/// The pools that devices have from the start.
inline CUmemPoolHandle_st& defaultPool(int device) {
  static CUmemPoolHandle_st* const pools = [] {
    auto* const all = new CUmemPoolHandle_st[MAX_DEVICES];
    for (int i = 0; i < MAX_DEVICES; ++i) all[i].device = i;
    return all;
  }();
  return pools[device];
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  namespace emulated = gpuopt::emulation::detail;
  if (pool == nullptr) return emulated::result(cudaErrorInvalidValue);
  return emulated::allocate(pointer, bytes, cudaMemoryTypeDevice, pool->device);
}

template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, pool, stream);
}

inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  namespace emulated = gpuopt::emulation::detail;
  const int device = properties != nullptr ? properties->location.id : emulated::currentDevice;
  if (!emulated::isDevice(device)) return emulated::result(cudaErrorInvalidDevice);
  *pool = new CUmemPoolHandle_st{device, {}};
  return cudaSuccess;
}

inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const bool isOwned = pool != nullptr && pool != &gpuopt::emulation::detail::defaultPool(pool->device);
  if (isOwned) delete pool;
  return gpuopt::emulation::detail::resultIf(isOwned);
}

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(device)) return emulated::result(cudaErrorInvalidDevice);
  *pool = &emulated::defaultPool(device);
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::size_t bytes = attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t);
  std::memcpy(&pool->attributes[attribute], value, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::size_t bytes = attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t);
  std::memcpy(value, &pool->attributes[attribute], bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

/// Every device can use every pool.
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc* access, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!gpuopt::emulation::detail::isDevice(access[i].location.id))
      return gpuopt::emulation::detail::result(cudaErrorInvalidDevice);
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t, cudaMemLocation*) {
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}
