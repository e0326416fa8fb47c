/// \file
/// With GPUOPT_CHECK_POINTERS: work that is given a stream launches its kernels there.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

GPUOPT_DETAIL_BEGIN

#if GPUOPT_CHECK_POINTERS

// Counts what the calling thread launches while this exists, in the work's stream and in the default one.
class GPUOPT_HIDDEN StreamWatch {
 public:
  explicit StreamWatch(cudaStream_t stream) : stream_(stream), outer_(std::exchange(innermost(), this)) {}
  ~StreamWatch() { innermost() = outer_; }
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  static void see(cudaStream_t stream) {
    StreamWatch* const watch = innermost();
    if (watch == nullptr) return;
    if (stream == watch->stream_)
      ++watch->inStream_;
    else if (stream == nullptr || stream == cudaStreamLegacy)
      ++watch->inDefault_;
  }

  void require(const char* function, const char* name) const {
    if (inDefault_ > 0 && inStream_ == 0)
      throwInvalid({function, ": the work launches its kernels in the default stream: pass them ", name});
  }

 private:
  static StreamWatch*& innermost() {
    thread_local StreamWatch* watch = nullptr;
    return watch;
  }

  cudaStream_t stream_;
  StreamWatch* outer_;
  std::size_t inStream_ = 0, inDefault_ = 0;
};

#else

struct StreamWatch {
  explicit StreamWatch(cudaStream_t) {}
  static void see(cudaStream_t) {}
  void require(const char*, const char*) const {}
};

#endif

GPUOPT_DETAIL_END
