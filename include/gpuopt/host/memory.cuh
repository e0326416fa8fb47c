/// \file
/// Where device memory comes from: the library's pools, or a pool or memory resource of the caller, MemoryRef.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
class MemoryRef;

namespace detail {

inline bool isOwnPool(const MemoryRef& memory) noexcept;

/// The library's own memory pool on a device, which returns no memory to the system: otherwise the first allocation
/// after a synchronisation would cost tens of microseconds. The default pool's settings belong to the user.
inline cudaMemPool_t createPool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  std::uint64_t keepAll = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keepAll), "cudaMemPoolSetAttribute");
  return pool;
}

GPUOPT_HIDDEN inline cudaMemPool_t memoryPool(int device) {
  static auto& pools = *new Registry<int, cudaMemPool_t>;  // never destroyed: the context may be gone at exit
  return pools.get(device, [=] { return createPool(device); });
}

/// Stream-ordered allocation from the library's pool.
inline unsigned char* allocateInOrder(std::size_t bytes, int device, cudaStream_t stream) {
  const RelaxedCapture relaxed;
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, bytes, memoryPool(device), stream), "cudaMallocFromPoolAsync");
  return static_cast<unsigned char*>(memory);
}

inline constexpr std::size_t memoryAlignment = 256;

// The ways to ask a resource for memory, each the return type of its expression. In the order of a stream: CCCL since
// 3.1; CCCL before that; RMM.
template <class R>
using StreamFirst = decltype(std::declval<R&>().allocate(cudaStream_t{}, std::size_t{}, std::size_t{}));
template <class R>
using AllocateAsync = decltype(std::declval<R&>().allocate_async(std::size_t{}, std::size_t{}, cudaStream_t{}));
template <class R>
using StreamLast = decltype(std::declval<R&>().allocate(std::size_t{}, cudaStream_t{}));

// At once: CCCL since 3.1; Thrust, whose pointers are objects. std::pmr's resources, for the host's memory, give plain
// ones.
template <class R>
using AllocateSync = decltype(std::declval<R&>().allocate_sync(std::size_t{}, std::size_t{}));
template <class R>
using AllocateNow = decltype(std::declval<R&>().allocate(std::size_t{}, std::size_t{}).get());

template <template <class> class Way, class R, class = void>
inline constexpr bool givesMemory = false;
template <template <class> class Way, class R>
inline constexpr bool givesMemory<Way, R, std::void_t<Way<R>>> = std::is_same_v<Way<R>, void*>;

template <class R>
inline constexpr bool isOrdered =
    givesMemory<StreamFirst, R> || givesMemory<AllocateAsync, R> || givesMemory<StreamLast, R>;
template <class R>
inline constexpr bool isResource = isOrdered<R> || givesMemory<AllocateSync, R> || givesMemory<AllocateNow, R>;

template <class R>
void* allocateFrom(void* object, std::size_t bytes, cudaStream_t stream) {
  R& resource = *static_cast<R*>(object);
  if constexpr (givesMemory<StreamFirst, R>)
    return resource.allocate(stream, bytes, memoryAlignment);
  else if constexpr (givesMemory<AllocateAsync, R>)
    return resource.allocate_async(bytes, memoryAlignment, stream);
  else if constexpr (givesMemory<StreamLast, R>)
    return resource.allocate(bytes, stream);
  else if constexpr (givesMemory<AllocateSync, R>)
    return resource.allocate_sync(bytes, memoryAlignment);
  else
    return resource.allocate(bytes, memoryAlignment).get();
}

template <class R>
void deallocateTo(void* object, void* memory, std::size_t bytes, cudaStream_t stream) {
  R& resource = *static_cast<R*>(object);
  if constexpr (!isOrdered<R>) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // work may still use it
  if constexpr (givesMemory<StreamFirst, R>)
    resource.deallocate(stream, memory, bytes, memoryAlignment);
  else if constexpr (givesMemory<AllocateAsync, R>)
    resource.deallocate_async(memory, bytes, memoryAlignment, stream);
  else if constexpr (givesMemory<StreamLast, R>)
    resource.deallocate(memory, bytes, stream);
  else if constexpr (givesMemory<AllocateSync, R>)
    resource.deallocate_sync(memory, bytes, memoryAlignment);
  else
    resource.deallocate(decltype(resource.allocate(bytes, memoryAlignment))(memory), bytes, memoryAlignment);
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

/// Where a SoaVector or a Workspace gets its memory from. It refers to a pool or a memory resource, which must outlive
/// what was allocated from it:
///
/// - nothing, or `nullptr`: the library's pool of the current device
/// - a `cudaMemPool_t`
/// - a memory resource of CCCL (`cuda::mr`) or of RMM, as a variable: an object with `allocate(stream, bytes,
///   alignment)`, `allocate_async(bytes, alignment, stream)`, `allocate(bytes, stream)` or `allocate_sync(bytes,
///   alignment)`, and the deallocate that belongs to it
/// - one of Thrust, whose `allocate(bytes, alignment)` returns an object with get()
///
/// Resources without a stream get memory back after a wait for the stream.
/// None of their headers need be included. Memory is aligned to 256 bytes.
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
  friend bool detail::isOwnPool(const MemoryRef& memory) noexcept;

  void* object_ = nullptr;
  void* (*allocate_)(void*, std::size_t, cudaStream_t) = detail::allocateFromPool;
  void (*deallocate_)(void*, void*, std::size_t, cudaStream_t) = detail::deallocateToPool;
};

namespace detail {

/// Whether memory comes from the library's pool.
inline bool isOwnPool(const MemoryRef& memory) noexcept {
  return memory.object_ == nullptr && memory.allocate_ == &allocateFromPool;
}

/// Memory that is allocated and freed in the order of a stream.
class OrderedMemory {
 public:
  OrderedMemory() noexcept = default;
  OrderedMemory(std::size_t bytes, cudaStream_t stream, MemoryRef source = nullptr)
      : memory_(bytes > 0 ? source.allocate(bytes, stream) : nullptr),
        bytes_(bytes),
        stream_(stream),
        source_(source) {}

  OrderedMemory(OrderedMemory&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        stream_(other.stream_),
        source_(other.source_) {}
  OrderedMemory& operator=(OrderedMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(stream_, other.stream_);
    std::swap(source_, other.source_);
    return *this;
  }
  ~OrderedMemory() {
    if (memory_ != nullptr) source_.deallocate(memory_, bytes_, stream_);
  }

  unsigned char* data() const { return static_cast<unsigned char*>(memory_); }
  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() const { return stream_; }
  MemoryRef source() const { return source_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  MemoryRef source_;
};

/// The same for one call. The library's pool keeps it for the next one.
using ScratchMemory = OrderedMemory;

}  // namespace detail
GPUOPT_NAMESPACE_END
