/// \file
/// The kind of the host's memory that an array is in: pageable, or pinned from its first byte to its last.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

/// The kind of memory that the runtime takes an address for: unregistered if it is pageable memory of the host's.
inline cudaMemoryType memoryTypeOf(const void* address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
  return attributes.type;
}

/// Consecutive bytes.
struct HostRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;

  bool contains(const void* data, std::size_t count) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return address >= begin && address - begin < bytes && count <= bytes - (address - begin);
  }
};

using PointerGetAttributes = CUresult (*)(unsigned, CUpointer_attribute*, void**, CUdeviceptr);

/// The driver's cuPointerGetAttributes, without a library to link with; null if the driver does not have it.
GPUOPT_HIDDEN inline PointerGetAttributes pointerGetAttributes() {
  static const PointerGetAttributes function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion("cuPointerGetAttributes", &found, 12000, cudaEnableDefault, &status);
#else
    const cudaError_t code = cudaGetDriverEntryPoint("cuPointerGetAttributes", &found, cudaEnableDefault, &status);
#endif
    forgetError(code);
    return reinterpret_cast<PointerGetAttributes>(found);
  }();
  return function;
}

/// The allocation or registration that holds an address; empty if there is none, or the driver does not say. The
/// runtime cannot be asked.
inline HostRange allocationOf(const void* address) {
  const PointerGetAttributes ask = pointerGetAttributes();
  if (ask == nullptr) return {};
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&begin, &bytes};
  if (ask(2, attributes, values, reinterpret_cast<CUdeviceptr>(address)) != CUDA_SUCCESS) return {};
  return {static_cast<std::uintptr_t>(begin), bytes};
}

/// Whether an array whose first byte the runtime knows is in one allocation or registration. Copies fail that reach
/// into a second one, and kernels fail in the hole before it. Without the driver's answer, the last byte decides.
inline bool isInOneAllocation(const void* data, std::size_t bytes) {
  const HostRange allocation = allocationOf(data);
  if (allocation.contains(data, 1)) return allocation.contains(data, bytes);
  return memoryTypeOf(static_cast<const unsigned char*>(data) + bytes - 1) != cudaMemoryTypeUnregistered;
}

enum class HostMemory { pageable, partlyPinned, pinned };

/// Finds the kind of memory of an array. The copy engine and kernels can access pinned memory, and managed memory, too.
/// `order` has the arguments of `function`, for callers who have exchanged them.
inline HostMemory hostMemory(const void* host, std::size_t bytes, const char* function, const char* order = nullptr) {
  if (bytes == 0) return HostMemory::pageable;
  const RelaxedCapture relaxed;
  const cudaMemoryType first = memoryTypeOf(host);
  if (first == cudaMemoryTypeDevice) {
    if (order == nullptr) throwInvalid({function, ": host is in the memory of a device"});
    throwInvalid({function, ": host is in the memory of a device: the arguments are ", order});
  }
  if (first != cudaMemoryTypeUnregistered)
    return isInOneAllocation(host, bytes) ? HostMemory::pinned : HostMemory::partlyPinned;
  const cudaMemoryType last = memoryTypeOf(static_cast<const unsigned char*>(host) + bytes - 1);
  return last == cudaMemoryTypeUnregistered ? HostMemory::pageable : HostMemory::partlyPinned;
}

GPUOPT_DETAIL_END
