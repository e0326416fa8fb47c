/// \file
/// Streams in graph capture, and calls that must not disturb one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/error.cuh>

GPUOPT_DETAIL_BEGIN

/// Whether the stream is being captured into a graph. Throws CudaError for the legacy default stream while another
/// stream's capture forbids its use; that capture stays valid.
inline bool isCapturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// Throws std::invalid_argument if the stream is being captured: the kernel does not run, so there is no value to
/// return. `function` is the caller that returns a value ("gpuopt::reduce").
inline void requireNotCapturing(cudaStream_t stream, const char* function) {
  if (isCapturing(stream)) throwInvalid({function, ": stream is being captured; use ", function, "Into"});
}

/// Scope in which this thread may allocate and synchronise while any thread captures a stream. Without it, such a call
/// fails and invalidates the capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  // Errors are ignored: the guarded call will fail with the same one.
  void exchange() noexcept { forgetError(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // holds the thread's own mode meanwhile
};

GPUOPT_DETAIL_END
