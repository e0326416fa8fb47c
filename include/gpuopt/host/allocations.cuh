/// \file
/// The allocations and registrations that many arrays of the host's are in.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/host_memory.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// The allocations of many arrays, each of which the driver is asked for once.
class Allocations {
 public:
  /// Whether an array is in one of them.
  bool contain(const void* data, std::size_t bytes) {
    if (!latest_.contains(data, bytes)) latest_ = find(data);
    return latest_.contains(data, bytes);
  }

 private:
  HostRange find(const void* data) {
    const auto isBefore = [](const void* address, const HostRange& range) {
      return reinterpret_cast<std::uintptr_t>(address) < range.begin;
    };
    const auto next = std::upper_bound(known_.begin(), known_.end(), data, isBefore);
    if (next != known_.begin() && std::prev(next)->contains(data, 1)) return *std::prev(next);
    const HostRange found = allocationOf(data);
    if (found.contains(data, 1)) known_.insert(next, found);
    return found;
  }

  std::vector<HostRange> known_;  // sorted
  HostRange latest_;
};

GPUOPT_DETAIL_END
