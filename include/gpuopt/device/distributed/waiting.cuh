/// \file
/// Waits of the host for NCCL, with a timeout, which NCCL's own lack.
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

// A short wait is polled without a pause. A long one leaves the processor to others.
inline constexpr std::chrono::milliseconds eagerTime{10};
inline constexpr std::chrono::microseconds pollingPause{200};

class NcclWait {
 public:
  NcclWait(ncclComm_t comm, std::chrono::nanoseconds timeout, std::function<void()> abandon)
      : comm_(comm), timeout_(timeout), abandon_(std::move(abandon)) {}

  // Before a collective is queued: the ranks' time begins when what comes before is done.
  void begin(cudaStream_t stream) const { begun_.record(stream); }

  // Waits for the stream, or until the communicator has failed or the time is over.
  void finish(cudaStream_t stream, const char* function) {
    try {
      poll([stream] { return isDone(stream); }, [this] { return begun_.isDone(); }, function);
    } catch (...) {
      leavePending(stream);
      throw;
    }
  }

  // After work by NCCL that the host does not wait for: settle() does. Of graphs that are replayed nothing is known.
  void leavePending(cudaStream_t stream) {
    if (isCapturing(stream)) return;
    pending_.record(stream);
    isPending_ = true;
  }

  // Before memory is freed, for which cudaFree waits for all kernels. If those of NCCL do not end in time, the
  // communicator is abandoned, which ends them. If that does not help, the memory stays.
  void settle() noexcept {
    if (!isPending_ || isStuck_ || isPendingOver()) return;
    try {
      if (hasFailed_) return static_cast<void>(isStuck_ = true);
      setLate();
    } catch (...) {
    }
    isStuck_ = isStuck_ || !isPendingOver();
  }

  // After a gathering in which one rank has sent data of an earlier one: a rank is lost, which NCCL has not noticed.
  [[noreturn]] void lose(const char* function) {
    if (!hasFailed_) setLate();
    throwLate(function);
  }

  // Every call that gives NCCL work goes through here with its code. On a non-blocking communicator it returns
  // ncclInProgress, and the stream knows nothing of the work until NCCL has queued it. NCCL first needs the other ranks
  // where it has to make connections, such as for the first collective.
  void untilQueued(ncclResult_t code, const char* call, const char* function) {
    if (code != ncclInProgress) return detail::checkNccl(code, call);
    untilReady(function);
  }

  // Waits until a non-blocking communicator takes another call.
  void untilReady(const char* function) {
    poll([this, function] { return !isInProgress(function); }, [] { return true; }, function);
  }

  // Throws if the communicator has failed, now or before.
  void requireSuccess(const char* function) { static_cast<void>(isInProgress(function)); }

  // From then on nothing is queued on the communicator.
  bool hasFailed() const { return hasFailed_; }

  // Whether NCCL may wait on for ever: its kernels, which cudaFree would wait for, or a thread that may still use the
  // team's streams and memory.
  const bool& isStuck() const { return isStuck_; }

 private:
  // Whether NCCL is busy with a call. Throws if the communicator has failed, now or before.
  bool isInProgress(const char* function) {
    if (!hasFailed_) {
      detail::checkNccl(ncclCommGetAsyncError(comm_, &code_), "ncclCommGetAsyncError");
      if (code_ == ncclSuccess || code_ == ncclInProgress) return code_ == ncclInProgress;
      fail();
    }
    if (!isLate_) throw distributed::NcclError(code_, function);
    throwLate(function);
  }

  [[noreturn]] static void throwLate(const char* function) {
    throw distributed::TeamError(unknownRank, message({function, ": a rank did not come in time"}));
  }

  // Whether the pending work ends within the timeout.
  bool isPendingOver() const {
    const auto first = std::chrono::steady_clock::now();
    while (!pending_.isDone()) {
      if (std::chrono::steady_clock::now() - first > timeout_) return false;
      std::this_thread::sleep_for(pollingPause);
    }
    return true;
  }

  // Waits until isOver(). The timeout begins when hasBegun().
  template <class IsOver, class HasBegun>
  void poll(const IsOver& isOver, const HasBegun& hasBegun, const char* function) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point first = Clock::now();
    std::optional<Clock::time_point> start;
    while (!isOver()) {
      requireSuccess(function);
      const Clock::time_point now = Clock::now();
      if (!start && hasBegun()) start = now;
      if (start && now - *start > timeout_) {
        setLate();
      } else if (now - first < eagerTime) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(pollingPause);
      }
    }
    requireSuccess(function);
  }

  static bool isDone(cudaStream_t stream) {
    const cudaError_t code = cudaStreamQuery(stream);
    forgetError(code);
    if (code != cudaErrorNotReady) check(code, "cudaStreamQuery");
    return code == cudaSuccess;
  }

  void setLate() {
    isLate_ = true;
    fail();
  }

  void fail() {
    hasFailed_ = true;
    isStuck_ = abandon_ == nullptr;
    if (abandon_ != nullptr) abandon_();
  }

  ncclComm_t comm_;
  std::chrono::nanoseconds timeout_;
  std::function<void()> abandon_;
  Event begun_, pending_;
  ncclResult_t code_ = ncclSuccess;
  bool isLate_ = false, hasFailed_ = false, isStuck_ = false, isPending_ = false;
};

GPUOPT_DETAIL_END
