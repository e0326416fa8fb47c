/// \file
/// Where stream-ordered memory comes from: MemoryRef.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/resource.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The ways to ask a resource for memory, each the return type of its expression: CCCL since 3.1; CCCL before that; RMM.
template <class R>
using StreamFirst = decltype(std::declval<R&>().allocate(cudaStream_t{}, std::size_t{}, std::size_t{}));
template <class R>
using AllocateAsync = decltype(std::declval<R&>().allocate_async(std::size_t{}, std::size_t{}, cudaStream_t{}));
template <class R>
using StreamLast = decltype(std::declval<R&>().allocate(std::size_t{}, cudaStream_t{}));

template <template <class> class Way, class R, class = void>
inline constexpr bool givesMemory = false;
template <template <class> class Way, class R>
inline constexpr bool givesMemory<Way, R, std::void_t<Way<R>>> = std::is_same_v<Way<R>, void*>;

template <class R>
inline constexpr bool isResource =
    givesMemory<StreamFirst, R> || givesMemory<AllocateAsync, R> || givesMemory<StreamLast, R>;

template <class R>
void* allocateFrom(void* object, std::size_t bytes, cudaStream_t stream) {
  R& resource = *static_cast<R*>(object);
  if constexpr (givesMemory<StreamFirst, R>)
    return resource.allocate(stream, bytes, memoryAlignment);
  else if constexpr (givesMemory<AllocateAsync, R>)
    return resource.allocate_async(bytes, memoryAlignment, stream);
  else
    return resource.allocate(bytes, stream);
}

template <class R>
void deallocateTo(void* object, void* memory, std::size_t bytes, cudaStream_t stream) {
  R& resource = *static_cast<R*>(object);
  if constexpr (givesMemory<StreamFirst, R>)
    resource.deallocate(stream, memory, bytes, memoryAlignment);
  else if constexpr (givesMemory<AllocateAsync, R>)
    resource.deallocate_async(memory, bytes, memoryAlignment, stream);
  else
    resource.deallocate(memory, bytes, stream);
}

// A pool, or the library's own if it is null.
inline void* allocateFromPool(void* pool, std::size_t bytes, cudaStream_t stream) {
  if (pool == nullptr) return allocateInOrder(bytes, currentDevice(), stream);
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, bytes, static_cast<cudaMemPool_t>(pool), stream), "cudaMallocFromPoolAsync");
  return memory;
}

inline void deallocateToPool(void*, void* memory, std::size_t, cudaStream_t stream) {
  forgetError(cudaFreeAsync(memory, stream));
}

}  // namespace detail

/// Where a SoaVector gets its memory from. It refers to a pool or a memory resource, which must outlive what was
/// allocated from it:
///
/// - nothing, or `nullptr`: the library's pool of the current device
/// - a `cudaMemPool_t`
/// - a stream-ordered memory resource of CCCL (`cuda::mr`) or of RMM, as a variable: an object with
///   `allocate(stream, bytes, alignment)`, `allocate_async(bytes, alignment, stream)` or `allocate(bytes, stream)`, and
///   the deallocate that belongs to it
///
/// Neither CCCL nor RMM need be included. Memory is aligned to 256 bytes.
class MemoryRef {
 public:
  /// The library's pool of the current device.
  constexpr MemoryRef(std::nullptr_t = nullptr) noexcept {}

  /// A pool.
  constexpr MemoryRef(cudaMemPool_t pool) noexcept : object_(pool) {}

  /// A memory resource of type R.
  template <class R, class = std::enable_if_t<!std::is_same_v<R, MemoryRef> && detail::isResource<R>>>
  constexpr MemoryRef(R& resource) noexcept
      : object_(const_cast<std::remove_const_t<R>*>(&resource)),
        allocate_(detail::allocateFrom<R>),
        deallocate_(detail::deallocateTo<R>) {}

  /// Allocates `bytes` bytes in the order of `stream`. Throws CudaError, or what the resource throws.
  [[nodiscard]] void* allocate(std::size_t bytes, cudaStream_t stream) const {
    const detail::RelaxedCapture relaxed;
    return allocate_(object_, bytes, stream);
  }

  /// Frees `memory`, which has `bytes` bytes, in the order of `stream`. Ignores errors, as destructors must.
  void deallocate(void* memory, std::size_t bytes, cudaStream_t stream) const noexcept {
    const detail::RelaxedCapture relaxed;
    try {
      deallocate_(object_, memory, bytes, stream);
    } catch (...) {
    }
  }

 private:
  void* object_ = nullptr;
  void* (*allocate_)(void*, std::size_t, cudaStream_t) = detail::allocateFromPool;
  void (*deallocate_)(void*, void*, std::size_t, cudaStream_t) = detail::deallocateToPool;
};

GPUOPT_NAMESPACE_END
