/// \file
/// Scratch memory of device-wide calls: the caller's, or a cached one per stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream.cuh>

#include <atomic>
#include <cstddef>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t workspaceCapacity = std::size_t{1} << 20;
inline constexpr std::size_t workspaceCounters = 16384;
inline constexpr std::size_t counterBytes = workspaceCounters * sizeof(unsigned);
inline constexpr std::size_t workspaceBytes = workspaceCapacity + counterBytes;

class WorkspaceLease;

/// The memory of a workspace, partial results followed by counters, and its state.
struct WorkspaceBuffer {
  unsigned char* memory = nullptr;
  int device = 0;
  std::atomic<bool> busy{false};  // in use by a call
  bool dirty = false;             // the counters may be nonzero; guarded by busy
  bool isResources = false;       // memory is of `source`, and goes back to it in the order of `stream`
  MemoryRef source = {};
  cudaStream_t stream = nullptr;
};

inline unsigned* countersOf(unsigned char* memory) { return reinterpret_cast<unsigned*>(memory + workspaceCapacity); }

inline void zeroCounters(unsigned char* memory, cudaStream_t stream) {
  check(cudaMemsetAsync(countersOf(memory), 0, counterBytes, stream), "cudaMemsetAsync");
}

}  // namespace detail

/// Scratch memory on the device, for callers who want no allocations or who capture calls into graphs. Its size does
/// not depend on the input.
///
/// A workspace serves one call at a time: calls on one stream, or on streams that are ordered by events. A captured
/// call uses it whenever the graph runs. Calls without a workspace use one that the library caches per stream.
class Workspace {
 public:
  /// Bytes of partial results.
  static constexpr std::size_t capacity = detail::workspaceCapacity;

  /// Number of counters. They are zero between calls: kernels reset those that they used.
  static constexpr std::size_t counterCount = detail::workspaceCounters;

  /// Allocates on the current device, zeroes the counters, and waits for `stream`. Throws CudaError.
  explicit Workspace(StreamRef stream = nullptr) : Workspace(Empty{}) {
    const detail::RelaxedCapture relaxed;
    void* memory = nullptr;
    check(cudaMalloc(&memory, detail::workspaceBytes), "cudaMalloc");
    buffer_->memory = static_cast<unsigned char*>(memory);
    zeroCounters(stream);
  }

  /// Allocates from a pool or memory resource of the current device's memory, in the order of `stream`, zeroes the
  /// counters, and waits for `stream`. Both must outlive the workspace, which gives its memory back in the order of the
  /// stream. Throws CudaError, and what the resource throws.
  ///
  ///     gpuopt::Workspace workspace(pool, stream);
  ///
  /// \param memory what a MemoryRef is made from: a cudaMemPool_t, a memory resource of CCCL, RMM or Thrust
  /// \param stream the allocation is queued there
  template <class Memory,
            class = std::enable_if_t<std::is_convertible_v<Memory, MemoryRef> && !detail::isStream<Memory>>>
  explicit Workspace(Memory&& memory, StreamRef stream = nullptr) : Workspace(Empty{}) {
    buffer_->source = memory;
    buffer_->stream = stream;
    buffer_->isResources = true;
    buffer_->memory = static_cast<unsigned char*>(buffer_->source.allocate(detail::workspaceBytes, stream));
    zeroCounters(stream);
  }

  Workspace(Workspace&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }

  ~Workspace() {
    if (buffer_ == nullptr) return;
    const detail::RelaxedCapture relaxed;
    if (!buffer_->isResources)
      detail::forgetError(cudaFree(buffer_->memory));
    else if (buffer_->memory != nullptr)
      buffer_->source.deallocate(buffer_->memory, detail::workspaceBytes, buffer_->stream);
    delete buffer_;
  }

  /// The memory for partial results, aligned to 256 bytes.
  [[nodiscard]] void* data() const { return buffer_->memory; }

  /// The counters.
  [[nodiscard]] unsigned* counters() const { return detail::countersOf(buffer_->memory); }

 private:
  friend class detail::WorkspaceLease;

  // The public constructors delegate to this one, so that the destructor runs if they throw.
  struct Empty {};
  explicit Workspace(Empty) : buffer_(new detail::WorkspaceBuffer) { buffer_->device = currentDevice(); }

  void zeroCounters(cudaStream_t stream) {
    const detail::RelaxedCapture relaxed;
    detail::zeroCounters(buffer_->memory, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  detail::WorkspaceBuffer* buffer_;  // no unique_ptr: <memory> would add a tenth to a user's compile time
};

namespace detail {

/// Identifies a stream for the life of the program, by its id: handles of destroyed streams are reused.
struct StreamKey {
  unsigned long long stream;
  unsigned long long thread;  // of a per-thread default stream; 0 for other streams
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

/// The cached workspaces. Never freed: nobody reports destroyed streams, and at exit the context may be gone.
GPUOPT_HIDDEN inline WorkspaceBuffer* sharedWorkspace(const StreamKey& key, cudaStream_t stream) {
  constexpr std::size_t STREAMS = 256;
  static auto& buffers = *new Registry<StreamKey, WorkspaceBuffer*>;
  const auto make = [&] {
    return new WorkspaceBuffer{allocateInOrder(workspaceBytes, key.device, stream), key.device, {false}, true};
  };
  return buffers.get(key, make, STREAMS);
}

/// The cached workspace of a stream, created on first use; null if too many streams have one.
GPUOPT_HIDDEN inline WorkspaceBuffer* cachedWorkspace(int device, cudaStream_t stream) {
  struct Last {
    StreamKey key;
    WorkspaceBuffer* buffer;
  };
  static thread_local Last last;  // no lock while a thread uses the same stream
  const StreamKey key = streamKey(device, stream);
  if (last.buffer == nullptr || !(last.key == key)) last = {key, sharedWorkspace(key, stream)};
  return last.buffer;
}

/// The workspace of one call, held until its launches are queued:
///
///     WorkspaceLease workspace(userOrNull, stream);
///     launch(kernel, config, ..., workspace.data(), workspace.counters());
///     workspace.done();
///
/// That is the user's workspace if there is one, else the stream's cached one. Three cases use a stream-ordered
/// allocation instead: the stream is being captured (the graph outlives this call), another thread's call holds the
/// stream's workspace, or 256 streams have one. After a call that fails before done(), the next call on the workspace
/// zeroes the counters.
class WorkspaceLease {
 public:
  /// Throws std::invalid_argument if the user's workspace is on another device, moved from, or in use by another
  /// thread; CudaError.
  WorkspaceLease(Workspace* user, cudaStream_t stream) : WorkspaceLease(stream) {
    const int device = currentDevice();
    if (user != nullptr) {
      acquireUsers(*user, device);
    } else if (isCapturing(stream) || !acquire(cachedWorkspace(device, stream))) {
      memory_ = allocateInOrder(workspaceBytes, device, stream);
      zeroCounters(memory_, stream);
    }
  }

  ~WorkspaceLease() { release(); }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;

  /// Workspace::capacity bytes, aligned to 256.
  void* data() const { return memory_; }

  /// Workspace::counterCount counters, zero in stream order.
  unsigned* counters() const { return countersOf(memory_); }

  /// Call when all launches are queued: they leave the counters zero.
  void done() noexcept {
    if (buffer_ != nullptr) buffer_->dirty = zeroedInGraph_;
  }

  /// Releases the workspace for later work in the stream.
  void release() noexcept {
    if (buffer_ != nullptr)
      buffer_->busy.store(false, std::memory_order_release);
    else if (memory_ != nullptr)
      forgetError(cudaFreeAsync(memory_, stream_));
    buffer_ = nullptr;
    memory_ = nullptr;
  }

 private:
  // As in Workspace: the destructor runs if the public constructor throws.
  explicit WorkspaceLease(cudaStream_t stream) : stream_(stream) {}

  void acquireUsers(const Workspace& user, int device) {
    WorkspaceBuffer* buffer = user.buffer_;
    if (buffer == nullptr) throwInvalid({"gpuopt: workspace was moved from"});
    if (buffer->device != device)
      throwInvalid({"gpuopt: workspace is on device ", buffer->device, ", the current device is ", device});
    if (!acquire(buffer)) throwInvalid({"gpuopt: workspace is in use by another call"});
  }

  bool acquire(WorkspaceBuffer* buffer) {
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
  WorkspaceBuffer* buffer_ = nullptr;  // null: memory_ is allocated for this call alone
  unsigned char* memory_ = nullptr;
  bool zeroedInGraph_ = false;  // the counters stay dirty until the graph runs
};

}  // namespace detail
GPUOPT_NAMESPACE_END
