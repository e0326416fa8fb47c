/// \file
/// Transfers of pageable memory: several threads copy regions to or from a ring of pinned slots.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transfer/plan.cuh>
#include <gpuopt/device/transfer/slots.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/host/streaming_copy.cuh>
#include <gpuopt/transfer_types.cuh>

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

GPUOPT_DETAIL_BEGIN

/// A transfer without types. `host` is only read for uploads; null where a HostSide knows it.
struct Transfer {
  unsigned char* host;
  unsigned char* device;
  std::size_t bytes;
  TransferDirection direction;
  cudaStream_t stream;
  const char* function;

  bool isUpload() const { return direction == TransferDirection::upload; }
};

inline cudaError_t queueCopy(const Transfer& transfer) {
  const bool isUpload = transfer.isUpload();
  return cudaMemcpyAsync(isUpload ? transfer.device : transfer.host, isUpload ? transfer.host : transfer.device,
                         transfer.bytes, isUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, transfer.stream);
}

/// The copy of a part of a transfer, which begins at byte `at`, to or from a slot.
inline void queueSlotCopy(Transfer transfer, unsigned char* slot, std::size_t at, std::size_t bytes,
                          cudaStream_t stream) {
  transfer.host = slot;
  transfer.device += at;
  transfer.bytes = bytes;
  transfer.stream = stream;
  check(queueCopy(transfer), "cudaMemcpyAsync");
}

/// The host's side of a transfer, which several threads read or write. A base class, not a template parameter:
/// otherwise every source would compile a ring and a queue for each kind of memory.
class HostSide {
 public:
  virtual ~HostSide() = default;
  /// Copies the `bytes` bytes from byte `at` on to a slot, or from the slot for a download.
  virtual void copy(unsigned char* slot, std::size_t at, std::size_t bytes, TransferDirection direction) const = 0;
};

/// Pieces of the host's memory, one after the other.
///
/// \tparam Pieces visit(at, bytes, f) calls f(host, offset, n) for each part of a piece within `bytes` bytes from `at`
/// on, to which the offset relates
template <class Pieces>
class HostPieces final : public HostSide {
 public:
  HostPieces(const Pieces& pieces, bool isStreaming) : pieces_(pieces), isStreaming_(isStreaming) {}

  void copy(unsigned char* slot, std::size_t at, std::size_t bytes, TransferDirection direction) const override {
    pieces_.visit(at, bytes, [&](unsigned char* host, std::size_t offset, std::size_t n) {
      const bool isUpload = direction == TransferDirection::upload;
      unsigned char* const part = slot + offset;
      copyBytes(isUpload ? part : host, isUpload ? host : part, n, isStreaming_);
    });
  }

 private:
  Pieces pieces_;
  bool isStreaming_;
};

/// Bytes in one piece.
struct OnePiece {
  unsigned char* data;

  template <class F>
  void visit(std::size_t at, std::size_t bytes, const F& f) const {
    f(data + at, 0, bytes);
  }
};
using HostBytes = HostPieces<OnePiece>;

/// Regions of a slot's size go through the slots in turn. Threads fill or empty slots side by side; whoever finds that
/// the next copy can be queued does so. Only one thread at a time calls the runtime, which would make them wait for
/// each other, and all copies are in one stream, because the engine takes longer to change streams than to copy a
/// hundred KiB.
class RingTransfer final : public HelpedJob {
 public:
  /// `host` outlives the transfer. Copies are in the user's stream itself if it `isDirect`, else in a side stream.
  RingTransfer(const HostSide& host, const Transfer& transfer, const TransferPlan& plan, bool isDirect)
      : host_(host),
        transfer_(transfer),
        slotBytes_(plan.slotBytes),
        slots_(plan.slots),
        device_(currentDevice()),
        regions_(ceilDivide(transfer.bytes, plan.slotBytes)),
        ring_(ringMemory(plan.slots * plan.slotBytes), plan.slots, transfer.function) {
    const RelaxedCapture relaxed;
    if (isDirect) return;
    side_.emplace().stream.leaveBusy();
    side_->between.order(transfer.stream, side_->stream);
  }

  ~RingTransfer() {
    try {
      wait();
    } catch (...) {  // nobody asked
    }
  }

  /// Queues the first copies of a download, and lets up to `helpers` other threads do the work, too: to wake them takes
  /// longer.
  void begin(unsigned helpers) {
    try {
      const RelaxedCapture relaxed;
      queueCopies();
    } catch (...) {
      return fail(std::current_exception());
    }
    HelperThreads::instance().invite(*this, helpers);
  }

  /// Does what is left of the work.
  void wait() {
    if (isComplete_) return;
    isComplete_ = true;
    run();
    HelperThreads::instance().finish(*this);
    const RelaxedCapture relaxed;
    complete();
  }

  /// The part of one thread.
  void run() noexcept override {
    if (next_ >= regions_) return;
    try {
      const RelaxedCapture relaxed;
      const DeviceScope scope(device_);
      for (std::size_t i = next_++; i < regions_; i = next_++) {
        moveRegion(i);
        queueCopies();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

 private:
  /// A stream beside the user's, and what orders the two. It may still have copies when the transfer ends.
  struct Side {
    PooledStream stream;
    Event between;
  };

  bool isUpload() const { return transfer_.isUpload(); }
  std::size_t beginOf(std::size_t i) const { return smallerOf(i * slotBytes_, transfer_.bytes); }
  std::size_t bytesOf(std::size_t i) const { return beginOf(i + 1) - beginOf(i); }
  unsigned char* memoryOf(std::size_t i) const { return ring_->memory() + i % slots_ * slotBytes_; }
  cudaStream_t stream() const { return side_ ? static_cast<cudaStream_t>(side_->stream) : transfer_.stream; }

  /// Fills a region's slot, once the copy before has left it; or empties it.
  void moveRegion(std::size_t i) {
    const std::size_t ahead = isUpload() ? slots_ : 0;
    if (i >= ahead && !awaitCopy(i - ahead)) return;
    host_.copy(memoryOf(i), beginOf(i), bytesOf(i), transfer_.direction);
    ++(*ring_)[i % slots_].rounds;
  }

  /// Returns when a region has been copied; false if it never will be.
  bool awaitCopy(std::size_t i) {
    while (queued_ <= i) {  // another thread is at work on what has to come before
      if (hasFailed_) return false;
      std::this_thread::yield();
      queueCopies();
    }
    ring_->await(i % slots_);
    return true;
  }

  /// Whether a region's slot is filled, or for downloads: empty.
  bool canCopy(std::size_t i) {
    return i < regions_ && (*ring_)[i % slots_].rounds == i / slots_ + (isUpload() ? 1 : 0);
  }

  /// Queues the copies that can be queued, in order, unless another thread is already doing so: it will look again.
  void queueCopies() {
    while (canCopy(queued_) && !isQueueing_.exchange(true)) {
      while (canCopy(queued_)) queueCopy(queued_);
      isQueueing_ = false;
    }
  }

  /// The regions from `first` on that are in a row; of downloads one, so that a thread can begin with it.
  void queueCopy(std::size_t first) {
    std::size_t end = first + 1;
    while (isUpload() && end % slots_ != 0 && canCopy(end)) ++end;
    queueSlotCopy(transfer_, memoryOf(first), beginOf(first), beginOf(end) - beginOf(first), stream());
    ring_->finishCopy(first % slots_, (end - 1) % slots_, stream());
    queued_ = end;
  }

  /// Keeps the first error, and ends the work of all threads.
  void fail(std::exception_ptr error) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = error;
    next_ = regions_;
    hasFailed_ = true;
  }

  /// Orders the user's stream after the copies. No thread works on the transfer any more.
  void complete() {
    if (error_) {
      forgetError(cudaStreamSynchronize(stream()));  // then nothing uses host or device any more
      std::rethrow_exception(error_);
    }
    if (side_) side_->between.order(side_->stream, transfer_.stream);
  }

  const HostSide& host_;
  const Transfer transfer_;
  const std::size_t slotBytes_, slots_;
  const int device_;
  const std::size_t regions_;
  LeasedSlots ring_;
  std::optional<Side> side_;
  std::atomic<std::size_t> next_{0};     // the first region that no thread has begun with
  std::atomic<std::size_t> queued_{0};   // the first region whose copy has not been queued
  std::atomic<bool> isQueueing_{false};  // whether a thread queues copies
  std::atomic<bool> hasFailed_{false};
  bool isComplete_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

GPUOPT_DETAIL_END
