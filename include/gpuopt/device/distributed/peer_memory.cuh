/// \file
/// Device memory that other ranks write: it is there as long as one of them may.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Not from a pool: other processes can open it.
class PeerMemory {
 public:
  explicit PeerMemory(std::size_t bytes) : device_(currentDevice()) {
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    data_ = static_cast<unsigned char*>(memory);
  }
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory() {
    if (!isKept_) forgetError(cudaFree(data_));
  }

  unsigned char* data() const { return data_; }
  int device() const { return device_; }

  // Until the process ends.
  void keep() noexcept { isKept_ = true; }

 private:
  int device_;
  unsigned char* data_ = nullptr;
  std::atomic<bool> isKept_{false};
};

// The memory of all ranks of this process. A rank may end between two calls, by an exception or because it is done. The
// others learn of it only when they have waited for it, and until then their kernels write to its memory. So they own
// it, too. Those of other processes do, since they have opened it.
//
// cudaFree waits for the device of the memory, where a kernel may wait for the very rank that frees. So the last owner
// frees memory of its own device alone. Other memory is freed when a rank of its device is next here.
class PeerMemories {
 public:
  // Never destroyed: teams may be static objects.
  GPUOPT_HIDDEN static PeerMemories& instance() {
    static PeerMemories& memories = *new PeerMemories;
    return memories;
  }

  std::shared_ptr<PeerMemory> make(std::size_t bytes) {
    freeLeft();
    std::shared_ptr<PeerMemory> memory(new PeerMemory(bytes), [](PeerMemory* last) { instance().release(last); });
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.erase(std::remove_if(all_.begin(), all_.end(), [](const auto& each) { return each.expired(); }), all_.end());
    all_.push_back(memory);
    left_.reserve(left_.size() + all_.size());
    return memory;
  }

  // Null if its rank has ended.
  std::shared_ptr<PeerMemory> find(const void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& each : all_)
      if (auto memory = each.lock(); memory != nullptr && memory->data() == address) return memory;
    return nullptr;
  }

 private:
  // Allocates nothing: make() has reserved the place.
  void release(PeerMemory* memory) noexcept {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      left_.emplace_back(memory);
    }
    freeLeft();
  }

  // Of the current device, without the lock: cudaFree may take long.
  void freeLeft() noexcept {
    const RelaxedCapture relaxed;
    int device = -1;
    forgetError(cudaGetDevice(&device));
    while (std::unique_ptr<PeerMemory> memory = takeLeft(device)) {
    }
  }

  std::unique_ptr<PeerMemory> takeLeft(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(left_.begin(), left_.end(), [device](const auto& each) { return each->device() == device; });
    if (found == left_.end()) return nullptr;
    std::unique_ptr<PeerMemory> memory = std::move(*found);
    left_.erase(found);
    return memory;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<PeerMemory>> all_;
  std::vector<std::unique_ptr<PeerMemory>> left_;
};

// What one rank owns of it. Where NCCL may wait for ever, *isStuck, it is kept: cudaFree would wait, too.
class OwnedMemory {
 public:
  OwnedMemory() = default;
  OwnedMemory(std::shared_ptr<PeerMemory> memory, const bool& isStuck)
      : memory_(std::move(memory)), isStuck_(&isStuck) {}
  OwnedMemory(OwnedMemory&&) = default;
  OwnedMemory& operator=(OwnedMemory&&) = default;
  ~OwnedMemory() {
    if (memory_ != nullptr && *isStuck_) memory_->keep();
  }

  unsigned char* data() const { return memory_ != nullptr ? memory_->data() : nullptr; }

 private:
  std::shared_ptr<PeerMemory> memory_;
  const bool* isStuck_ = nullptr;
};

GPUOPT_DETAIL_END
