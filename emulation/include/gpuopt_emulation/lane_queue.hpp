/// Which lane of a block runs next.
// SPDX-License-Identifier: MIT
#pragma once

#include "limits.hpp"
#include "settings.hpp"

#include <array>
#include <cstdint>
#include <thread>
#include <utility>

// As in fiber.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace gpuopt::emulation::detail {

/// A set of lanes of a block.
class LaneSet {
 public:
  void insert(unsigned i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void erase(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  void insertFirst(unsigned count) {
    for (unsigned i = 0; i < count; ++i) insert(i);
  }

  /// The first element not below `from`, or -1.
  int next(unsigned from) const {
    for (unsigned w = from / 64; w < WORDS; ++w) {
      const std::uint64_t word = w == from / 64 ? words_[w] & (~std::uint64_t{0} << (from % 64)) : words_[w];
      if (word != 0) return static_cast<int>(w * 64) + __builtin_ctzll(word);
    }
    return -1;
  }

  /// The last element, or -1.
  int last() const {
    for (unsigned w = WORDS; w-- > 0;)
      if (words_[w] != 0) return static_cast<int>(w * 64 + 63) - __builtin_clzll(words_[w]);
    return -1;
  }

 private:
  static constexpr unsigned WORDS = MAX_BLOCK_THREADS / 64;
  std::array<std::uint64_t, WORDS> words_{};
};

/// The lanes of a block that can run, and those that have let the others run first.
class LaneQueue {
 public:
  /// All threads of a block can run.
  void begin(unsigned threads, const Schedule& schedule, std::uint64_t block) {
    threads_ = threads;
    order_ = schedule.order;
    ready_ = yielded_ = LaneSet{};
    ready_.insertFirst(threads);
    random_ = (schedule.seed + 1) * 0x9E3779B97F4A7C15u + block;
  }

  void insert(unsigned lane) { ready_.insert(lane); }
  void insertYielded(unsigned lane) { yielded_.insert(lane); }
  bool isEmpty() const { return ready_.next(0) < 0 && yielded_.next(0) < 0; }

  /// Takes out the lane that runs next; -1 if there is none. A lane that yielded runs again when no other can.
  int take() {
    if (ready_.next(0) < 0) {
      std::swap(ready_, yielded_);
      if (ready_.next(0) >= 0) std::this_thread::yield();  // they wait for a block of another worker
    }
    const int lane = pick();
    if (lane >= 0) ready_.erase(static_cast<unsigned>(lane));
    return lane;
  }

 private:
  int pick() {
    switch (order_) {
      case LaneOrder::backward:
        return ready_.last();
      case LaneOrder::random: {
        const int lane = ready_.next(static_cast<unsigned>(randomNumber() % threads_));
        return lane >= 0 ? lane : ready_.next(0);
      }
      default:
        return ready_.next(0);
    }
  }

  std::uint64_t randomNumber() {  // splitmix64
    std::uint64_t z = random_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  LaneSet ready_, yielded_;
  LaneOrder order_ = LaneOrder::forward;
  unsigned threads_ = 0;
  std::uint64_t random_ = 0;
};

}  // namespace gpuopt::emulation::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
