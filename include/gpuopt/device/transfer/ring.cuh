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
  unsigned threads;  // at most
  TransferDirection direction;
  bool isDirect;  // copies are queued in the user's stream itself; else in one of the transfer's own
  cudaStream_t stream;
  const char* function;
};

/// The lanes of a transfer, one for each thread. They are there before it begins, so that no thread has to allocate.
class LeasedLanes {
 public:
  explicit LeasedLanes(const RingRequest& request) {
    const RelaxedCapture relaxed;
    lanes_.reserve(request.threads);
    try {
      while (lanes_.size() < request.threads)
        lanes_.push_back(&TransferLanes::instance().acquire(currentDevice(), request.slotBytes, request.function));
    } catch (...) {
      release();
      throw;
    }
  }
  ~LeasedLanes() { release(); }
  LeasedLanes(const LeasedLanes&) = delete;
  LeasedLanes& operator=(const LeasedLanes&) = delete;

  /// One for the calling thread; null if all are taken.
  TransferLane* take() {
    const std::size_t i = taken_.fetch_add(1, std::memory_order_relaxed);
    return i < lanes_.size() ? lanes_[i] : nullptr;
  }

 private:
  void release() noexcept {
    for (auto lane = lanes_.rbegin(); lane != lanes_.rend(); ++lane) TransferLanes::instance().release(**lane);
  }

  std::vector<TransferLane*> lanes_;
  std::atomic<std::size_t> taken_{0};
};

/// A stream beside the user's, and what orders the two.
class SideStream {
 public:
  explicit SideStream(cudaStream_t users) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    join(users, stream_);
  }
  ~SideStream() { forgetError(cudaStreamDestroy(stream_)); }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  operator cudaStream_t() const { return stream_; }

  /// What is queued in `later` from now on waits for what has been queued in `earlier`.
  void join(cudaStream_t earlier, cudaStream_t later) {
    event_.record(earlier);
    event_.makeWait(later);
  }

 private:
  Event event_;
  cudaStream_t stream_ = nullptr;
};

/// The copies of all threads are queued in one stream: the copy engine takes longer to change streams than to copy a
/// hundred KiB.
///
/// \tparam Host reads and writes the host's side: read(slot, at, bytes) and write(slot, at, bytes), by several threads
template <class Host>
class RingTransfer final : public HelpedJob, public PendingTransfer {
 public:
  RingTransfer(const Host& host, const RingRequest& request)
      : host_(host), request_(request), device_(currentDevice()), lanes_(request) {
    const RelaxedCapture relaxed;
    if (!request.isDirect) side_.emplace(request.stream);
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
      TransferLane* own = lanes_.take();
      if (own == nullptr) return;
      TransferLane& lane = *own;
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

  cudaStream_t stream() const { return side_ ? static_cast<cudaStream_t>(*side_) : request_.stream; }

  void copy(TransferLane& lane, unsigned k, const Region& region) {
    const bool isUpload = request_.direction == TransferDirection::upload;
    unsigned char* device = request_.device + region.at;
    check(cudaMemcpyAsync(isUpload ? device : lane.slot(k), isUpload ? lane.slot(k) : device, region.bytes,
                          isUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream()),
          "cudaMemcpyAsync");
    lane.finishSlot(stream());
  }

  void finishRegion(const Region& region) { done_.fetch_add(region.bytes, std::memory_order_release); }

  void upload(TransferLane& lane) {
    for (Region region = take(); region.bytes > 0; region = take()) {
      const unsigned k = lane.turn();
      lane.await(k);
      host_.read(lane.slot(k), region.at, region.bytes);
      copy(lane, k, region);
      finishRegion(region);
    }
  }

  /// Queues the copy of a region, if it has bytes, to the slot whose turn it is.
  unsigned fetch(TransferLane& lane, const Region& region) {
    const unsigned k = lane.turn();
    if (region.bytes == 0) return k;
    lane.await(k);
    copy(lane, k, region);
    return k;
  }

  void download(TransferLane& lane) {
    Region region = take();
    unsigned k = fetch(lane, region);
    while (region.bytes > 0) {
      const Region following = take();
      const unsigned other = fetch(lane, following);
      lane.await(k);
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

  /// Orders the user's stream after the copies. No thread works on the transfer any more.
  void complete() {
    if (error_) {
      forgetError(cudaStreamSynchronize(stream()));  // then nothing uses host or device any more
      std::rethrow_exception(error_);
    }
    if (side_) side_->join(*side_, request_.stream);
  }

  const Host host_;
  const RingRequest request_;
  const int device_;
  LeasedLanes lanes_;
  std::optional<SideStream> side_;
  std::atomic<std::size_t> next_{0};  // the first byte that nobody has begun with
  std::atomic<std::size_t> done_{0};  // bytes
  bool isComplete_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

GPUOPT_DETAIL_END
