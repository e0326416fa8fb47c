/// \file
/// Streams that the library uses for a while and keeps.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// Idle streams of all devices. They are kept, because a workspace stays with each stream for the life of the program.
class StreamPool {
 public:
  /// Never destroyed: at exit the context may be gone.
  GPUOPT_HIDDEN static StreamPool& instance() {
    static StreamPool& pool = *new StreamPool;
    return pool;
  }

  cudaStream_t acquire(int device) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::size_t i = idle_.size(); i-- > 0;) {
        if (idle_[i].first != device) continue;
        const cudaStream_t stream = idle_[i].second;
        idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
        return stream;
      }
      idle_.reserve(++streams_);
    }
    const RelaxedCapture relaxed;
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
  }

  void release(int device, cudaStream_t stream) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.emplace_back(device, stream);  // does not allocate: acquire() reserved the capacity
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<int, cudaStream_t>> idle_;
  std::size_t streams_ = 0;
};

/// A stream of the pool on the current device, for the life of this object. Synchronises with no other stream.
class PooledStream {
 public:
  PooledStream() : device_(currentDevice()), stream_(StreamPool::instance().acquire(device_)) {}
  ~PooledStream() { StreamPool::instance().release(device_, stream_); }
  PooledStream(const PooledStream&) = delete;
  PooledStream& operator=(const PooledStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  int device_;
  cudaStream_t stream_;
};

GPUOPT_DETAIL_END
