/// \file
/// Pinned memory that transfers go through, in slots.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/free_list.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/workspace.cuh>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// The state of a slot, which the threads of a transfer share.
struct TransferSlot {
  std::atomic<std::size_t> rounds{0};  // how often a thread has filled it, or emptied it
  Event copied;                        // after the latest copy that ended with this slot
  std::size_t lastOfCopy = 0;          // the slot that the latest copy of this one ended with
};

/// The slots of one transfer at a time.
class TransferSlots {
 public:
  TransferSlots(int device, std::size_t bytes, const char* function)
      : device_(device), memory_(PinnedPool::instance().acquire(bytes, function)) {}
  ~TransferSlots() {
    if (isCopying_) slots_[last_]->copied.waitQuietly();
    PinnedPool::instance().release(memory_);
  }
  TransferSlots(const TransferSlots&) = delete;
  TransferSlots& operator=(const TransferSlots&) = delete;

  int device() const { return device_; }
  std::size_t bytes() const { return memory_.bytes; }

  /// Whether there is no copy.
  bool isIdle() {
    if (isCopying_ && slots_[last_]->copied.isDone()) isCopying_ = false;
    return !isCopying_;
  }

  /// Whether the copies are queued ones in the order of a stream, so that more in that order may follow them.
  bool isInOrderOf(const StreamKey& stream) const { return queuedIn_ && *queuedIn_ == stream; }

  /// Begins a transfer that has `count` slots. Waits for copies, unless the transfer is queued in a stream: then it
  /// must not touch the slots before what makeWait() waits for.
  void begin(std::size_t count, const StreamKey* queuedIn) {
    if (queuedIn == nullptr && isCopying_) slots_[last_]->copied.wait();
    if (queuedIn == nullptr) isCopying_ = false;
    queuedIn_ = queuedIn != nullptr ? std::make_optional(*queuedIn) : std::nullopt;
    while (slots_.size() < count) slots_.push_back(std::make_unique<TransferSlot>());
    for (const auto& slot : slots_) slot->rounds.store(0, std::memory_order_relaxed);
  }

  /// Whether there may be copies of the transfer before.
  bool isBusy() const { return isCopying_; }

  /// Makes a stream wait for them.
  void makeWait(cudaStream_t stream) {
    if (isCopying_) slots_[last_]->copied.makeWait(stream);
  }

  TransferSlot& operator[](std::size_t i) { return *slots_[i]; }
  unsigned char* memory() const { return memory_.data; }

  /// Marks the end of a copy that has been queued for the slots from `first` to `last`, or of what follows it.
  void finishCopy(std::size_t first, std::size_t last, cudaStream_t stream) {
    slots_[last]->copied.record(stream);
    for (std::size_t i = first; i <= last; ++i) slots_[i]->lastOfCopy = last;
    last_ = last;
    isCopying_ = true;
  }

  /// Waits for the latest copy of a slot.
  void await(std::size_t i) { slots_[slots_[i]->lastOfCopy]->copied.wait(); }

 private:
  int device_;
  std::vector<std::unique_ptr<TransferSlot>> slots_;
  std::size_t last_ = 0;  // that the latest copy of all ended with
  bool isCopying_ = false;
  std::optional<StreamKey> queuedIn_;
  PinnedBlock memory_;  // last: nothing that throws comes after it
};

/// The slots of all devices and threads. Those that nobody uses are kept for the next transfer.
class TransferSlotsPool {
 public:
  /// Never destroyed: at exit the context may be gone.
  GPUOPT_HIDDEN static TransferSlotsPool& instance() {
    static TransferSlotsPool& pool = *new TransferSlotsPool;
    return pool;
  }

  /// Slots of the current device of at least `bytes` bytes together. They are idle, unless there are too many already:
  /// a transfer must not wait for another one's stream. One that is queued in a stream shares slots with those before
  /// it there.
  TransferSlots& acquire(int device, std::size_t bytes, const char* function, const StreamKey* queuedIn) {
    std::vector<TransferSlots*> busy;
    TransferSlots* slots = take(device, bytes);
    while (slots != nullptr && !slots->isIdle()) {  // asks the runtime: not under the lock
      busy.push_back(slots);
      slots = take(device, bytes);
    }
    if (slots == nullptr && unused_.count() >= maxTransferSlots) slots = takeBusy(busy, queuedIn);
    unused_.putLast(busy);
    return slots != nullptr ? *slots : make(device, bytes, function);
  }

  void release(TransferSlots& slots) noexcept { unused_.put(&slots); }

  /// Waits for the copies of the slots that nobody uses, and gives their memory back to the pool.
  void trim() {
    const RelaxedCapture relaxed;
    for (TransferSlots* slots : unused_.takeAll()) delete slots;
  }

 private:
  /// The most recently used slots that are large enough; null if there are none.
  TransferSlots* take(int device, std::size_t bytes) {
    return unused_.take([=](TransferSlots* slots) { return slots->device() == device && slots->bytes() >= bytes; });
  }

  /// The least recently used slots, with `queuedIn` of those whose copies are in the order of that stream; null if
  /// there are none.
  static TransferSlots* takeBusy(std::vector<TransferSlots*>& busy, const StreamKey* queuedIn) {
    for (std::size_t i = busy.size(); i-- > 0;) {
      TransferSlots* slots = busy[i];
      if (queuedIn != nullptr && !slots->isInOrderOf(*queuedIn)) continue;
      busy.erase(busy.begin() + static_cast<std::ptrdiff_t>(i));
      return slots;
    }
    return nullptr;
  }

  TransferSlots& make(int device, std::size_t bytes, const char* function) {
    auto slots = std::make_unique<TransferSlots>(device, bytes, function);
    unused_.add();
    return *slots.release();
  }

  FreeList<TransferSlots*> unused_;
};

/// Slots for a scope.
class LeasedSlots {
 public:
  /// `bytes` bytes in `count` slots, which are idle; or may be used in the order of a stream.
  LeasedSlots(std::size_t bytes, std::size_t count, const char* function, const StreamKey* queuedIn = nullptr)
      : slots_(lease(bytes, count, function, queuedIn)) {}
  ~LeasedSlots() { TransferSlotsPool::instance().release(slots_); }
  LeasedSlots(const LeasedSlots&) = delete;
  LeasedSlots& operator=(const LeasedSlots&) = delete;

  TransferSlots* operator->() const { return &slots_; }
  TransferSlots& operator*() const { return slots_; }

 private:
  static TransferSlots& lease(std::size_t bytes, std::size_t count, const char* function, const StreamKey* queuedIn) {
    const RelaxedCapture relaxed;
    TransferSlots& slots = TransferSlotsPool::instance().acquire(currentDevice(), bytes, function, queuedIn);
    try {
      slots.begin(count, queuedIn);
    } catch (...) {
      TransferSlotsPool::instance().release(slots);
      throw;
    }
    return slots;
  }

  TransferSlots& slots_;
};

GPUOPT_DETAIL_END
