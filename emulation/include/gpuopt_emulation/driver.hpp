/// What there is of the driver's interface, all that needs no module, and how a program gets its functions from the
/// runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include "copies.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "peers.hpp"
#include "streams.hpp"

#include <cstring>

#define CUDAAPI

using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

// name, value: the runtime's values
#define GPUOPT_EMULATION_RESULTS(ENTRY)          \
  ENTRY(CUDA_SUCCESS, 0)                         \
  ENTRY(CUDA_ERROR_INVALID_VALUE, 1)             \
  ENTRY(CUDA_ERROR_OUT_OF_MEMORY, 2)             \
  ENTRY(CUDA_ERROR_NOT_INITIALIZED, 3)           \
  ENTRY(CUDA_ERROR_DEINITIALIZED, 4)             \
  ENTRY(CUDA_ERROR_NO_DEVICE, 100)               \
  ENTRY(CUDA_ERROR_INVALID_DEVICE, 101)          \
  ENTRY(CUDA_ERROR_INVALID_CONTEXT, 201)         \
  ENTRY(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)       \
  ENTRY(CUDA_ERROR_INVALID_HANDLE, 400)          \
  ENTRY(CUDA_ERROR_NOT_FOUND, 500)               \
  ENTRY(CUDA_ERROR_NOT_READY, 600)               \
  ENTRY(CUDA_ERROR_ILLEGAL_ADDRESS, 700)         \
  ENTRY(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701) \
  ENTRY(CUDA_ERROR_ASSERT, 710)                  \
  ENTRY(CUDA_ERROR_LAUNCH_FAILED, 719)           \
  ENTRY(CUDA_ERROR_NOT_PERMITTED, 800)           \
  ENTRY(CUDA_ERROR_NOT_SUPPORTED, 801)           \
  ENTRY(CUDA_ERROR_UNKNOWN, 999)
#define GPUOPT_EMULATION_ENUMERATOR(name, value) name = value,
enum cudaError_enum { GPUOPT_EMULATION_RESULTS(GPUOPT_EMULATION_ENUMERATOR) };
#undef GPUOPT_EMULATION_ENUMERATOR
using CUresult = cudaError_enum;

enum CUpointer_attribute { CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12 };

// name, the runtime's attribute
#define GPUOPT_EMULATION_DRIVER_ATTRIBUTES(ENTRY)                                                              \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cudaDevAttrMaxThreadsPerBlock)                              \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, cudaDevAttrMaxBlockDimX)                                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, cudaDevAttrMaxBlockDimY)                                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, cudaDevAttrMaxBlockDimZ)                                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, cudaDevAttrMaxGridDimX)                                            \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, cudaDevAttrMaxGridDimY)                                            \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, cudaDevAttrMaxGridDimZ)                                            \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, cudaDevAttrMaxSharedMemoryPerBlock)                   \
  ENTRY(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, cudaDevAttrTotalConstantMemory)                             \
  ENTRY(CU_DEVICE_ATTRIBUTE_WARP_SIZE, cudaDevAttrWarpSize)                                                    \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_PITCH, cudaDevAttrMaxPitch)                                                    \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, cudaDevAttrMaxRegistersPerBlock)                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, cudaDevAttrClockRate)                                                  \
  ENTRY(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, cudaDevAttrTextureAlignment)                                    \
  ENTRY(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, cudaDevAttrGpuOverlap)                                                \
  ENTRY(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, cudaDevAttrMultiProcessorCount)                              \
  ENTRY(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, cudaDevAttrKernelExecTimeout)                                 \
  ENTRY(CU_DEVICE_ATTRIBUTE_INTEGRATED, cudaDevAttrIntegrated)                                                 \
  ENTRY(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, cudaDevAttrCanMapHostMemory)                                  \
  ENTRY(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, cudaDevAttrComputeMode)                                              \
  ENTRY(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, cudaDevAttrConcurrentKernels)                                  \
  ENTRY(CU_DEVICE_ATTRIBUTE_ECC_ENABLED, cudaDevAttrEccEnabled)                                                \
  ENTRY(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, cudaDevAttrMemoryClockRate)                                     \
  ENTRY(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, cudaDevAttrGlobalMemoryBusWidth)                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cudaDevAttrL2CacheSize)                                             \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, cudaDevAttrMaxThreadsPerMultiProcessor)            \
  ENTRY(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, cudaDevAttrAsyncEngineCount)                                   \
  ENTRY(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, cudaDevAttrUnifiedAddressing)                                  \
  ENTRY(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cudaDevAttrComputeCapabilityMajor)                       \
  ENTRY(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cudaDevAttrComputeCapabilityMinor)                       \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, cudaDevAttrMaxSharedMemoryPerMultiprocessor) \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, cudaDevAttrMaxRegistersPerMultiprocessor)        \
  ENTRY(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, cudaDevAttrManagedMemory)                                          \
  ENTRY(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, cudaDevAttrConcurrentManagedAccess)                     \
  ENTRY(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, cudaDevAttrCooperativeLaunch)                                  \
  ENTRY(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, cudaDevAttrMaxSharedMemoryPerBlockOptin)
#define GPUOPT_EMULATION_ENUMERATOR(name, runtime) name = runtime,
enum CUdevice_attribute {
  GPUOPT_EMULATION_DRIVER_ATTRIBUTES(GPUOPT_EMULATION_ENUMERATOR)
  // These the device does not have: the answer is 0.
  CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102
};
#undef GPUOPT_EMULATION_ENUMERATOR
#undef GPUOPT_EMULATION_DRIVER_ATTRIBUTES

namespace gpuopt::emulation::detail {

/// The runtime's codes are the driver's; the driver keeps no last error.
inline CUresult driverResult(cudaError_t code) {
  lastError = cudaSuccess;
  return static_cast<CUresult>(code);
}

/// A device's primary context, the only one that it has.
inline CUcontext contextOf(int device) {
  static char* const contexts = new char[MAX_DEVICES];
  return reinterpret_cast<CUcontext>(contexts + device);
}
inline int deviceOf(CUcontext context) {
  return static_cast<int>(reinterpret_cast<char*>(context) - reinterpret_cast<char*>(contextOf(0)));
}

inline void* pointerOf(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

}  // namespace gpuopt::emulation::detail

// ------------------------------------------------------------------------------ errors and devices

inline CUresult cuInit(unsigned flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
inline CUresult cuDriverGetVersion(int* version) {
  return gpuopt::emulation::detail::driverResult(cudaDriverGetVersion(version));
}

inline CUresult cuGetErrorName(CUresult code, const char** name) {
  *name = nullptr;
  switch (code) {
#define GPUOPT_EMULATION_CASE(entry, value) \
  case entry:                               \
    *name = #entry;                         \
    return CUDA_SUCCESS;
    GPUOPT_EMULATION_RESULTS(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(code));
  return CUDA_SUCCESS;
}

inline CUresult cuDeviceGetCount(int* count) {
  return gpuopt::emulation::detail::driverResult(cudaGetDeviceCount(count));
}
inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!gpuopt::emulation::detail::isDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (!gpuopt::emulation::detail::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::strncpy(name, gpuopt::emulation::DEVICE_NAME, static_cast<std::size_t>(length) - 1);
  name[length - 1] = '\0';
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  namespace emulated = gpuopt::emulation::detail;
  if (!emulated::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = emulated::attributeValue(static_cast<cudaDeviceAttr>(attribute)).value_or(0);
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  if (!gpuopt::emulation::detail::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = gpuopt::emulation::detail::memory().capacity();
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceCanAccessPeer(int* canAccess, CUdevice device, CUdevice peer) {
  return gpuopt::emulation::detail::driverResult(cudaDeviceCanAccessPeer(canAccess, device, peer));
}

// ---------------------------------------------------------------------------------------- contexts

inline CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = gpuopt::emulation::detail::contextOf(gpuopt::emulation::detail::currentDevice);
  return CUDA_SUCCESS;
}
inline CUresult cuCtxSetCurrent(CUcontext context) {
  namespace emulated = gpuopt::emulation::detail;
  return context == nullptr ? CUDA_SUCCESS : emulated::driverResult(cudaSetDevice(emulated::deviceOf(context)));
}
inline CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!gpuopt::emulation::detail::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = gpuopt::emulation::detail::contextOf(device);
  return CUDA_SUCCESS;
}
inline CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
/// Every context of a device is its primary one.
inline CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice device) {
  const CUresult code = cuDevicePrimaryCtxRetain(context, device);
  return code == CUDA_SUCCESS ? cuCtxSetCurrent(*context) : code;
}
inline CUresult cuCtxDestroy(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuCtxGetDevice(CUdevice* device) {
  return gpuopt::emulation::detail::driverResult(cudaGetDevice(device));
}
inline CUresult cuCtxSynchronize() { return gpuopt::emulation::detail::driverResult(cudaDeviceSynchronize()); }

// ------------------------------------------------------------------------------------------ memory

inline CUresult cuMemAlloc(CUdeviceptr* pointer, std::size_t bytes) {
  void* allocated = nullptr;
  const cudaError_t code = cudaMalloc(&allocated, bytes);
  *pointer = reinterpret_cast<CUdeviceptr>(allocated);
  return gpuopt::emulation::detail::driverResult(code);
}
inline CUresult cuMemFree(CUdeviceptr pointer) {
  return gpuopt::emulation::detail::driverResult(cudaFree(gpuopt::emulation::detail::pointerOf(pointer)));
}
inline CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return gpuopt::emulation::detail::driverResult(cudaMallocHost(pointer, bytes));
}
inline CUresult cuMemFreeHost(void* pointer) { return gpuopt::emulation::detail::driverResult(cudaFreeHost(pointer)); }
inline CUresult cuMemGetInfo(std::size_t* available, std::size_t* total) {
  return gpuopt::emulation::detail::driverResult(cudaMemGetInfo(available, total));
}
inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(cudaMemcpy(emulated::pointerOf(to), from, bytes, cudaMemcpyHostToDevice));
}
inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(cudaMemcpy(to, emulated::pointerOf(from), bytes, cudaMemcpyDeviceToHost));
}
inline CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(
      cudaMemcpy(emulated::pointerOf(to), emulated::pointerOf(from), bytes, cudaMemcpyDeviceToDevice));
}
inline CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(cudaMemcpyAsync(emulated::pointerOf(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
inline CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(cudaMemcpyAsync(to, emulated::pointerOf(from), bytes, cudaMemcpyDeviceToHost, stream));
}
inline CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, std::size_t count) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::driverResult(cudaMemset(emulated::pointerOf(pointer), value, count));
}

/// The allocation or registration that holds an address; null and 0 if there is none. No other attributes are known.
inline CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                       CUdeviceptr pointer) {
  const auto range = gpuopt::emulation::detail::memory().range(reinterpret_cast<const void*>(pointer));
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
      std::memcpy(data[i], &range.first, sizeof range.first);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
      std::memcpy(data[i], &range.second, sizeof range.second);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------------ streams and events

enum CUstream_flags { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
enum CUevent_flags { CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2 };

inline CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return gpuopt::emulation::detail::driverResult(cudaStreamCreateWithFlags(stream, flags));
}
inline CUresult cuStreamDestroy(CUstream stream) {
  return gpuopt::emulation::detail::driverResult(cudaStreamDestroy(stream));
}
inline CUresult cuStreamSynchronize(CUstream stream) {
  return gpuopt::emulation::detail::driverResult(cudaStreamSynchronize(stream));
}
inline CUresult cuStreamQuery(CUstream stream) {
  return gpuopt::emulation::detail::driverResult(cudaStreamQuery(stream));
}
inline CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return gpuopt::emulation::detail::driverResult(cudaEventCreateWithFlags(event, flags));
}
inline CUresult cuEventRecord(CUevent event, CUstream stream) {
  return gpuopt::emulation::detail::driverResult(cudaEventRecord(event, stream));
}
inline CUresult cuEventSynchronize(CUevent event) {
  return gpuopt::emulation::detail::driverResult(cudaEventSynchronize(event));
}
inline CUresult cuEventQuery(CUevent event) { return gpuopt::emulation::detail::driverResult(cudaEventQuery(event)); }
inline CUresult cuEventDestroy(CUevent event) {
  return gpuopt::emulation::detail::driverResult(cudaEventDestroy(event));
}
inline CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return gpuopt::emulation::detail::driverResult(cudaEventElapsedTime(milliseconds, begin, end));
}

// --------------------------------------------------------------------------- functions of the driver

enum { cudaEnableDefault = 0, cudaEnableLegacyStream = 1, cudaEnablePerThreadDefaultStream = 2 };

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2
};

/// Like the runtime, it succeeds for a function that there is not: null, and the status says so.
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                                    cudaDriverEntryPointQueryResult* status = nullptr) {
  if (symbol == nullptr || function == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  const bool isKnown = std::strcmp(symbol, "cuPointerGetAttributes") == 0;
  *function = isKnown ? reinterpret_cast<void*>(cuPointerGetAttributes) : nullptr;
  if (status != nullptr) *status = isKnown ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
