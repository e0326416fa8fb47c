/// \file
/// Percentiles of times, in little memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// How long frames took. Any number of times in 16 KiB: they are counted in ranges of 3 %.
class FrameLatency {
 public:
  /// Adds one time.
  void add(std::chrono::nanoseconds time) {
    const auto count = static_cast<std::uint64_t>(time.count() > 0 ? time.count() : 0);
    ++counts_[rangeOf(count)];
    ++count_;
    if (count > largest_) largest_ = count;
  }

  /// How many times were added.
  [[nodiscard]] std::size_t count() const { return count_; }

  /// The longest time.
  [[nodiscard]] std::chrono::nanoseconds longest() const { return nanoseconds(largest_); }

  /// The time that no more than a share of 1 - `share` of all times exceed, too long by up to 3 %: percentile(0.5) is
  /// the median. Zero without times. Throws std::invalid_argument if `share` is not between 0 and 1.
  [[nodiscard]] std::chrono::nanoseconds percentile(double share) const {
    if (!(share >= 0 && share <= 1))
      detail::throwInvalid({"gpuopt::FrameLatency::percentile: share is not between 0 and 1"});
    const double wanted = share * static_cast<double>(count_);
    std::size_t seen = 0;
    for (std::size_t range = 0; range < RANGES; ++range) {
      seen += counts_[range];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        const std::uint64_t end = endOf(range);
        return nanoseconds(end < largest_ ? end : largest_);
      }
    }
    return nanoseconds(0);
  }

 private:
  // 32 ranges for each power of two: the times below 32 one by one.
  static constexpr unsigned BITS = 5;
  static constexpr std::size_t RANGES = (64 - BITS + 1) << BITS;

  static std::chrono::nanoseconds nanoseconds(std::uint64_t count) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(count));
  }

  static std::size_t rangeOf(std::uint64_t count) {
    unsigned shift = 0;
    while (count >> shift >= std::uint64_t{2} << BITS) ++shift;
    return (std::size_t{shift} << BITS) + static_cast<std::size_t>(count >> shift);
  }

  // The largest time of a range.
  static std::uint64_t endOf(std::size_t range) {
    if (range < std::size_t{2} << BITS) return range;
    const std::size_t shift = (range >> BITS) - 1;
    const std::uint64_t leading = range - (shift << BITS);
    return ((leading + 1) << shift) - 1;
  }

  std::array<std::uint64_t, RANGES> counts_{};
  std::size_t count_ = 0;
  std::uint64_t largest_ = 0;
};

GPUOPT_NAMESPACE_END
