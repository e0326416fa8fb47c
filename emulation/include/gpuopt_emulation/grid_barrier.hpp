/// The barrier of all blocks of a cooperative launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace gpuopt::emulation::detail {

/// Each block of the launch runs on a worker of its own, which may therefore sleep here.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : blocks_(blocks) {}

  /// Called by one lane of each block: waits for all blocks. False if one has left the kernel, so that they never all
  /// come.
  bool arriveAndWait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::uint64_t round = round_;
    if (++arrived_ == blocks_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || left_ > 0; });
    return round_ != round;
  }

  /// Called when a block has ended.
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++left_;
    changed_.notify_all();
  }

 private:
  const std::uint64_t blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t arrived_ = 0, round_ = 0, left_ = 0;
};

}  // namespace gpuopt::emulation::detail
