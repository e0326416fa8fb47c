/// \file
/// Lanes of transfers: two pinned slots of a thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/pinned.cuh>

#include <cstddef>
#include <mutex>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// Two slots that take turns: while the device copies one, a thread fills or empties the other.
class TransferLane {
 public:
  TransferLane(int device, std::size_t slotBytes, const char* function)
      : device_(device), memory_(PinnedPool::instance().acquire(2 * slotBytes, function)) {}
  ~TransferLane() {
    for (Slot& slot : slots_) slot.copied.waitQuietly();
    PinnedPool::instance().release(memory_);
  }
  TransferLane(const TransferLane&) = delete;
  TransferLane& operator=(const TransferLane&) = delete;

  int device() const { return device_; }
  std::size_t slotBytes() const { return memory_.bytes / 2; }
  unsigned char* slot(unsigned k) const { return memory_.data + k * slotBytes(); }

  /// The slot whose turn it is.
  unsigned turn() const { return turn_; }

  /// Waits for the latest copy of a slot.
  void await(unsigned k) {
    if (slots_[k].isCopying) slots_[k].copied.wait();
    slots_[k].isCopying = false;
  }

  /// Marks the end of the copy that has been queued for the slot whose turn it is. The other one's turn begins.
  void finishSlot(cudaStream_t stream) {
    slots_[turn_].isCopying = true;
    slots_[turn_].copied.record(stream);
    turn_ ^= 1;
  }

  /// Whether a slot can be had without waiting for the device.
  bool isReady() const { return !slots_[turn_].isCopying || slots_[turn_].copied.isDone(); }

 private:
  struct Slot {
    Event copied;
    bool isCopying = false;
  };

  int device_;
  unsigned turn_ = 0;
  Slot slots_[2];
  PinnedBlock memory_;  // last: nothing that throws comes after it
};

/// The lanes of all devices and threads. Those that nobody uses keep their slots for the next transfer.
class TransferLanes {
 public:
  /// Never destroyed: at exit the context may be gone.
  GPUOPT_HIDDEN static TransferLanes& instance() {
    static TransferLanes& lanes = *new TransferLanes;
    return lanes;
  }

  /// A lane of the current device with slots of at least `slotBytes`, for one thread. Its copies are done, unless there
  /// are too many lanes already: a transfer must not wait for another one's stream.
  TransferLane& acquire(int device, std::size_t slotBytes, const char* function) {
    std::vector<TransferLane*> busy;
    TransferLane* lane = takeIdle(device, slotBytes);
    while (lane != nullptr && !lane->isReady()) {
      busy.push_back(lane);
      lane = takeIdle(device, slotBytes);
    }
    if (lane == nullptr && !busy.empty() && isFull()) {
      lane = busy.back();
      busy.pop_back();
    }
    putBack(busy);
    return lane != nullptr ? *lane : make(device, slotBytes, function);
  }

  void release(TransferLane& lane) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(&lane);  // does not allocate: acquire() reserved the capacity
  }

  /// Waits for the copies of the lanes that nobody uses, and gives their memory back to the pool.
  void trim() {
    std::vector<TransferLane*> lanes;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      lanes.assign(idle_.begin(), idle_.end());
      idle_.clear();
    }
    const RelaxedCapture relaxed;
    for (TransferLane* lane : lanes) forget(lane);
  }

 private:
  /// The lane that was used last of those that are large enough; null if there is none. No calls of the runtime under
  /// the lock, which many threads want at once.
  TransferLane* takeIdle(int device, std::size_t slotBytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = idle_.size(); i-- > 0;) {
      TransferLane* lane = idle_[i];
      if (lane->device() != device || lane->slotBytes() < slotBytes) continue;
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      return lane;
    }
    return nullptr;
  }

  void putBack(const std::vector<TransferLane*>& lanes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.insert(idle_.begin(), lanes.begin(), lanes.end());
  }

  bool isFull() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_ >= mostTransferLanes;
  }

  TransferLane& make(int device, std::size_t slotBytes, const char* function) {
    auto* lane = new TransferLane(device, slotBytes, function);
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.reserve(++count_);
    return *lane;
  }

  void forget(TransferLane* lane) {
    delete lane;
    const std::lock_guard<std::mutex> lock(mutex_);
    --count_;
  }

  std::mutex mutex_;
  std::vector<TransferLane*> idle_;
  std::size_t count_ = 0;
};

GPUOPT_DETAIL_END
