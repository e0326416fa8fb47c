/// \file
/// Which memory the copy engine reaches, and copies on the host where it does not.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

GPUOPT_DETAIL_BEGIN

// Whether the runtime knows the byte: pinned, registered, managed or on the device.
inline bool isKnownToRuntime(const void* byte) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, byte), "cudaPointerGetAttributes");
  return attributes.type != cudaMemoryTypeUnregistered;
}

// Whether the copy engine reads and writes the array itself, without a slot of pinned memory.
inline bool isDirect(const void* data, std::size_t bytes) {
  const RelaxedCapture relaxed;
  return bytes > 0 && isKnownToRuntime(data) && isKnownToRuntime(static_cast<const unsigned char*>(data) + bytes - 1);
}

inline void copyOnHost(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

GPUOPT_DETAIL_END
