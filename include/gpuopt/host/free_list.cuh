/// \file
/// What the library keeps for its next use, for all threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <mutex>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// Things of which nobody uses those in the list.
template <class T>
class FreeList {
 public:
  /// Takes the one that suits and came back last; T{} if none does.
  template <class Suits>
  T take(const Suits& suits) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = free_.size(); i-- > 0;) {
      if (!suits(free_[i])) continue;
      const T found = free_[i];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    return {};
  }

  /// Takes all of them for good.
  std::vector<T> takeAll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<T> all(free_.begin(), free_.end());
    free_.clear();  // keeps the capacity
    count_ -= all.size();
    return all;
  }

  /// Counts some that exist from now on, in use or not.
  void add(std::size_t count = 1) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.reserve(count_ + count);
    count_ += count;
  }

  /// One that was counted does not exist.
  void forget() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    --count_;
  }

  /// Gives one back.
  void put(T item) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(item);  // does not allocate: add() reserved the capacity
  }

  /// Gives some back that are taken after all others.
  void putLast(const std::vector<T>& items) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.insert(free_.begin(), items.begin(), items.end());
  }

  /// Those in use and those in the list.
  std::size_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::vector<T> free_;
  std::size_t count_ = 0;
};

GPUOPT_DETAIL_END
