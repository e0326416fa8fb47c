/// \file
/// Events, for the order of streams and for threads that wait.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <utility>

GPUOPT_DETAIL_BEGIN

/// An event of the current device, without a time unless the flags say so. Threads wait for it as the user has chosen
/// for the device (cudaSetDeviceFlags), also while any thread captures a stream.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) forgetError(cudaEventDestroy(event_));
  }
  operator cudaEvent_t() const { return event_; }

  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void wait() const { check(synchronize(), "cudaEventSynchronize"); }
  void waitQuietly() const { forgetError(synchronize()); }
  void makeWait(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }

  /// What is queued in `later` from now on waits for what has been queued in `earlier`.
  void order(cudaStream_t earlier, cudaStream_t later) const {
    record(earlier);
    makeWait(later);
  }

  /// Whether everything before the event is done. A failure counts as done: wait() throws it.
  bool isDone() const {
    const RelaxedCapture relaxed;
    const cudaError_t code = cudaEventQuery(event_);
    forgetError(code);
    return code != cudaErrorNotReady;
  }

 private:
  cudaError_t synchronize() const {
    const RelaxedCapture relaxed;
    return cudaEventSynchronize(event_);
  }

  cudaEvent_t event_ = nullptr;
};

GPUOPT_DETAIL_END
