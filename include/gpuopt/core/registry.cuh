/// \file
/// A small map with linear search.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// What the library remembers between calls: few entries, never removed, with faster caches in front. A vector, since
/// <map> would add to every user's compile time. add() invalidates pointers to values.
template <class Key, class Value>
class Registry {
 public:
  /// The value of a key, or null.
  Value* find(const Key& key) {
    for (auto& entry : entries_)
      if (entry.first == key) return &entry.second;
    return nullptr;
  }

  Value& add(const Key& key, const Value& value) {
    entries_.push_back({key, value});
    return entries_.back().second;
  }

  typename std::vector<std::pair<Key, Value>>::size_type size() const { return entries_.size(); }

 private:
  std::vector<std::pair<Key, Value>> entries_;
};

GPUOPT_DETAIL_END
