/// \file
/// Results that a kernel returns to the waiting host.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/mapped_slots.cuh>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// Where a kernel stores its result. If flag is not null, the host waits until *flag is signal, which the kernel stores
/// after the value.
template <class T>
struct Destination {
  T* value;
  unsigned* flag;
  unsigned signal;
};

inline constexpr std::size_t resultEntryBytes = 4096;

/// The entries of results, for all threads: a flag, then the value.
class ResultPool {
 public:
  struct Entry {
    unsigned char* memory;
    unsigned signal;  // unique to this use of the entry
  };

  /// Never destroyed: destructors of static objects may still reduce.
  GPUOPT_HIDDEN static ResultPool& instance() {
    static ResultPool& pool = *new ResultPool;
    return pool;
  }

  Entry acquire() {
    unsigned char* const memory = entries_.acquire();
    const unsigned signal = ++lastSignal_;
    return {memory, signal != 0 ? signal : ++lastSignal_};  // 0 is the flag of a new entry
  }

  void release(unsigned char* memory) noexcept { entries_.release(memory); }

 private:
  MappedSlots entries_{resultEntryBytes, 16};
  std::atomic<unsigned> lastSignal_{0};
};

}  // namespace detail

/// A value of type T that a kernel computes and the calling thread waits for:
///
///     HostResult<T> result;
///     launch(kernel, config, ..., result.destination());   // which calls storeResult(destination, value)
///     return result.wait(config.stream);
///
/// The kernel writes to host memory and the host polls the flag: less than half the latency of a copy. wait() may
/// return before the kernel has ended, so the kernel accesses no memory after it has stored its result.
///
/// Call wait() if the launch succeeded: the destructor returns the entry to the pool.
template <class T>
class HostResult {
  static_assert(std::is_trivially_copyable_v<T>, "gpuopt: a result returned to the host must be trivially copyable");
  static constexpr std::size_t OFFSET = alignof(T) > sizeof(unsigned) ? alignof(T) : sizeof(unsigned);
  static_assert(sizeof(T) <= 4032 && OFFSET + sizeof(T) <= detail::resultEntryBytes,
                "gpuopt: a result returned to the host may have at most 4032 bytes");

 public:
  /// Acquires an entry of the pool.
  GPUOPT_HIDDEN HostResult() : entry_(detail::ResultPool::instance().acquire()) {}
  GPUOPT_HIDDEN ~HostResult() {
    if (entry_.memory != nullptr) detail::ResultPool::instance().release(entry_.memory);
  }
  HostResult(const HostResult&) = delete;
  HostResult& operator=(const HostResult&) = delete;

  /// The kernel's argument.
  detail::Destination<T> destination() const {
    return {reinterpret_cast<T*>(entry_.memory + OFFSET), reinterpret_cast<unsigned*>(entry_.memory), entry_.signal};
  }

  /// Leaves the entry to a kernel that may write it at any time: nobody uses it again.
  void abandon() noexcept { entry_.memory = nullptr; }

  /// The value, once the kernel on `stream` has stored it. Throws CudaError if work on the stream failed, and
  /// std::invalid_argument if the stream is being captured (callers check requireNotCapturing before they launch).
  T wait(cudaStream_t stream) {
    if (!spin()) synchronize(stream);
    return *destination().value;
  }

 private:
  bool arrived() const {
    const unsigned flag = *static_cast<const volatile unsigned*>(destination().flag);
    std::atomic_thread_fence(std::memory_order_acquire);
    return flag == entry_.signal;
  }

  /// Polls the flag for a millisecond. Longer waits are left to the runtime, which reports errors and waits as the user
  /// chose (cudaSetDeviceFlags).
  bool spin() const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(1);
    do {
      if (arrived()) return true;
    } while (Clock::now() < end);
    return false;
  }

  void synchronize(cudaStream_t stream) {
    unsigned char* memory = entry_.memory;
    entry_.memory = nullptr;  // if this throws, the kernel may still write: never reuse the entry
    if (detail::isCapturing(stream))
      detail::throwInvalid(
          {"gpuopt::HostResult: stream is being captured: the kernel has not run, so there is no result"});
    const detail::RelaxedCapture relaxed;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    entry_.memory = memory;
    if (!arrived()) throw std::logic_error("gpuopt: the kernel ended without storing its result");
  }

  detail::ResultPool::Entry entry_;
};

GPUOPT_NAMESPACE_END
