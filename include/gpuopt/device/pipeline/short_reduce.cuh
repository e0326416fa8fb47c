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
#include <gpuopt/host/kept_run.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Memory and streams of a short run. No work accesses the memory any more when this is destroyed.
class ShortRun {
 public:
  explicit ShortRun(const PipelineOptions& options)
      : kept_(KeptRuns::instance().acquire()),
        own_(0, kept_->up, options.memory),
        memory_(isOwnPool(options.memory) ? kept_->memory : own_) {}
  ~ShortRun() {
    if (isDone_) return;
    forgetError(cudaStreamSynchronize(kept_->up));
    forgetError(cudaStreamSynchronize(kept_->work));
  }
  ShortRun(const ShortRun&) = delete;
  ShortRun& operator=(const ShortRun&) = delete;

  cudaStream_t work() const { return kept_->work; }
  unsigned char* reserve(std::size_t bytes) { return growTo(memory_, bytes); }

  // The work may read what the caller's earlier kernels write. Called after the first copy, which need not wait.
  void waitForCaller(const PipelineOptions& options) const { kept_->begin.order(options.after, kept_->work); }

  // Copies, and makes the work wait for it.
  void copy(void* to, const void* from, std::size_t bytes) const {
    copyAsync(to, from, bytes, kept_->up);
    kept_->arrived.order(kept_->up, kept_->work);
  }

  // The last of the work has left its value: nothing accesses the memory any more.
  void end() { isDone_ = true; }

 private:
  KeptRunLease kept_;  // ends last: own_ is freed in its stream
  OrderedMemory own_;  // of a pool or resource of the caller's
  OrderedMemory& memory_;
  bool isDone_ = false;
};

// Folds all chunks of an array in pinned memory, in their order, so that a value has the bits of a run by slots. Each
// copy has a share of the chunks that are left: few copies, and little is left to be reduced when the last one ends.
template <class Fold>
void runFewCopies(const PipelineOptions& options, const PipelinePlan& plan, ChunkSource& source, Fold& fold) {
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
    const RawChunk chunk{device + at * bytes, nullptr, smallerOf(capacity, n - at), at, index, run.work()};
    fold.queue(chunk, index + 1 == plan.chunks);
  }
  fold.wait(run.work());
  run.end();
}

GPUOPT_DETAIL_END
