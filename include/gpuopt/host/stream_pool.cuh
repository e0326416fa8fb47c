/// \file
/// Streams that the library uses for a while and keeps.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/free_list.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

/// Streams of all devices. They are kept, because a workspace stays with each stream for the life of the program.
class StreamPool {
 public:
  struct Entry {
    int device = -1;
    cudaStream_t stream = nullptr;
    bool mayBeBusy = false;
  };

  /// Never destroyed: at exit the context may be gone.
  GPUOPT_HIDDEN static StreamPool& instance() {
    static StreamPool& pool = *new StreamPool;
    return pool;
  }

  /// An idle stream of the current device.
  Entry acquire() {
    const int device = currentDevice();
    const RelaxedCapture relaxed;
    Entry found = free_.take([=](const Entry& entry) { return entry.device == device && isIdle(entry); });
    if (found.stream == nullptr) {
      free_.add();
      check(cudaStreamCreateWithFlags(&found.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
    return {device, found.stream};
  }

  void release(const Entry& entry) noexcept { free_.put(entry); }

 private:
  static bool isIdle(const Entry& entry) {
    const cudaError_t code = entry.mayBeBusy ? cudaStreamQuery(entry.stream) : cudaSuccess;
    forgetError(code);
    return code != cudaErrorNotReady;
  }

  FreeList<Entry> free_;
};

/// A stream of the pool on the current device, for the life of this object. Synchronises with no other stream.
class PooledStream {
 public:
  PooledStream() : entry_(StreamPool::instance().acquire()) {}
  ~PooledStream() { StreamPool::instance().release(entry_); }
  PooledStream(const PooledStream&) = delete;
  PooledStream& operator=(const PooledStream&) = delete;
  operator cudaStream_t() const { return entry_.stream; }

  /// Work may go on in the stream when this object ends; otherwise, none does.
  void leaveBusy() { entry_.mayBeBusy = true; }

 private:
  StreamPool::Entry entry_;
};

GPUOPT_DETAIL_END
