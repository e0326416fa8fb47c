/// \file
/// Streams that are being captured into a graph, and calls beside them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/error.cuh>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// Whether work given to the stream goes into a graph instead of to the device. Throws CudaError for the
/// legacy default stream while another stream's capture forbids its use; that capture stays valid.
inline bool isCapturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// Throws std::invalid_argument if the stream is being captured: no kernel runs then, so no value comes
/// back to the host. `function` is the entry point that returns a value ("gpuopt::reduce").
inline void requireNotCapturing(cudaStream_t stream, const char* function) {
  if (isCapturing(stream)) throwInvalid({function, ": stream is being captured; use ", function, "Into"});
}

/// While one lives, this thread may allocate and synchronise although some thread is capturing some stream:
/// none of the work goes to a captured stream, and without this such a call fails and spoils the other's
/// capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  // A failure needs no report of its own: the call that this is for will fail in the same way.
  void exchange() noexcept { forgetError(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the thread's own one in the meantime
};

}  // namespace detail
GPUOPT_NAMESPACE_END
