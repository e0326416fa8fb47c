/// \file
/// Pinned host memory, which the device reads and writes itself: arrays of a pool whose size is capped, and memory of
/// the caller that is registered for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/free_list.cuh>

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// Pinned memory may take this share of the machine's, unless setPinnedCapacity says otherwise: the system cannot swap
/// or move it, and the page cache and other programs need the rest.
inline constexpr std::size_t pinnedShare = 4;

inline std::size_t machineBytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Pinned memory of a PinnedPool.
struct PinnedBlock {
  unsigned char* data = nullptr;
  std::size_t bytes = 0;
};

/// Blocks of pinned memory for all threads and devices, which keeps those that are given back: cudaHostAlloc takes half
/// a second for a GiB, and cudaFreeHost waits for the device (H200, 2026-11-22).
class PinnedPool {
 public:
  /// Never destroyed: destructors of static objects may still give blocks back.
  GPUOPT_HIDDEN static PinnedPool& instance() {
    static PinnedPool& pool = *new PinnedPool;
    return pool;
  }

  /// A block of at least `bytes` bytes, aligned to pages. Throws std::runtime_error if the capacity does not allow it;
  /// CudaError.
  PinnedBlock acquire(std::size_t bytes, const char* function) {
    const std::size_t rounded = sizeClass(bytes);
    const PinnedBlock found = free_.take([=](const PinnedBlock& block) { return block.bytes == rounded; });
    if (found.data != nullptr) return found;
    reserve(rounded, function);
    try {
      return allocate(rounded);
    } catch (...) {
      unreserve(rounded);
      throw;
    }
  }

  /// Nothing on the device may use the block any more.
  void release(PinnedBlock block) noexcept { free_.put(block); }

  /// Counts memory towards the capacity. Frees blocks that nobody uses if need be.
  void reserve(std::size_t bytes, const char* function) {
    if (tryReserve(bytes)) return;
    trim();
    if (tryReserve(bytes)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    throw std::runtime_error(
        message({function, ": ", bytes, " bytes of pinned memory exceed the capacity: ", held_, " of ", capacity_,
                 " bytes are in use; gpuopt::setPinnedCapacity sets another one"}));
  }

  void unreserve(std::size_t bytes) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ -= bytes;
  }

  /// Frees the blocks that nobody uses.
  void trim() {
    const RelaxedCapture relaxed;
    for (const PinnedBlock& block : free_.takeAll()) {
      forgetError(cudaFreeHost(block.data));
      unreserve(block.bytes);
    }
  }

  std::size_t held() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_;
  }

  std::size_t capacity() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return capacity_;
  }

  void setCapacity(std::size_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      capacity_ = bytes;
      if (held_ <= capacity_) return;
    }
    trim();
  }

 private:
  /// Pages, in steps of at most an eighth, so that arrays of similar sizes share blocks.
  static std::size_t sizeClass(std::size_t bytes) {
    constexpr std::size_t PAGE = 4096, STEPS = 8;
    std::size_t step = PAGE;
    while (step < bytes / (2 * STEPS)) step *= 2;
    return roundUp(largerOf(bytes, PAGE), step);
  }

  bool tryReserve(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (held_ > capacity_ || bytes > capacity_ - held_) return false;
    held_ += bytes;
    return true;
  }

  PinnedBlock allocate(std::size_t bytes) {
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    free_.add();
    const cudaError_t code = cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (code != cudaSuccess) free_.forget();
    check(code, "cudaHostAlloc");
    return {static_cast<unsigned char*>(memory), bytes};
  }

  FreeList<PinnedBlock> free_;
  std::mutex mutex_;
  std::size_t held_ = 0;  // bytes of all blocks, and of registered memory
  std::size_t capacity_ = machineBytes() / pinnedShare;
};

}  // namespace detail

/// The bytes of pinned memory that gpuopt may hold: a quarter of the machine's memory, unless setPinnedCapacity has
/// been called. What exceeds it throws std::runtime_error.
[[nodiscard]] inline std::size_t pinnedCapacity() { return detail::PinnedPool::instance().capacity(); }

/// Sets the bytes of pinned memory that gpuopt may hold, PinnedVector and RegisteredHost together. Memory in
/// use stays in use.
inline void setPinnedCapacity(std::size_t bytes) { detail::PinnedPool::instance().setCapacity(bytes); }

/// The bytes of pinned memory that gpuopt holds: in use, registered, or kept for the next PinnedVector.
[[nodiscard]] inline std::size_t pinnedBytes() { return detail::PinnedPool::instance().held(); }

/// Gives pinned memory that is kept but not in use back to the system. Waits for the device.
inline void trimPinned() { detail::PinnedPool::instance().trim(); }

/// An array in pinned host memory, which the device can access under the same address: copies reach the speed of the
/// link and return before they are done, and kernels can read and write it where it is.
///
///     gpuopt::PinnedVector<float> samples(n);                          // not initialised
///     const float sum = gpuopt::reduce(samples.devicePointer(), n);    // read through the link, without a copy
///
/// Elements are not initialised. Memory comes from a pool, which keeps it for the next array: the first array costs
/// half a second for a GiB, the next ones nothing. The array may be used with any device and by any thread.
///
/// Like a free(), the destructor waits for nothing: work that uses the array must be done.
///
/// Too much pinned memory starves the system, so that there is a capacity: pinnedCapacity().
///
/// \tparam T any trivially copyable type
template <class T>
class PinnedVector {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "gpuopt::PinnedVector: the elements must be trivially copyable and not const");

 public:
  using value_type = T;                          ///< an element
  static constexpr std::size_t alignment = 256;  ///< of the first element, in bytes, or more

  /// No elements, no memory.
  PinnedVector() = default;

  /// n elements, not initialised. Throws std::runtime_error if pinned memory would exceed its capacity;
  /// std::invalid_argument for a negative n; CudaError.
  explicit PinnedVector(std::size_t n) : n_(n) {
    constexpr const char* FUNCTION = "gpuopt::PinnedVector";
    detail::requireSize(n, {"n"}, FUNCTION, sizeof(T));
    if (n > 0) block_ = detail::PinnedPool::instance().acquire(n * sizeof(T), FUNCTION);
  }

  /// n elements, all equal to `value`.
  PinnedVector(std::size_t n, const T& value) : PinnedVector(n) {
    for (T& element : *this) element = value;
  }

  PinnedVector(PinnedVector&& other) noexcept
      : block_(std::exchange(other.block_, {})), n_(std::exchange(other.n_, 0)) {}
  PinnedVector& operator=(PinnedVector&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(n_, other.n_);
    return *this;
  }

  /// Gives the memory back to the pool.
  ~PinnedVector() {
    if (block_.data != nullptr) detail::PinnedPool::instance().release(block_);
  }

  /// Changes the number of elements to n. Those that stay keep their values, new ones are not initialised. What has no
  /// room in the array's memory moves to other memory, and nothing may use the old one then, on the device either. If
  /// it throws, as the constructor does, the array is unchanged.
  void resize(std::size_t n) {
    detail::requireSize(n, {"n"}, "gpuopt::PinnedVector::resize", sizeof(T));
    if (n * sizeof(T) > block_.bytes) {
      PinnedVector grown(n);
      if (n_ > 0) std::memcpy(grown.block_.data, block_.data, n_ * sizeof(T));
      *this = std::move(grown);
    }
    n_ = n;
  }

  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return n_ == 0; }

  /// The first element; null if there never was one.
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(block_.data); }
  /// The same of a const array.
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(block_.data); }

  /// The first element for kernels: with unified addressing, the same address.
  [[nodiscard]] T* devicePointer() noexcept { return data(); }
  /// The same of a const array.
  [[nodiscard]] const T* devicePointer() const noexcept { return data(); }

  /// The first element.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// The same of a const array.
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  /// The end of the elements.
  [[nodiscard]] T* end() noexcept { return data() + n_; }
  /// The same of a const array.
  [[nodiscard]] const T* end() const noexcept { return data() + n_; }

  /// The element at `index`, which is not checked.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  /// The same of a const array.
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  detail::PinnedBlock block_;
  std::size_t n_ = 0;
};

/// Host memory of the caller that is pinned while the object lives, made by registerHost. To be moved, not copied.
///
/// The destructor waits for nothing: work that uses the memory must be done.
///
/// \tparam T an element; const if the host's memory is const
template <class T>
class RegisteredHost {
 public:
  /// Pins the n elements of `data`, as registerHost does.
  RegisteredHost(T* data, std::size_t n) : data_(data), n_(n) {
    constexpr const char* FUNCTION = "gpuopt::registerHost";
    detail::requireAddress(detail::namedArray(data, n, "data"), FUNCTION);
    if (n == 0) return;
    detail::PinnedPool::instance().reserve(n * sizeof(T), FUNCTION);
    try {
      attach();
    } catch (...) {
      detail::PinnedPool::instance().unreserve(n * sizeof(T));
      throw;
    }
  }

  RegisteredHost(RegisteredHost&& other) noexcept
      : data_(other.data_), device_(std::exchange(other.device_, nullptr)), n_(other.n_) {}
  RegisteredHost& operator=(RegisteredHost&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(device_, other.device_);
    std::swap(n_, other.n_);
    return *this;
  }

  /// The memory is the caller's alone again.
  ~RegisteredHost() {
    if (device_ == nullptr) return;
    const detail::RelaxedCapture relaxed;
    detail::forgetError(cudaHostUnregister(address()));
    detail::PinnedPool::instance().unreserve(n_ * sizeof(T));
  }

  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// The first element, for the host.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// The first element, for kernels; null if there are none.
  [[nodiscard]] T* devicePointer() const noexcept { return device_; }

 private:
  void* address() const { return const_cast<std::remove_const_t<T>*>(data_); }

  void attach() {
    const detail::RelaxedCapture relaxed;
    check(cudaHostRegister(address(), n_ * sizeof(T), cudaHostRegisterMapped | cudaHostRegisterPortable),
          "cudaHostRegister");
    void* device = nullptr;
    const cudaError_t code = cudaHostGetDevicePointer(&device, address(), 0);
    if (code != cudaSuccess) detail::forgetError(cudaHostUnregister(address()));
    check(code, "cudaHostGetDevicePointer");
    device_ = static_cast<T*>(device);
  }

  T* data_;
  T* device_ = nullptr;  // null: nothing is registered
  std::size_t n_;
};

/// Pins n elements of the caller's memory while the returned object lives:
///
///     std::vector<float> samples = ...;
///     const auto registered = gpuopt::registerHost(samples.data(), samples.size());
///     // copies of samples run at the speed of the link, and kernels read registered.devicePointer()
///
/// Cost: 50 ms for a GiB, a quarter of that in huge pages (H200, 2026-11-22): worth it for memory that is transferred
/// more than once. upload and download need none of this.
///
/// Counts towards pinnedCapacity(); what exceeds it throws std::runtime_error. Throws std::invalid_argument for a null
/// pointer; CudaError, for memory that is registered already, too.
template <class T>
[[nodiscard]] RegisteredHost<T> registerHost(T* data, std::size_t n) {
  return RegisteredHost<T>(data, n);
}

GPUOPT_NAMESPACE_END
