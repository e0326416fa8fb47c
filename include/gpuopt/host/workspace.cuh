/// \file
/// Scratch memory of device-wide calls: one's own, or a remembered one per stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/capture.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t workspaceCapacity = std::size_t{1} << 20;
inline constexpr std::size_t workspaceCounters = 4096;
inline constexpr std::size_t counterBytes = workspaceCounters * sizeof(unsigned);
inline constexpr std::size_t workspaceBytes = workspaceCapacity + counterBytes;

class WorkspaceLease;

/// The memory of a workspace, partial results first, and its state between calls.
struct WorkspaceBuffer {
  unsigned char* memory = nullptr;
  int device = 0;
  std::atomic<bool> busy{false};  // a call holds it
  bool dirty = false;             // the counters may not be zero; guarded by busy
};

inline unsigned* countersOf(unsigned char* memory) {
  return reinterpret_cast<unsigned*>(memory + workspaceCapacity);
}

inline void zeroCounters(unsigned char* memory, cudaStream_t stream) {
  check(cudaMemsetAsync(countersOf(memory), 0, counterBytes, stream), "cudaMemsetAsync");
}

}  // namespace detail

/// Scratch memory on the device, for callers who want no allocation in their calls at all or who capture
/// them into graphs. Its size is constant, whatever the length of the input.
///
/// A workspace serves one call at a time: calls on one stream one after another, or on several streams that
/// are ordered among themselves. A graph that a call was captured into uses the workspace whenever it runs.
/// Without a workspace, calls use one that the library keeps per stream.
class Workspace {
 public:
  /// Bytes for partial results.
  static constexpr std::size_t capacity = detail::workspaceCapacity;

  /// Number of counters, which are zero between calls: every kernel returns to zero those that it used.
  static constexpr std::size_t counterCount = detail::workspaceCounters;

  /// Allocates on the current device, zeroes the counters, and waits for `stream`. Throws CudaError.
  explicit Workspace(cudaStream_t stream = nullptr) : Workspace(Empty{}) {
    const detail::RelaxedCapture relaxed;
    void* memory = nullptr;
    buffer_->device = currentDevice();
    check(cudaMalloc(&memory, detail::workspaceBytes), "cudaMalloc");
    buffer_->memory = static_cast<unsigned char*>(memory);
    detail::zeroCounters(buffer_->memory, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  Workspace(Workspace&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }

  ~Workspace() {
    if (buffer_ == nullptr) return;
    const detail::RelaxedCapture relaxed;
    detail::forgetError(cudaFree(buffer_->memory));
    delete buffer_;
  }

  /// The partial results, aligned to 256 bytes.
  void* data() const { return buffer_->memory; }

  /// The counters.
  unsigned* counters() const { return detail::countersOf(buffer_->memory); }

 private:
  friend class detail::WorkspaceLease;

  // The public constructor builds on this one: should it throw, the destructor runs.
  struct Empty {};
  explicit Workspace(Empty) : buffer_(new detail::WorkspaceBuffer) {}

  detail::WorkspaceBuffer*
      buffer_;  // a bare pointer: <memory> would be a tenth of what a user's file compiles
};

namespace detail {

/// The library's own memory pool of a device, which keeps what is freed: the first allocation after a
/// synchronisation would otherwise cost tens of microseconds, and the settings of the user's default pool
/// are not ours to change.
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
  struct Pools {
    std::mutex mutex;
    Registry<int, cudaMemPool_t> created;
  };
  static Pools& pools = *new Pools;  // never destroyed: the context may be gone by then
  const std::lock_guard<std::mutex> lock(pools.mutex);
  if (const cudaMemPool_t* found = pools.created.find(device)) return *found;
  return pools.created.add(device, createPool(device));
}

/// Memory from the library's pool of a device, available to what `stream` does from here on.
inline unsigned char* allocateInOrder(std::size_t bytes, int device, cudaStream_t stream) {
  const RelaxedCapture relaxed;
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, bytes, memoryPool(device), stream), "cudaMallocFromPoolAsync");
  return static_cast<unsigned char*>(memory);
}

/// A stream for the life of the program: handles are used again once their streams are destroyed, ids are
/// not.
struct StreamKey {
  unsigned long long stream;
  unsigned long long thread;  // tells the threads' own default streams apart; 0 for all other streams
  int device;
};

inline bool operator==(const StreamKey& a, const StreamKey& b) {
  return a.stream == b.stream && a.thread == b.thread && a.device == b.device;
}

inline bool isPerThreadStream(cudaStream_t stream) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
  if (stream == nullptr) return true;
#endif
  return stream == cudaStreamPerThread;
}

GPUOPT_HIDDEN inline unsigned long long threadNumber() {
  static std::atomic<unsigned long long> last{0};
  static thread_local unsigned long long number = 0;
  if (number == 0) number = ++last;
  return number;
}

GPUOPT_HIDDEN inline StreamKey streamKey(int device, cudaStream_t stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return {id, isPerThreadStream(stream) ? threadNumber() : 0, device};
}

/// The remembered workspaces. Neither they nor their memory are ever freed: at the program's exit the
/// context may be gone, and a destroyed stream does not tell.
GPUOPT_HIDDEN inline WorkspaceBuffer* sharedWorkspace(const StreamKey& key, cudaStream_t stream) {
  constexpr std::size_t STREAMS = 256;
  struct Cache {
    std::mutex mutex;
    Registry<StreamKey, WorkspaceBuffer*> buffers;
  };
  static Cache& cache = *new Cache;
  const std::lock_guard<std::mutex> lock(cache.mutex);
  if (WorkspaceBuffer* const* found = cache.buffers.find(key)) return *found;
  if (cache.buffers.size() == STREAMS) return nullptr;

  unsigned char* memory = allocateInOrder(workspaceBytes, key.device, stream);
  return cache.buffers.add(key, new WorkspaceBuffer{memory, key.device, {false}, true});
}

/// The remembered workspace of a stream, created on first use; null if too many streams have one.
GPUOPT_HIDDEN inline WorkspaceBuffer* cachedWorkspace(int device, cudaStream_t stream) {
  struct Last {
    StreamKey key;
    WorkspaceBuffer* buffer;
  };
  static thread_local Last last;  // no lock for a thread that stays with its stream
  const StreamKey key = streamKey(device, stream);
  if (last.buffer == nullptr || !(last.key == key)) last = {key, sharedWorkspace(key, stream)};
  return last.buffer;
}

/// The workspace of one call, from before its launches until all of them are queued:
///
///     WorkspaceLease workspace = lease(userOrNull, stream);
///     launch(kernel, config, ..., workspace.data(), workspace.counters());
///     workspace.done();
///
/// The user's workspace if there is one. Otherwise the one remembered for the stream; or, while the stream
/// is being captured (a graph outlives this call), while another thread's call on the stream holds that
/// one, or when 256 streams have one, memory allocated and freed in the order of the stream. A call that
/// fails before done() makes the next call on its workspace zero the counters.
class WorkspaceLease {
 public:
  /// Throws std::invalid_argument if the user's workspace is another device's, moved from, or in use by
  /// another thread's call; CudaError.
  WorkspaceLease(Workspace* user, cudaStream_t stream) : WorkspaceLease(stream) {
    const int device = currentDevice();
    if (user != nullptr) {
      takeUsers(*user, device);
    } else if (isCapturing(stream) || !take(cachedWorkspace(device, stream))) {
      memory_ = allocateInOrder(workspaceBytes, device, stream);
      zeroCounters(memory_, stream);
    }
  }

  ~WorkspaceLease() { release(); }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;

  /// Workspace::capacity bytes, aligned to 256.
  void* data() const { return memory_; }

  /// Workspace::counterCount zeros (in the order of the stream).
  unsigned* counters() const { return countersOf(memory_); }

  /// All launches are queued, and the counters will be zero when they have run.
  void done() noexcept {
    if (buffer_ != nullptr) buffer_->dirty = zeroedInGraph_;
  }

  /// Gives the workspace back, for what comes next in the stream.
  void release() noexcept {
    if (buffer_ != nullptr) {
      buffer_->busy.store(false, std::memory_order_release);
    } else if (memory_ != nullptr) {
      forgetError(cudaFreeAsync(memory_, stream_));
    }
    buffer_ = nullptr;
    memory_ = nullptr;
  }

 private:
  // The public constructor delegates to this one so that the destructor runs if it throws.
  explicit WorkspaceLease(cudaStream_t stream) : stream_(stream) {}

  void takeUsers(const Workspace& user, int device) {
    WorkspaceBuffer* buffer = user.buffer_;
    if (buffer == nullptr) throwInvalid({"gpuopt: workspace was moved from"});
    if (buffer->device != device) {
      throwInvalid({"gpuopt: workspace is on device ", buffer->device, ", the current device is ", device});
    }
    if (!take(buffer)) throwInvalid({"gpuopt: workspace is in use by another call"});
  }

  bool take(WorkspaceBuffer* buffer) {
    if (buffer == nullptr || buffer->busy.exchange(true, std::memory_order_acquire)) return false;
    buffer_ = buffer;
    memory_ = buffer->memory;
    if (buffer->dirty) {
      zeroCounters(memory_, stream_);
      zeroedInGraph_ = isCapturing(stream_);
    }
    buffer_->dirty = true;
    return true;
  }

  cudaStream_t stream_;
  WorkspaceBuffer* buffer_ = nullptr;  // null: memory_ is this call's alone
  unsigned char* memory_ = nullptr;
  bool zeroedInGraph_ = false;  // the counters stay dirty until somebody launches that graph
};

/// A WorkspaceLease: `userOrNull` is what the caller of the entry point passed.
[[nodiscard]] inline WorkspaceLease lease(Workspace* userOrNull, cudaStream_t stream) {
  return WorkspaceLease(userOrNull, stream);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
