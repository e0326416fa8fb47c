/// \file
/// A small map with linear search, shared by threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// What the library remembers between calls: few entries, never removed, with faster caches in front. A vector, since
/// <map> would add to every user's compile time.
template <class Key, class Value>
class Registry {
 public:
  /// The value of a key. If it has none yet, make() returns it, called under the lock. Value{} for a new key when
  /// maxEntries keys have one.
  template <class Make>
  Value get(const Key& key, const Make& make, std::size_t maxEntries = static_cast<std::size_t>(-1)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& entry : entries_)
      if (entry.first == key) return entry.second;
    if (entries_.size() == maxEntries) return Value{};
    entries_.push_back({key, make()});
    return entries_.back().second;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, Value>> entries_;
};

GPUOPT_DETAIL_END
