/// \file
/// streamReduce of a short array in pinned memory: a few copies instead of one for each chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/pipeline/options.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/device/pipeline/source.cuh>
#include <gpuopt/device/pipeline/stream_calls.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/stream_pool.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Whether a run is short, and nobody asks for its chunks.
template <class T>
bool isShortRun(const HostSource<T>& source, const PipelineOptions& options) {
  const std::size_t bytes = source.length() * sizeof(T);
  return !source.isStaged() && bytes > 0 && bytes <= shortRunBytes && options.chunkBytes == 0 && options.slots == 0 &&
         options.progress == nullptr && options.cancel == nullptr && options.streams == nullptr;
}

// Memory and streams of a short run. All work is done when this is destroyed.
class ShortRun {
 public:
  explicit ShortRun(const PipelineOptions& options) : memory_(options.memory, up_) {}
  ~ShortRun() {
    forgetError(cudaStreamSynchronize(up_));
    forgetError(cudaStreamSynchronize(work_));
  }
  ShortRun(const ShortRun&) = delete;
  ShortRun& operator=(const ShortRun&) = delete;

  cudaStream_t work() const { return work_; }
  unsigned char* reserve(std::size_t bytes) { return memory_.reserve(bytes); }

  // The work may read what the caller's earlier kernels write. Called after the first copy, which need not wait.
  void waitForCaller(const PipelineOptions& options) const {
    begin_.record(options.after);
    begin_.makeWait(work_);
  }

  // Copies, and makes the work wait for it.
  void copy(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, up_), "cudaMemcpyAsync");
    arrived_.record(up_);
    arrived_.makeWait(work_);
  }

 private:
  PooledStream up_, work_;
  Event begin_, arrived_;
  DeviceBuffer memory_;
};

// Folds an array by the chunks of a pipeline, in their order, so that the value has the same bits. Each copy has
// three quarters of the chunks that are left: few copies, and little is left to be reduced when the last one ends. By
// halves, 16, 32 and 64 MiB took 341, 651 and 1266 us instead of 338, 645 and 1261 (H100, 2026-11-28).
template <class Policy, class A, class T, class Op, class Fold>
A reduceShortRun(HostSource<T>& source, const Op& op, const Fold& first, const PipelineOptions& options) {
  requireNotCaptured(options);
  [[maybe_unused]] const CallRange range("gpuopt::Pipeline::run");
  const RelaxedCapture relaxed;
  const std::size_t n = source.length(), capacity = chunkElements(n, sizeof(T), 0, false);
  const auto* const host = static_cast<const T*>(source.next(nullptr, n).data);
  ChunkFold<Policy, A, Op> fold(op);
  ShortRun run(options);
  T* const device = reinterpret_cast<T*>(run.reserve(n * sizeof(T)));
  std::size_t copied = 0;
  for (std::size_t at = 0, index = 0; at < n; at += capacity, ++index) {
    if (at == copied) {
      const std::size_t chunks = ceilDivide(n - at, capacity);
      copied = smallerOf(at + ceilDivide(3 * chunks, std::size_t{4}) * capacity, n);
      run.copy(device + at, host + at, (copied - at) * sizeof(T));
      if (at == 0) run.waitForCaller(options);
    }
    fold.add(first, PipelineChunk<T>{device + at, nullptr, smallerOf(capacity, n - at), at, index, run.work()});
  }
  check(cudaStreamSynchronize(run.work()), "cudaStreamSynchronize");
  return fold.value();
}

GPUOPT_DETAIL_END
