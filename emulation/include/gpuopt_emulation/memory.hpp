/// Device memory: aligned, poisoned, between guard bytes, with every allocation known.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "observer.hpp"
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

namespace gpuopt::emulation::detail {

class Memory {
 public:
  /// An allocation of 256-byte aligned memory filled with poison; null if there is not enough.
  void* allocate(std::size_t bytes, cudaMemoryType type, int device = currentDevice) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > capacity() - (std::min)(used(device), capacity())) return nullptr;
    void* const raw = std::aligned_alloc(ALIGNMENT, sizeWithGuards(bytes));
    if (raw == nullptr) return nullptr;
    unsigned char* const data = static_cast<unsigned char*>(raw) + GUARD_BYTES;
    std::memset(raw, GUARD, sizeWithGuards(bytes));
    std::memset(data, poisonByte(schedule().order), bytes);
    protectGuards(data, bytes);
    used(device) += bytes;
    allocations_[data] = {bytes, type, device, true};
    if (MemoryObserver* const observer = memoryObserver)
      observer->allocated(data, bytes, GUARD_BYTES, tailBytes(bytes), type != cudaMemoryTypeDevice);
    return data;
  }

  /// Makes memory known that belongs to somebody else: registered host memory, device variables.
  void adopt(const void* pointer, std::size_t bytes, cudaMemoryType type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    allocations_[static_cast<unsigned char*>(const_cast<void*>(pointer))] = {bytes, type, currentDevice, false};
    if (MemoryObserver* const observer = memoryObserver)
      observer->adopted(pointer, bytes, type != cudaMemoryTypeDevice);
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

  /// Makes an allocation last as long as the program.
  void keepForGraph(void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    allocations_.at(static_cast<unsigned char*>(pointer)).isOfGraph = true;
  }

  /// Frees an allocation of one of the types; reports guard bytes that changed. `call` is the user's, if it is over.
  cudaError_t free(void* pointer, cudaMemoryType type, cudaMemoryType otherType, Site call = {}) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* const data = static_cast<unsigned char*>(pointer);
    const auto found = allocations_.find(data);
    const bool isFreeable = found != allocations_.end() && found->second.isOwned &&
                            (found->second.type == type || found->second.type == otherType);
    if (!isFreeable)
      return failureOfCall(cudaErrorInvalidValue, "a pointer is freed that is no live allocation of its kind", call);
    if (found->second.isOfGraph) return cudaSuccess;
    const std::size_t bytes = found->second.bytes;
    const void* const writer = found->second.writer;
    used(found->second.device) -= bytes;
    allocations_.erase(found);
    unprotectGuards(data, bytes);
    if (MemoryObserver* const observer = memoryObserver) observer->freed(data, bytes, GUARD_BYTES, tailBytes(bytes));
    std::string damage = describeDamage(data, bytes);
    if (!damage.empty() && writer != nullptr) damage += " while kernel " + kernelName(writer) + " ran";
    std::free(data - GUARD_BYTES);
    return damage.empty() ? cudaSuccess : failure(cudaErrorIllegalAddress, damage);
  }

  /// Looks which allocations were written outside since the last look, by a kernel if it is not null.
  void findDamage([[maybe_unused]] const void* kernel) {
#if !GPUOPT_EMULATION_ASAN
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [data, allocation] : allocations_) {
      if (!allocation.isOwned || allocation.isDamaged || describeDamage(data, allocation.bytes).empty()) continue;
      allocation.isDamaged = true;
      allocation.writer = kernel;
    }
#endif
  }

  cudaPointerAttributes attributes(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = find(pointer);
    if (found == allocations_.end()) return {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(pointer)};
    const bool hostCanRead = found->second.type != cudaMemoryTypeDevice;
    return {found->second.type, found->second.device, const_cast<void*>(pointer),
            hostCanRead ? const_cast<void*>(pointer) : nullptr};
  }

  /// Begin and size of the allocation or registration that holds an address; null and 0 if there is none.
  std::pair<unsigned char*, std::size_t> range(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = find(pointer);
    if (found == allocations_.end()) return {nullptr, 0};
    return {found->first, found->second.bytes};
  }

  /// Whether a range is inside one allocation or registration, or entirely outside of all.
  bool isWithinAllocation(const void* pointer, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* const data = static_cast<unsigned char*>(const_cast<void*>(pointer));
    const auto found = find(pointer);
    if (found != allocations_.end())
      return bytes <= found->second.bytes - static_cast<std::size_t>(data - found->first);
    const auto next = allocations_.upper_bound(data);
    return next == allocations_.end() || bytes <= static_cast<std::size_t>(next->first - data);
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

  /// Bytes of one device: the devices share the host's memory.
  std::size_t capacity() const { return hostBytes_ / static_cast<std::size_t>(devices().count); }

  std::size_t available(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return capacity() - (std::min)(used(device), capacity());
  }

 private:
  struct Allocation {
    std::size_t bytes;
    cudaMemoryType type;
    int device;
    bool isOwned;  ///< was allocated here
    bool isDamaged = false;
    bool isOfGraph = false;        ///< stays when it is freed: the next launch of the graph uses it again
    const void* writer = nullptr;  ///< the kernel that ran when it was damaged
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

  /// Whether bytes are as they were; compares each with its neighbour.
  static bool isGuard(const unsigned char* data, std::size_t bytes) {
    return *data == GUARD && std::memcmp(data, data + 1, bytes - 1) == 0;
  }

  static std::string describeDamage(const unsigned char* data, std::size_t bytes) {
    const unsigned char* const end = data + bytes;
    if (isGuard(data - GUARD_BYTES, GUARD_BYTES) && isGuard(end, tailBytes(bytes))) return {};
    const auto changed = [](unsigned char byte) { return byte != GUARD; };
    const unsigned char* const before = std::find_if(data - GUARD_BYTES, data, changed);
    const unsigned char* const behind = std::find_if(end, end + tailBytes(bytes), changed);
    std::ostringstream out;
    if (before != data)
      out << "memory was written " << data - before << (data - before == 1 ? " byte" : " bytes")
          << " before an allocation of " << bytes << " bytes";
    else if (behind == end)
      out << "memory was written directly behind the end of an allocation of " << bytes << " bytes";
    else
      out << "memory was written " << behind - end << (behind - end == 1 ? " byte" : " bytes")
          << " behind the end of an allocation of " << bytes << " bytes";
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

  std::size_t& used(int device) { return used_[device]; }

  std::mutex mutex_;
  Allocations allocations_;
  std::size_t used_[MAX_DEVICES] = {};
  const std::size_t hostBytes_ =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
};

inline Memory& memory() {
  static Memory* const instance = new Memory;
  return *instance;
}

inline cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemoryType type, int device = currentDevice) {
  if (pointer == nullptr) return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = memory().allocate(bytes, type, device);
  return resultIf(*pointer != nullptr, cudaErrorMemoryAllocation);
}

/// Waits for all work of the memory's device, which may still use it, and frees it.
inline cudaError_t freeAfterAll(void* pointer, cudaMemoryType type, cudaMemoryType otherType) {
  if (pointer == nullptr) return cudaSuccess;
  const cudaPointerAttributes attributes = memory().attributes(pointer);
  const cudaError_t code = Queue::instance().waitForDevice(attributes.device);
  const cudaError_t freed = memory().free(pointer, type, otherType);
  return freed != cudaSuccess ? freed : passOn(code);
}

/// Whether `bytes` can be copied to or from `pointer`; reports an allocation that is too small.
inline bool isCopyable(const char* call, const void* pointer, std::size_t bytes) {
  if (bytes == 0) return true;
  if (pointer == nullptr) return false;
  if (memory().isWithinAllocation(pointer, bytes)) return true;
  const bool isKnown = memory().range(pointer).first != nullptr;
  reportCall(
      std::string(call) + ": " + std::to_string(bytes) +
      (isKnown ? " bytes reach beyond the end of an allocation" : " bytes reach into an allocation or registration"));
  return false;
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

inline cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::allocate(pointer, bytes, cudaMemoryTypeDevice, emulated::deviceOf(stream));
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
  if (pointer == nullptr || emulated::isCapturing(stream)) return cudaSuccess;  // a graph keeps its memory
  const bool isLater = gpuopt::emulation::queueMode() == gpuopt::emulation::QueueMode::deferred;
  const emulated::Site call = isLater ? emulated::callerOutsideLibraries({}) : emulated::Site{};
  return emulated::submit(stream, [pointer, call] {
    const auto bytes = emulated::memory().range(pointer).second;
    emulated::noteTransfer({"cudaFreeAsync()", true, reinterpret_cast<std::uintptr_t>(pointer), bytes, bytes, 1});
    return emulated::memory().free(pointer, cudaMemoryTypeDevice, cudaMemoryTypeManaged, call);
  });
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
  const cudaError_t code = emulated::Queue::instance().waitForDevice(emulated::currentDevice);
  if (!emulated::memory().forget(pointer)) return emulated::result(cudaErrorHostMemoryNotRegistered);
  return emulated::passOn(code);
}

inline cudaError_t cudaHostGetDevicePointer(void** devicePointer, void* hostPointer, unsigned) {
  *devicePointer = hostPointer;
  return cudaSuccess;
}

// The toolkit's typed forms.
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(static_cast<void**>(static_cast<void*>(pointer)), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, stream);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaMallocHost(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** devicePointer, void* hostPointer, unsigned flags) {
  return cudaHostGetDevicePointer(static_cast<void**>(static_cast<void*>(devicePointer)), hostPointer, flags);
}

inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = gpuopt::emulation::detail::memory().attributes(pointer);
  return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = gpuopt::emulation::detail::memory().available(gpuopt::emulation::detail::currentDevice);
  *total = gpuopt::emulation::detail::memory().capacity();
  return cudaSuccess;
}
