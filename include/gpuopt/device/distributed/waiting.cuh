/// \file
/// Waits of the host for what NCCL does: they end in time, as NCCL's own need not.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/distributed/nccl.cuh>
#include <gpuopt/host/event.cuh>

#include <cuda_runtime.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

GPUOPT_DETAIL_BEGIN

// NCCL tells nobody which rank it waits for.
inline constexpr int unknownRank = -1;

class NcclWait {
 public:
  NcclWait(ncclComm_t comm, std::chrono::nanoseconds timeout, std::function<void()> abandon)
      : comm_(comm), timeout_(timeout), abandon_(std::move(abandon)) {}

  // Before a collective is queued: the ranks' time begins when what comes before is done.
  void begin(cudaStream_t stream) const { begun_.record(stream); }

  // Waits for the stream, or until the communicator has failed or the time is over.
  void finish(cudaStream_t stream, const char* function) {
    std::optional<std::chrono::steady_clock::time_point> start;
    while (!isDone(stream)) {
      requireSuccess(function);
      const auto now = std::chrono::steady_clock::now();
      if (!start && begun_.isDone()) start = now;
      if (start && now - *start > timeout_) {
        isLate_ = true;
        fail();
      }
      std::this_thread::yield();
    }
    requireSuccess(function);
  }

  // Throws if the communicator has failed, now or before.
  void requireSuccess(const char* function) {
    if (!hasFailed_) {
      detail::checkNccl(ncclCommGetAsyncError(comm_, &code_), "ncclCommGetAsyncError");
      if (code_ == ncclSuccess || code_ == ncclInProgress) return;
      fail();
    }
    if (!isLate_) throw distributed::NcclError(code_, function);
    throw distributed::TeamError(unknownRank, message({function, ": a rank did not come in time"}));
  }

  // From then on nothing is queued on the communicator.
  bool hasFailed() const { return hasFailed_; }

  // Whether kernels of NCCL may wait on for ever: cudaFree would wait for them.
  const bool& isStuck() const { return isStuck_; }

 private:
  static bool isDone(cudaStream_t stream) {
    const cudaError_t code = cudaStreamQuery(stream);
    forgetError(code);
    if (code != cudaErrorNotReady) check(code, "cudaStreamQuery");
    return code == cudaSuccess;
  }

  void fail() {
    hasFailed_ = true;
    isStuck_ = abandon_ == nullptr;
    if (abandon_ != nullptr) abandon_();
  }

  ncclComm_t comm_;
  std::chrono::nanoseconds timeout_;
  std::function<void()> abandon_;
  Event begun_;
  ncclResult_t code_ = ncclSuccess;
  bool isLate_ = false, hasFailed_ = false, isStuck_ = false;
};

GPUOPT_DETAIL_END
