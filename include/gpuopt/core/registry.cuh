/// \file
/// A small map that is searched from its beginning.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// What the library remembers for its calls: few entries behind caches of their own, never removed. A plain
/// vector instead of std::map spares every user's compilation the latter's headers. Pointers to values do not
/// survive the next add().
template <class Key, class Value>
class Registry {
 public:
  /// The value of a key, null where there is none.
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

}  // namespace detail
GPUOPT_NAMESPACE_END
