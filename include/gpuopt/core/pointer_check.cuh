/// \file
/// GPUOPT_CHECK_POINTERS: whether the device can access what the host functions are given.
///
/// With -DGPUOPT_CHECK_POINTERS=1 they throw std::invalid_argument for an array or a result that is in host memory, or
/// that reaches beyond the end of its memory. Off by default, because it asks the runtime for two addresses of every
/// array; the emulated device turns it on.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

#if GPUOPT_CHECK_POINTERS

// Whether kernels can read all of the host's memory, as with HMM, or on Grace.
inline bool deviceAccessesHostMemory() {
  int device = 0, accesses = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&accesses, cudaDevAttrPageableMemoryAccess, device) == cudaSuccess && accesses != 0;
}

// What the runtime knows of an address; false if it cannot tell. Leaves captures of streams and the last error as they
// are.
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

#else

inline bool deviceCanAccess(const void*) { return true; }

#endif

GPUOPT_DETAIL_END
