/// \file
/// A run of a short array in pinned memory: a few copies instead of one for each chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/device/pipeline/run.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Memory and streams of a short run. All work is done when this is destroyed.
class ShortRun {
 public:
  explicit ShortRun(const PipelineOptions& options) : memory_(0, up_, options.memory) {}
  ~ShortRun() {
    forgetError(cudaStreamSynchronize(up_));
    forgetError(cudaStreamSynchronize(work_));
  }
  ShortRun(const ShortRun&) = delete;
  ShortRun& operator=(const ShortRun&) = delete;

  cudaStream_t work() const { return work_; }
  unsigned char* reserve(std::size_t bytes) { return growTo(memory_, bytes); }

  // The work may read what the caller's earlier kernels write. Called after the first copy, which need not wait.
  void waitForCaller(const PipelineOptions& options) const { begin_.order(options.after, work_); }

  // Copies, and makes the work wait for it.
  void copy(void* to, const void* from, std::size_t bytes) const {
    copyAsync(to, from, bytes, up_);
    arrived_.order(up_, work_);
  }

 private:
  PooledStream up_, work_;
  Event begin_, arrived_;
  OrderedMemory memory_;
};

// Queues all chunks of an array in pinned memory, in their order, so that a value has the bits of a run by slots. Each
// copy has a share of the chunks that are left: few copies, and little is left to be reduced when the last one ends.
inline void runFewCopies(const PipelineOptions& options, const PipelinePlan& plan, ChunkSource& source,
                         ChunkWork& work) {
  [[maybe_unused]] const CallRange range("gpuopt::Pipeline::run");
  const RelaxedCapture relaxed;
  const std::size_t n = plan.request.length, capacity = plan.chunkElements, bytes = plan.request.inBytes;
  const auto* const host = static_cast<const unsigned char*>(source.next(nullptr, n).data);
  ShortRun run(options);
  unsigned char* const device = run.reserve(plan.slotBytes.in);
  std::size_t copied = 0;
  for (std::size_t at = 0, index = 0; at < n; at += capacity, ++index) {
    if (at == copied) {
      copied = smallerOf(at + chunksOfCopy(plan.chunks - index) * capacity, n);
      run.copy(device + at * bytes, host + at * bytes, (copied - at) * bytes);
      if (at == 0) run.waitForCaller(options);
    }
    work.queue({device + at * bytes, nullptr, smallerOf(capacity, n - at), at, index, run.work()});
  }
  check(cudaStreamSynchronize(run.work()), "cudaStreamSynchronize");
}

GPUOPT_DETAIL_END
