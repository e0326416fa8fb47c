/// Device memory: aligned, poisoned, between guard bytes, with every allocation known.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "queue.hpp"
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

struct CUmemPoolHandle_st {
  std::uint64_t attributes[9] = {};
};

namespace gpuopt::emulation::detail {

class Memory {
 public:
  /// An allocation of 256-byte aligned memory filled with poison; null if there is not enough.
  void* allocate(std::size_t bytes, cudaMemoryType type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > capacity_ - used_) return nullptr;
    void* const raw = std::aligned_alloc(ALIGNMENT, sizeWithGuards(bytes));
    if (raw == nullptr) return nullptr;
    unsigned char* const data = static_cast<unsigned char*>(raw) + GUARD_BYTES;
    std::memset(raw, GUARD, sizeWithGuards(bytes));
    std::memset(data, poisonByte(schedule().order), bytes);
    protectGuards(data, bytes);
    used_ += bytes;
    allocations_[data] = {bytes, type, true};
    return data;
  }

  /// Makes memory known that belongs to somebody else: registered host memory, device variables.
  void adopt(const void* pointer, std::size_t bytes, cudaMemoryType type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    allocations_[static_cast<unsigned char*>(const_cast<void*>(pointer))] = {bytes, type, false};
  }

  /// Forgets adopted host memory; false if there is none at this address.
  bool forget(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = allocations_.find(static_cast<unsigned char*>(const_cast<void*>(pointer)));
    const bool isRegistered =
        found != allocations_.end() && !found->second.isOwned && found->second.type == cudaMemoryTypeHost;
    if (isRegistered) allocations_.erase(found);
    return isRegistered;
  }

  /// Frees an allocation of one of the types; reports guard bytes that changed.
  cudaError_t free(void* pointer, cudaMemoryType type, cudaMemoryType otherType) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* const data = static_cast<unsigned char*>(pointer);
    const auto found = allocations_.find(data);
    const bool isFreeable = found != allocations_.end() && found->second.isOwned &&
                            (found->second.type == type || found->second.type == otherType);
    if (!isFreeable) return failure(cudaErrorInvalidValue, "a pointer is freed that is no live allocation of its kind");
    const std::size_t bytes = found->second.bytes;
    allocations_.erase(found);
    used_ -= bytes;
    unprotectGuards(data, bytes);
    const std::string damage = describeDamage(data, bytes);
    std::free(data - GUARD_BYTES);
    return damage.empty() ? cudaSuccess : failure(cudaErrorIllegalAddress, damage);
  }

  cudaPointerAttributes attributes(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = find(pointer);
    if (found == allocations_.end()) return {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(pointer)};
    const bool hostCanRead = found->second.type != cudaMemoryTypeDevice;
    return {found->second.type, 0, const_cast<void*>(pointer), hostCanRead ? const_cast<void*>(pointer) : nullptr};
  }

  /// Whether a range is inside one allocation, or entirely outside of device memory.
  bool isWithinAllocation(const void* pointer, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = find(pointer);
    return found == allocations_.end() ||
           bytes <= found->second.bytes -
                        static_cast<std::size_t>(static_cast<const unsigned char*>(pointer) - found->first);
  }

  /// ", 400 bytes behind the end of the nearest allocation, of 4000 bytes": where an address lies.
  std::string describeNeighbour(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    std::uintptr_t nearest = UINTPTR_MAX;
    std::ostringstream out;
    for (const auto& [data, allocation] : allocations_) {
      const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + allocation.bytes;
      const std::uintptr_t distance = address < begin ? begin - address : address - end;
      if (distance >= nearest) continue;
      nearest = distance;
      out.str("");
      out << ", " << distance << " bytes " << (address < begin ? "before" : "behind the end of")
          << " the nearest allocation, of " << allocation.bytes << " bytes";
    }
    return out.str();
  }

  /// Begin and size of every allocation, in order. Variables are none: constants are in a memory of their own.
  std::vector<std::pair<std::uintptr_t, std::size_t>> ranges() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<std::uintptr_t, std::size_t>> found;
    for (const auto& [data, allocation] : allocations_)
      if (allocation.isOwned || allocation.type != cudaMemoryTypeDevice)
        found.emplace_back(reinterpret_cast<std::uintptr_t>(data), allocation.bytes);
    return found;
  }

  std::size_t capacity() const { return capacity_; }

  std::size_t available() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return capacity_ - used_;
  }

 private:
  struct Allocation {
    std::size_t bytes;
    cudaMemoryType type;
    bool isOwned;  ///< was allocated here
  };
  using Allocations = std::map<unsigned char*, Allocation>;

  static constexpr std::size_t ALIGNMENT = 256, GUARD_BYTES = 256;
  static constexpr unsigned char GUARD = 0xDB;

  static std::size_t sizeWithGuards(std::size_t bytes) {
    return (bytes + 2 * GUARD_BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  static std::size_t tailBytes(std::size_t bytes) { return sizeWithGuards(bytes) - GUARD_BYTES - bytes; }

  static void protectGuards([[maybe_unused]] unsigned char* data, [[maybe_unused]] std::size_t bytes) {
#if GPUOPT_EMULATION_ASAN
    ASAN_POISON_MEMORY_REGION(data - GUARD_BYTES, GUARD_BYTES);
    ASAN_POISON_MEMORY_REGION(data + bytes, tailBytes(bytes));
#endif
  }

  static void unprotectGuards([[maybe_unused]] unsigned char* data, [[maybe_unused]] std::size_t bytes) {
#if GPUOPT_EMULATION_ASAN
    ASAN_UNPOISON_MEMORY_REGION(data - GUARD_BYTES, sizeWithGuards(bytes));
#endif
  }

  static std::string describeDamage(const unsigned char* data, std::size_t bytes) {
    const auto changed = [](unsigned char byte) { return byte != GUARD; };
    const unsigned char* const end = data + bytes;
    const unsigned char* const before = std::find_if(data - GUARD_BYTES, data, changed);
    const unsigned char* const behind = std::find_if(end, end + tailBytes(bytes), changed);
    std::ostringstream out;
    if (before != data)
      out << "memory was written " << data - before << " bytes before an allocation of " << bytes << " bytes";
    else if (behind != end + tailBytes(bytes))
      out << "memory was written " << behind - end << " bytes behind the end of an allocation of " << bytes << " bytes";
    return out.str();
  }

  /// The allocation that holds an address.
  Allocations::iterator find(const void* pointer) {
    auto* const address = static_cast<unsigned char*>(const_cast<void*>(pointer));
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return allocations_.end();
    const auto found = std::prev(after);
    return address < found->first + found->second.bytes ? found : allocations_.end();
  }

  std::mutex mutex_;
  Allocations allocations_;
  std::size_t used_ = 0;
  const std::size_t capacity_ =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
};

inline Memory& memory() {
  static Memory* const instance = new Memory;
  return *instance;
}

inline cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemoryType type) {
  if (pointer == nullptr) return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = memory().allocate(bytes, type);
  return resultIf(*pointer != nullptr, cudaErrorMemoryAllocation);
}

/// Waits for all work, which may still use the memory, and frees it.
inline cudaError_t freeAfterAll(void* pointer, cudaMemoryType type, cudaMemoryType otherType) {
  if (pointer == nullptr) return cudaSuccess;
  const cudaError_t code = Queue::instance().waitForAll();
  const cudaError_t freed = memory().free(pointer, type, otherType);
  return freed != cudaSuccess ? freed : result(code);
}

/// Whether `bytes` can be copied to or from `pointer`; reports an allocation that is too small.
inline bool isCopyable(const char* call, const void* pointer, std::size_t bytes) {
  if (bytes == 0) return true;
  if (pointer == nullptr) return false;
  if (memory().isWithinAllocation(pointer, bytes)) return true;
  report(std::string(call) + ": " + std::to_string(bytes) + " bytes reach beyond the end of an allocation");
  return false;
}

inline CUmemPoolHandle_st& defaultPool() {
  static CUmemPoolHandle_st* const pool = new CUmemPoolHandle_st;
  return *pool;
}

}  // namespace gpuopt::emulation::detail

// The managed variables of the program or library that includes this. Absent where it has none.
extern "C" {
extern unsigned char __start_gpuopt_managed[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_gpuopt_managed[] __attribute__((weak, visibility("hidden")));
}

namespace {
__attribute__((constructor)) void adoptManagedVariables() {
  if (__start_gpuopt_managed != nullptr)
    gpuopt::emulation::detail::memory().adopt(__start_gpuopt_managed,
                                              static_cast<std::size_t>(__stop_gpuopt_managed - __start_gpuopt_managed),
                                              cudaMemoryTypeManaged);
}
}  // namespace

// -------------------------------------------------------------------------------------- allocation

inline cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return gpuopt::emulation::detail::allocate(pointer, bytes, cudaMemoryTypeDevice);
}

inline cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}

inline cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return pool == nullptr ? gpuopt::emulation::detail::result(cudaErrorInvalidValue) : cudaMalloc(pointer, bytes);
}

inline cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return gpuopt::emulation::detail::allocate(pointer, bytes, cudaMemoryTypeManaged);
}

inline cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return gpuopt::emulation::detail::allocate(pointer, bytes, cudaMemoryTypeHost);
}

inline cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(pointer, bytes, flags);
}

inline cudaError_t cudaFree(void* pointer) {
  return gpuopt::emulation::detail::freeAfterAll(pointer, cudaMemoryTypeDevice, cudaMemoryTypeManaged);
}

inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  if (pointer == nullptr) return cudaSuccess;
  return emulated::submit(
      stream, [pointer] { return emulated::memory().free(pointer, cudaMemoryTypeDevice, cudaMemoryTypeManaged); });
}

inline cudaError_t cudaFreeHost(void* pointer) {
  return gpuopt::emulation::detail::freeAfterAll(pointer, cudaMemoryTypeHost, cudaMemoryTypeHost);
}

inline cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  namespace emulated = gpuopt::emulation::detail;
  if (pointer == nullptr || bytes == 0) return emulated::result(cudaErrorInvalidValue);
  if (emulated::memory().attributes(pointer).type != cudaMemoryTypeUnregistered)
    return emulated::result(cudaErrorHostMemoryAlreadyRegistered);
  emulated::memory().adopt(pointer, bytes, cudaMemoryTypeHost);
  return cudaSuccess;
}

inline cudaError_t cudaHostUnregister(void* pointer) {
  namespace emulated = gpuopt::emulation::detail;
  const cudaError_t code = emulated::Queue::instance().waitForAll();
  if (!emulated::memory().forget(pointer)) return emulated::result(cudaErrorHostMemoryNotRegistered);
  return emulated::result(code);
}

inline cudaError_t cudaHostGetDevicePointer(void** devicePointer, void* hostPointer, unsigned) {
  *devicePointer = hostPointer;
  return cudaSuccess;
}

// The toolkit's typed forms.
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** devicePointer, void* hostPointer, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(devicePointer), hostPointer, flags);
}

inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = gpuopt::emulation::detail::memory().attributes(pointer);
  return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = gpuopt::emulation::detail::memory().available();
  *total = gpuopt::emulation::detail::memory().capacity();
  return cudaSuccess;
}

// ------------------------------------------------------------------------------------------- pools

inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = new CUmemPoolHandle_st;
  return cudaSuccess;
}

inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const bool isOwned = pool != nullptr && pool != &gpuopt::emulation::detail::defaultPool();
  if (isOwned) delete pool;
  return gpuopt::emulation::detail::resultIf(isOwned);
}

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  *pool = &gpuopt::emulation::detail::defaultPool();
  return gpuopt::emulation::detail::resultIf(device == 0, cudaErrorInvalidDevice);
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
