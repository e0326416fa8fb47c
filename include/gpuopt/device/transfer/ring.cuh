/// \file
/// Transfers of pageable memory: several threads, each of which copies regions through a lane of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transfer/lanes.cuh>
#include <gpuopt/device/transfer/plan.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/streaming_copy.cuh>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// Makes a device the calling thread's current one for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(currentDevice()), device_(device) {
    if (device_ != before_) check(cudaSetDevice(device_), "cudaSetDevice");
  }
  ~DeviceScope() {
    if (device_ != before_) forgetError(cudaSetDevice(before_));
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_, device_;
};

/// A transfer that goes on after the call that began it.
class PendingTransfer {
 public:
  virtual ~PendingTransfer() = default;
  /// Returns when the transfer is done; throws what went wrong. Called once.
  virtual void wait() = 0;
  virtual bool isDone() = 0;
};

/// The host's side of a transfer: bytes in one piece.
struct HostBytes {
  unsigned char* data;
  bool isStreaming = false;

  void read(unsigned char* slot, std::size_t at, std::size_t bytes) const { std::memcpy(slot, data + at, bytes); }
  void write(const unsigned char* slot, std::size_t at, std::size_t bytes) const {
    if (isStreaming)
      copyStreaming(data + at, slot, bytes);
    else
      std::memcpy(data + at, slot, bytes);
  }
};

/// What a ring transfers: `bytes` consecutive bytes of the device's memory.
struct RingRequest {
  unsigned char* device;
  std::size_t bytes;
  std::size_t slotBytes;
  TransferDirection direction;
  bool isDirect;  // one thread alone, the caller's: copies are queued in the user's stream itself
  cudaStream_t stream;
  const char* function;
};

/// \tparam Host reads and writes the host's side: read(slot, at, bytes) and write(slot, at, bytes), by several threads
template <class Host>
class RingTransfer final : public HelpedJob, public PendingTransfer {
 public:
  RingTransfer(const Host& host, const RingRequest& request)
      : host_(host), request_(request), device_(currentDevice()) {
    const RelaxedCapture relaxed;
    if (!request.isDirect) before_.emplace().record(request.stream);
  }

  ~RingTransfer() override {
    try {
      wait();
    } catch (...) {  // nobody asked
    }
  }

  /// Lets up to `helpers` other threads do the work, too.
  void begin(unsigned helpers) { HelperThreads::instance().invite(*this, helpers); }

  /// Does what is left of the work.
  void wait() override {
    if (isComplete_) return;
    isComplete_ = true;
    run();
    HelperThreads::instance().finish(*this);
    const RelaxedCapture relaxed;
    complete();
  }

  bool isDone() override { return done_.load(std::memory_order_acquire) >= request_.bytes; }

  /// The part of one thread.
  void run() noexcept override {
    if (next_.load(std::memory_order_relaxed) >= request_.bytes) return;
    try {
      const RelaxedCapture relaxed;
      const DeviceScope scope(device_);
      TransferLane& lane = join();
      if (request_.direction == TransferDirection::upload)
        upload(lane);
      else
        download(lane);
    } catch (...) {
      fail(std::current_exception());
    }
  }

 private:
  struct Region {
    std::size_t at, bytes;
  };

  /// The next region that no thread has begun with; of no bytes if there is none.
  Region take() {
    const std::size_t at = next_.fetch_add(request_.slotBytes, std::memory_order_relaxed);
    if (at >= request_.bytes) return {request_.bytes, 0};
    return {at, smallerOf(request_.slotBytes, request_.bytes - at)};
  }

  cudaStream_t streamOf(const TransferLane& lane) const { return request_.isDirect ? request_.stream : lane.stream(); }

  TransferLane& join() {
    TransferLane& lane = TransferLanes::instance().acquire(device_, request_.slotBytes, request_.function);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      lanes_.push_back(&lane);
    }
    if (before_) before_->makeWait(lane.stream());
    return lane;
  }

  void copy(TransferLane& lane, unsigned k, const Region& region) {
    const bool isUpload = request_.direction == TransferDirection::upload;
    unsigned char* device = request_.device + region.at;
    check(cudaMemcpyAsync(isUpload ? device : lane.slot(k), isUpload ? lane.slot(k) : device, region.bytes,
                          isUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, streamOf(lane)),
          "cudaMemcpyAsync");
    lane.finishSlot(streamOf(lane));
  }

  void finishRegion(const Region& region) { done_.fetch_add(region.bytes, std::memory_order_release); }

  void upload(TransferLane& lane) {
    for (Region region = take(); region.bytes > 0; region = take()) {
      const unsigned k = lane.turn();
      lane.copied(k).wait();
      host_.read(lane.slot(k), region.at, region.bytes);
      copy(lane, k, region);
      finishRegion(region);
    }
  }

  /// Queues the copy of a region, if it has bytes, to the slot whose turn it is.
  unsigned fetch(TransferLane& lane, const Region& region) {
    const unsigned k = lane.turn();
    if (region.bytes == 0) return k;
    lane.copied(k).wait();
    copy(lane, k, region);
    return k;
  }

  void download(TransferLane& lane) {
    Region region = take();
    unsigned k = fetch(lane, region);
    while (region.bytes > 0) {
      const Region following = take();
      const unsigned other = fetch(lane, following);
      lane.copied(k).wait();
      host_.write(lane.slot(k), region.at, region.bytes);
      finishRegion(region);
      region = following;
      k = other;
    }
  }

  /// Keeps the first error, and ends the work of all threads.
  void fail(std::exception_ptr error) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = error;
    next_.store(request_.bytes, std::memory_order_relaxed);
    done_.store(request_.bytes, std::memory_order_release);
  }

  /// Orders the user's stream after the copies, and gives the lanes back. No thread works on the transfer any more.
  void complete() {
    try {
      if (!error_ && before_ && request_.direction == TransferDirection::upload)
        for (const TransferLane* lane : lanes_) lane->copied(lane->turn() ^ 1).makeWait(request_.stream);
    } catch (...) {
      fail(std::current_exception());
    }
    for (TransferLane* lane : lanes_) {
      if (error_) forgetError(cudaStreamSynchronize(streamOf(*lane)));  // then nothing touches host or device any more
      TransferLanes::instance().release(*lane);
    }
    lanes_.clear();
    if (error_) std::rethrow_exception(error_);
  }

  const Host host_;
  const RingRequest request_;
  const int device_;
  std::optional<TransferEvent> before_;  // what the user's stream had to do before the transfer
  std::atomic<std::size_t> next_{0};     // the first byte that nobody has begun with
  std::atomic<std::size_t> done_{0};     // bytes
  bool isComplete_ = false;
  std::mutex mutex_;  // guards the following
  std::vector<TransferLane*> lanes_;
  std::exception_ptr error_;
};

GPUOPT_DETAIL_END
