/// \file
/// Events without times, for the order of streams and for threads that wait.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <utility>

GPUOPT_DETAIL_BEGIN

/// An event of the current device. Threads wait for it as the user has chosen for the device (cudaSetDeviceFlags).
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) forgetError(cudaEventDestroy(event_));
  }
  operator cudaEvent_t() const { return event_; }

  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  void waitQuietly() const { forgetError(cudaEventSynchronize(event_)); }
  void makeWait(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }

  /// Whether everything before the event is done. A failure counts as done: wait() tells it.
  bool isDone() const {
    const cudaError_t code = cudaEventQuery(event_);
    forgetError(code);
    return code != cudaErrorNotReady;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

GPUOPT_DETAIL_END
