/// \file
/// GPUOPT_CHECK_POINTERS: whether the device, or the host, can access what the host functions are given.
///
/// With -DGPUOPT_CHECK_POINTERS=1 they throw std::invalid_argument for an array or a result that is in host memory, or
/// that reaches beyond the end of its memory; for lists and blocks of transfers where the host has no memory; and in
/// launch() for a kernel's pointer into host memory. Off by default, because it asks the runtime for two addresses of
/// every array; the emulated device turns it on.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

#if GPUOPT_CHECK_POINTERS

// Whether kernels can read all of the host's memory, as with HMM, or on Grace.
inline bool deviceAccessesHostMemory() {
  int device = 0, accesses = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&accesses, cudaDevAttrPageableMemoryAccess, device) == cudaSuccess && accesses != 0;
}

// What the runtime knows of an address; false if it could not be asked. Leaves captures of streams and the last error
// as they are.
GPUOPT_HIDDEN inline bool askRuntime(cudaPointerAttributes& attributes, const void* address) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess) return false;
  const cudaError_t before = cudaPeekAtLastError();
  const bool isKnown = cudaPointerGetAttributes(&attributes, address) == cudaSuccess;
  if (!isKnown && before == cudaSuccess) static_cast<void>(cudaGetLastError());
  return cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess && isKnown;
}

inline bool deviceCanAccess(const void* address) {
  cudaPointerAttributes attributes{};
  if (!askRuntime(attributes, address)) return true;  // the launch will fail with the runtime's own error
  if (attributes.type == cudaMemoryTypeUnregistered) return deviceAccessesHostMemory();
  return attributes.type != cudaMemoryTypeHost || attributes.devicePointer != nullptr;
}

// Whether the system knows an address of the host's: it has pages there.
inline bool isMapped(const void* address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const int before = errno;
  unsigned char isResident = 0;
  const bool isUnknown =
      mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page), 1, &isResident) != 0 &&
      errno == ENOMEM;
  errno = before;
  return !isUnknown;
}

inline bool hostCanAccess(const void* address) {
  cudaPointerAttributes attributes{};
  const bool isDevices = askRuntime(attributes, address) && attributes.type == cudaMemoryTypeDevice;
  return !isDevices && isMapped(address);
}

// How many bytes of an array, whose first byte the device can access, come before one that it cannot; 0 if the search
// is too long. Steps of 256 bytes miss no gap between two allocations of the emulated device.
inline std::size_t accessibleBytes(const void* data) {
  constexpr std::size_t STEP = 256, LIMIT = std::size_t{1} << 24;
  const auto isAccessible = [data](std::size_t i) {
    return deviceCanAccess(static_cast<const unsigned char*>(data) + i);
  };
  std::size_t bytes = 1;
  while (bytes < LIMIT && isAccessible(bytes - 1 + STEP)) bytes += STEP;
  if (bytes >= LIMIT) return 0;
  while (isAccessible(bytes)) ++bytes;
  return bytes;
}

#else

inline bool deviceCanAccess(const void*) { return true; }
inline bool hostCanAccess(const void*) { return true; }
inline std::size_t accessibleBytes(const void*) { return 0; }

#endif

// Whether a kernel may get this address: also null, and that of the end of an array.
inline bool isKernelAddress(const void* address) {
  return address == nullptr || deviceCanAccess(address) ||
         deviceCanAccess(static_cast<const unsigned char*>(address) - 1);
}

GPUOPT_DETAIL_END
