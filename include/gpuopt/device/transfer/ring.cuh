/// \file
/// Transfers of pageable memory: several threads copy regions to or from a ring of pinned slots.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transfer/plan.cuh>
#include <gpuopt/device/transfer/slots.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/streaming_copy.cuh>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

GPUOPT_DETAIL_BEGIN

/// The host's side of a transfer, which several threads read or write. A class and no template's parameter: otherwise
/// every source would compile a ring and a queue for each kind of memory.
class HostSide {
 public:
  virtual ~HostSide() = default;
  /// Copies `bytes` bytes from byte `at` on to a slot.
  virtual void read(unsigned char* slot, std::size_t at, std::size_t bytes) const = 0;
  /// The same from a slot.
  virtual void write(const unsigned char* slot, std::size_t at, std::size_t bytes) const = 0;
};

/// Bytes in one piece.
class HostBytes final : public HostSide {
 public:
  HostBytes(unsigned char* data, bool isStreaming) : data_(data), isStreaming_(isStreaming) {}

  void read(unsigned char* slot, std::size_t at, std::size_t bytes) const override {
    copyBytes(slot, data_ + at, bytes, isStreaming_);
  }
  void write(const unsigned char* slot, std::size_t at, std::size_t bytes) const override {
    copyBytes(data_ + at, slot, bytes, isStreaming_);
  }

 private:
  unsigned char* data_;
  bool isStreaming_;
};

/// Pieces of the host's memory, one after the other.
///
/// \tparam Pieces visit(at, bytes, f) calls f(host, offset, n) for each part of a piece within `bytes` bytes from `at`
/// on, to which the offset relates
template <class Pieces>
class HostPieces final : public HostSide {
 public:
  HostPieces(const Pieces& pieces, bool isStreaming) : pieces_(pieces), isStreaming_(isStreaming) {}

  void read(unsigned char* slot, std::size_t at, std::size_t bytes) const override {
    pieces_.visit(at, bytes, [&](unsigned char* host, std::size_t offset, std::size_t n) {
      copyBytes(slot + offset, host, n, isStreaming_);
    });
  }
  void write(const unsigned char* slot, std::size_t at, std::size_t bytes) const override {
    pieces_.visit(at, bytes, [&](unsigned char* host, std::size_t offset, std::size_t n) {
      copyBytes(host, slot + offset, n, isStreaming_);
    });
  }

 private:
  Pieces pieces_;
  bool isStreaming_;
};

/// What a ring transfers: `bytes` consecutive bytes of the device's memory.
struct RingRequest {
  unsigned char* device;
  std::size_t bytes;
  std::size_t slotBytes;
  std::size_t slots;
  TransferDirection direction;
  bool isDirect;  // copies are queued in the user's stream itself; else in a side stream
  cudaStream_t stream;
  const char* function;
};

/// A stream beside the user's, and what orders the two. Not of a pool: it may still have copies when it is destroyed.
class SideStream {
 public:
  explicit SideStream(cudaStream_t users) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    order(users, stream_);
  }
  ~SideStream() { forgetError(cudaStreamDestroy(stream_)); }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  operator cudaStream_t() const { return stream_; }

  /// What is queued in `later` from now on waits for what has been queued in `earlier`.
  void order(cudaStream_t earlier, cudaStream_t later) {
    event_.record(earlier);
    event_.makeWait(later);
  }

 private:
  Event event_;
  cudaStream_t stream_ = nullptr;
};

/// Regions of a slot's size go through the slots in turn. Threads fill or empty slots side by side; whoever finds that
/// the next copy can be queued does so. Only one thread at a time calls the runtime, which would make them wait for
/// each other, and all copies are in one stream, because the engine takes longer to change streams than to copy a
/// hundred KiB.
class RingTransfer final : public HelpedJob {
 public:
  /// `host` outlives the transfer.
  RingTransfer(const HostSide& host, const RingRequest& request)
      : host_(host),
        request_(request),
        device_(currentDevice()),
        regions_(ceilDivide(request.bytes, request.slotBytes)),
        ring_(ringMemory(request.slots * request.slotBytes), request.slots, request.function) {
    const RelaxedCapture relaxed;
    if (!request.isDirect) side_.emplace(request.stream);
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
        isUpload() ? fill(i) : empty(i);
        queueCopies();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

 private:
  bool isUpload() const { return request_.direction == TransferDirection::upload; }
  std::size_t beginOf(std::size_t i) const { return smallerOf(i * request_.slotBytes, request_.bytes); }
  std::size_t bytesOf(std::size_t i) const { return beginOf(i + 1) - beginOf(i); }
  unsigned char* memoryOf(std::size_t i) const { return ring_->memory() + i % request_.slots * request_.slotBytes; }
  cudaStream_t stream() const { return side_ ? static_cast<cudaStream_t>(*side_) : request_.stream; }

  void fill(std::size_t i) {
    if (i >= request_.slots && !awaitCopy(i - request_.slots)) return;
    host_.read(memoryOf(i), beginOf(i), bytesOf(i));
    ++(*ring_)[i % request_.slots].rounds;
  }

  void empty(std::size_t i) {
    if (!awaitCopy(i)) return;
    host_.write(memoryOf(i), beginOf(i), bytesOf(i));
    ++(*ring_)[i % request_.slots].rounds;
  }

  /// Returns when a region has been copied; false if it never will be.
  bool awaitCopy(std::size_t i) {
    while (queued_ <= i) {  // another thread is at work on what has to come before
      if (hasFailed_) return false;
      std::this_thread::yield();
      queueCopies();
    }
    ring_->await(i % request_.slots);
    return true;
  }

  /// Whether a region's slot is filled, or for downloads: empty.
  bool canCopy(std::size_t i) {
    return i < regions_ && (*ring_)[i % request_.slots].rounds == i / request_.slots + (isUpload() ? 1 : 0);
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
    while (isUpload() && end % request_.slots != 0 && canCopy(end)) ++end;
    unsigned char *device = request_.device + beginOf(first), *slot = memoryOf(first);
    check(cudaMemcpyAsync(isUpload() ? device : slot, isUpload() ? slot : device, beginOf(end) - beginOf(first),
                          isUpload() ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream()),
          "cudaMemcpyAsync");
    ring_->finishCopy(first % request_.slots, (end - 1) % request_.slots, stream());
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
    if (side_) side_->order(*side_, request_.stream);
  }

  const HostSide& host_;
  const RingRequest request_;
  const int device_;
  const std::size_t regions_;
  LeasedSlots ring_;
  std::optional<SideStream> side_;
  std::atomic<std::size_t> next_{0};     // the first region that no thread has begun with
  std::atomic<std::size_t> queued_{0};   // the first region whose copy has not been queued
  std::atomic<bool> isQueueing_{false};  // whether a thread queues copies
  std::atomic<bool> hasFailed_{false};
  bool isComplete_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

GPUOPT_DETAIL_END
