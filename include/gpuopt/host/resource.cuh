/// \file
/// Where owners of device memory take it from: the CUDA runtime, or a memory resource of the caller.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t memoryAlignment = 256;  // that of cudaMalloc

// The synchronous functions of a resource: those of CCCL since 3.1, and those of CCCL before, std::pmr and Thrust.
template <class R>
using AllocateSync = decltype(toAddress(std::declval<R&>().allocate_sync(std::size_t{}, std::size_t{})));
template <class R>
using AllocateAligned = decltype(toAddress(std::declval<R&>().allocate(std::size_t{}, std::size_t{})));

template <class R, class = void>
inline constexpr bool allocatesSync = false;
template <class R>
inline constexpr bool allocatesSync<R, std::void_t<AllocateSync<R>>> = true;
template <class R, class = void>
inline constexpr bool allocatesAligned = false;
template <class R>
inline constexpr bool allocatesAligned<R, std::void_t<AllocateAligned<R>>> = true;

template <class R>
using EnableResource = std::enable_if_t<allocatesSync<R> || allocatesAligned<R>>;

// A memory resource without its type, which must outlive what is allocated; without one, the CUDA runtime.
class MemorySource {
 public:
  MemorySource() = default;

  template <class R, class = EnableResource<R>>
  explicit MemorySource(R& resource) : resource_(&resource), allocate_(allocateFrom<R>), deallocate_(deallocateTo<R>) {}

  // Aligned to 256 bytes.
  GPUOPT_HIDDEN void* allocate(std::size_t bytes) const {
    if (resource_ != nullptr) return allocate_(resource_, bytes);
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }

  GPUOPT_HIDDEN void deallocate(void* memory, std::size_t bytes) const noexcept {
    if (memory == nullptr) return;
    if (resource_ != nullptr) return deallocate_(resource_, memory, bytes);
    const RelaxedCapture relaxed;
    forgetError(cudaFree(memory));
  }

 private:
  template <class R>
  static void* allocateFrom(void* resource, std::size_t bytes) {
    R& typed = *static_cast<R*>(resource);
    if constexpr (allocatesSync<R>)
      return toAddress(typed.allocate_sync(bytes, memoryAlignment));
    else
      return toAddress(typed.allocate(bytes, memoryAlignment));
  }

  template <class R>
  static void deallocateTo(void* resource, void* memory, std::size_t bytes) {
    R& typed = *static_cast<R*>(resource);
    if constexpr (allocatesSync<R>)
      typed.deallocate_sync(memory, bytes, memoryAlignment);
    else
      typed.deallocate(decltype(typed.allocate(bytes, memoryAlignment))(memory), bytes, memoryAlignment);
  }

  void* resource_ = nullptr;
  void* (*allocate_)(void*, std::size_t) = nullptr;
  void (*deallocate_)(void*, void*, std::size_t) = nullptr;
};

GPUOPT_DETAIL_END
