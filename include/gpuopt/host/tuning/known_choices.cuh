/// \file
/// Choices by device and size that any threads look up without a lock.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <atomic>
#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

/// A cache. Devices whose numbers are alike modulo 8 displace each other; a choice is at most 65534.
class KnownChoices {
 public:
  /// The choice, or `otherwise` if it is not known, or was before `generation`.
  std::size_t find(int device, int logSize, unsigned generation, std::size_t otherwise) const {
    const std::uint64_t entry = entries_[row(device)][logSize].load(std::memory_order_relaxed);
    return entry >> CHOICE_BITS == tag(device, generation) ? entry & MASK : otherwise;
  }

  void keep(int device, int logSize, unsigned generation, std::size_t choice) {
    entries_[row(device)][logSize].store(tag(device, generation) << CHOICE_BITS | choice, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned DEVICES = 8, LOG_SIZES = 64, CHOICE_BITS = 16, DEVICE_BITS = 16;
  static constexpr std::uint64_t MASK = (1u << CHOICE_BITS) - 1;

  static unsigned row(int device) { return static_cast<unsigned>(device) % DEVICES; }

  // Not 0, as an empty entry has: generations begin with 1.
  static std::uint64_t tag(int device, unsigned generation) {
    return std::uint64_t{generation} << DEVICE_BITS | static_cast<std::uint16_t>(device);
  }

  std::atomic<std::uint64_t> entries_[DEVICES][LOG_SIZES]{};
};

GPUOPT_DETAIL_END
