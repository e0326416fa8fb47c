/// Which accesses are ordered before which: logical clocks of the threads of a block, and what fences carry from block
/// to block.
///
/// Each thread has a clock, which advances at whatever orders it with others. A barrier sets the clocks of all threads
/// to one time, so that whatever happened before that time is ordered for all of them; a warp's collective does so for
/// a warp. That makes one number a block and one a warp out of most vector clocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "order.hpp"
#include "shadow.hpp"

#include "gpuopt_emulation/limits.hpp"
#include "gpuopt_emulation/observer.hpp"
#include "gpuopt_emulation/scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// Up to when a thread knows of others of one launch: of single ones, of warps, of blocks.
class LaunchKnowledge {
 public:
  explicit LaunchKnowledge(MomentPointer launch) : launch_(std::move(launch)) {}

  const MomentPointer& launch() const { return launch_; }

  void learnLane(std::uint32_t run, unsigned lane, std::uint32_t time) { learn(key(run, lane), time); }
  void learnWarp(std::uint32_t run, unsigned warp, std::uint32_t time) { learn(key(run, WARPS + warp), time); }
  void learnBlock(std::uint32_t run, std::uint32_t time) { learn(key(run, BLOCK), time); }
  void learn(const LaunchKnowledge& other) {
    for (const auto& [who, time] : other.until_) learn(who, time);
  }

  bool covers(const Record& access) const {
    const auto lane = static_cast<unsigned>(access.lane);
    return access.time < until(key(access.run, BLOCK)) ||
           access.time < until(key(access.run, WARPS + lane / WARP_LANES)) ||
           access.time < until(key(access.run, lane));
  }

 private:
  static constexpr unsigned WARPS = MAX_BLOCK_THREADS, BLOCK = 2 * MAX_BLOCK_THREADS - 1;
  static std::uint64_t key(std::uint32_t run, unsigned who) {
    return std::uint64_t{run} * (2 * MAX_BLOCK_THREADS) + who;
  }
  void learn(std::uint64_t who, std::uint32_t time) {
    std::uint32_t& known = until_[who];
    known = (std::max)(known, time);
  }
  std::uint32_t until(std::uint64_t who) const {
    const auto found = until_.find(who);
    return found == until_.end() ? 0 : found->second;
  }

  MomentPointer launch_;
  std::unordered_map<std::uint64_t, std::uint32_t> until_;
};

/// Up to when a thread knows of others, of any launch. Never changed once it is shared.
class Knowledge {
 public:
  /// What comes before a launch in the order of streams is known with it. So there are not more launches than streams.
  void learn(const LaunchKnowledge& other) {
    for (LaunchKnowledge& known : launches_) {
      if (known.launch() == other.launch()) {
        known.learn(other);
        return;
      }
      if (isBefore(other, known)) return;
    }
    dropIf([&](const LaunchKnowledge& known) { return isBefore(known, other); });
    launches_.push_back(other);
  }
  void learn(const Knowledge& other) {
    for (const LaunchKnowledge& launch : other.launches_) learn(launch);
  }

  template <class Is>
  void dropIf(Is is) {
    launches_.erase(std::remove_if(launches_.begin(), launches_.end(), is), launches_.end());
  }

  /// The launches whose threads this is of: what came before them in their streams is known, too.
  const std::vector<LaunchKnowledge>& launches() const { return launches_; }

  bool covers(const Record& access) const {
    return std::any_of(launches_.begin(), launches_.end(),
                       [&access](const LaunchKnowledge& launch) { return launch.covers(access); });
  }

 private:
  static bool isBefore(const LaunchKnowledge& a, const LaunchKnowledge& b) {
    return a.launch() != nullptr && b.launch() != nullptr && detail::isBefore(*a.launch(), b.launch()->clock);
  }

  std::vector<LaunchKnowledge> launches_;
};

using KnowledgePointer = std::shared_ptr<const Knowledge>;

inline void learn(KnowledgePointer& known, const KnowledgePointer& other) {
  if (other == nullptr || known == other) return;
  if (known == nullptr) {
    known = other;
    return;
  }
  const auto both = std::make_shared<Knowledge>(*known);
  both->learn(*other);
  known = both;
}

enum class FenceScope { block, device };

/// What a thread passes on, or may take over, by a flag or a counter: to threads of its block, and to all.
struct Passed {
  KnowledgePointer toBlock, toAll;
};

/// What was passed on by the words of memory that threads have written after a fence.
class Flags {
 public:
  void release(std::uintptr_t address, std::uint32_t run, const Passed& passed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Flag& flag = flags_[address];
    if (flag.run != run) flag.passed.toBlock = nullptr;
    flag.run = run;
    learn(flag.passed.toBlock, passed.toBlock);
    learn(flag.passed.toAll, passed.toAll);
    isUsed_ = true;
  }

  void acquire(std::uintptr_t address, std::uint32_t run, Passed& passed) {
    if (!isUsed_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = flags_.find(address);
    if (found == flags_.end()) return;
    if (found->second.run == run) learn(passed.toBlock, found->second.passed.toBlock);
    learn(passed.toAll, found->second.passed.toAll);
  }

  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    flags_.clear();
    isUsed_ = false;
  }

 private:
  struct Flag {
    std::uint32_t run = 0;  // that toBlock is of
    Passed passed;
  };
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, Flag> flags_;
  std::atomic<bool> isUsed_{false};
};

/// The clocks of the threads of one block.
class BlockClocks {
 public:
  /// `known`: from the launches before this one.
  void begin(std::uint32_t run, unsigned threads, const MomentPointer& launch, const KnowledgePointer& known) {
    run_ = run;
    barrier_ = 1;
    launch_ = launch;
    known_ = known;
    lanes_.assign(threads, LaneClock());
    warps_.resize((threads + WARP_LANES - 1) / WARP_LANES);
    for (Warp& warp : warps_) warp.begin();
  }

  std::uint32_t run() const { return run_; }
  std::uint32_t time(unsigned lane) const { return lanes_[lane].time; }

  /// After a barrier of the whole grid, all that came before has another run.
  void setRun(std::uint32_t run) { run_ = run; }

  /// Whether an access of this block, or one that fences passed on, comes before what a thread does now.
  bool isOrdered(const Record& access, unsigned lane) const {
    if (access.run != run_) return isKnown(access, lane);
    const auto other = static_cast<unsigned>(access.lane);
    if (access.way() == AccessWay::copy) return false;
    if (other == lane || access.time < barrier_) return true;
    const Warp& warp = warps_[lane / WARP_LANES];
    if (other / WARP_LANES == lane / WARP_LANES) {
      if (access.time < warp.time) return true;
      if (warp.isPartial && access.time < warp.known[lane % WARP_LANES][other % WARP_LANES]) return true;
    }
    return isKnown(access, lane);
  }

  /// Whether a launch of which a thread knows by flags is such a one.
  template <class Is>
  bool knowsLaunch(unsigned lane, Is is) const {
    for (const Knowledge* const known : knowledgeOf(lane))
      if (known != nullptr && std::any_of(known->launches().begin(), known->launches().end(),
                                          [&](const LaunchKnowledge& launch) { return is(launch.launch()); }))
        return true;
    return false;
  }

  /// All threads have met.
  void meetAll(Flags& flags) {
    for (unsigned i = 0; i < lanes_.size(); ++i) {
      LaneClock& lane = lanes_[i];
      takeOver(i, FenceScope::device, flags);
      learn(known_, lane.known);
      lane.known = nullptr;
      barrier_ = (std::max)(barrier_, lane.time);
    }
    ++barrier_;
    for (Warp& warp : warps_) {
      learn(known_, warp.known_);
      warp.begin();
      warp.time = barrier_;
    }
    for (LaneClock& lane : lanes_) lane.time = barrier_;
  }

  /// Those lanes of a warp have met.
  void meet(unsigned first, unsigned mask, Flags& flags) {
    Warp& warp = warps_[first / WARP_LANES];
    const auto present = (std::min)(static_cast<unsigned>(lanes_.size()) - first, WARP_LANES);
    const bool isWhole = static_cast<unsigned>(__builtin_popcount(mask)) == present;
    std::uint32_t time = 0;
    KnowledgePointer known;
    forEachLane(mask, [&](unsigned i) {
      takeOver(first + i, FenceScope::block, flags);
      time = (std::max)(time, lanes_[first + i].time);
      learn(known, lanes_[first + i].known);
    });
    if (isWhole) {
      learn(warp.known_, known);
      warp.isPartial = false;
      warp.time = time + 1;
    } else {
      warp.meet(mask, time + 1);
    }
    forEachLane(mask, [&](unsigned i) {
      lanes_[first + i].time = time + 1;
      lanes_[first + i].known = isWhole ? nullptr : known;
    });
  }

  /// What the threads have learnt up to the block's end.
  KnowledgePointer known(Flags& flags) {
    KnowledgePointer all = known_;
    for (unsigned i = 0; i < lanes_.size(); ++i) {
      takeOver(i, FenceScope::device, flags);
      learn(all, lanes_[i].known);
    }
    for (const Warp& warp : warps_) learn(all, warp.known_);
    return all;
  }

  /// A thread has read or written a word that may be a flag.
  void look(unsigned lane, std::uintptr_t address) {
    LaneClock& clock = lanes_[lane];
    const unsigned count = (std::min)(clock.looks, LOOKS);
    for (unsigned i = 0; i < count; ++i)
      if (clock.looked[i] == address) return;
    clock.looked[clock.looks++ % LOOKS] = address;
  }

  /// What a thread does from now on comes after what the flags that it has read pass on.
  void acquire(unsigned lane, Flags& flags) { takeOver(lane, FenceScope::device, flags); }

  /// A thread's fence: what it does from now on comes after what it has seen, and before what it tells.
  void fence(unsigned lane, FenceScope scope, Flags& flags) {
    takeOver(lane, scope, flags);
    LaneClock& clock = lanes_[lane];
    LaunchKnowledge own(launch_);
    const Warp& warp = warps_[lane / WARP_LANES];
    own.learnLane(run_, lane, ++clock.time);
    own.learnBlock(run_, barrier_);
    own.learnWarp(run_, lane / WARP_LANES, warp.time);
    if (warp.isPartial)
      for (unsigned i = 0; i < WARP_LANES; ++i)
        own.learnLane(run_, lane / WARP_LANES * WARP_LANES + i, warp.known[lane % WARP_LANES][i]);
    const auto told = std::make_shared<Knowledge>();
    told->learn(own);
    KnowledgePointer all = told;
    for (const KnowledgePointer& known : {clock.known, warp.known_, known_}) learn(all, known);
    clock.told.toBlock = all;
    if (scope == FenceScope::device) clock.told.toAll = all;
  }

  /// A thread writes a word that may be a flag.
  void tell(unsigned lane, std::uintptr_t address, Flags& flags) const {
    const Passed& told = lanes_[lane].told;
    if (told.toBlock != nullptr) flags.release(address, run_, told);
  }

 private:
  static constexpr unsigned LOOKS = 8;

  struct LaneClock {
    std::uint32_t time = 1;
    unsigned looks = 0;
    std::array<std::uintptr_t, LOOKS> looked{};
    KnowledgePointer known;
    Passed told;
  };

  struct Warp {
    std::uint32_t time = 1;  // what came before is ordered for all its lanes
    bool isPartial = false;  // some lanes have met since
    std::array<std::array<std::uint32_t, WARP_LANES>, WARP_LANES> known;  // then: until when a lane knows of another
    KnowledgePointer known_;

    void begin() {
      time = 1;
      isPartial = false;
      known_ = nullptr;
    }

    void meet(unsigned mask, std::uint32_t now) {
      if (!isPartial)
        for (auto& row : known) row.fill(time);
      isPartial = true;
      std::array<std::uint32_t, WARP_LANES> all{};
      forEachLane(mask, [&](unsigned i) {
        for (unsigned j = 0; j < WARP_LANES; ++j) all[j] = (std::max)(all[j], known[i][j]);
      });
      forEachLane(mask, [&](unsigned i) { all[i] = now; });
      forEachLane(mask, [&](unsigned i) { known[i] = all; });
    }
  };

  std::array<const Knowledge*, 3> knowledgeOf(unsigned lane) const {
    return {lanes_[lane].known.get(), warps_[lane / WARP_LANES].known_.get(), known_.get()};
  }

  bool isKnown(const Record& access, unsigned lane) const {
    for (const Knowledge* const known : knowledgeOf(lane))
      if (known != nullptr && known->covers(access)) return true;
    return false;
  }

  /// Learns what the flags that a thread has read since its last fence pass on.
  void takeOver(unsigned lane, FenceScope scope, Flags& flags) {
    LaneClock& clock = lanes_[lane];
    const unsigned count = (std::min)(clock.looks, LOOKS);
    if (count == 0) return;
    Passed passed;
    for (unsigned i = 0; i < count; ++i) flags.acquire(clock.looked[i], run_, passed);
    learn(clock.known, passed.toBlock);
    if (scope != FenceScope::device) return;  // the rest remains to be learnt by a wider fence
    learn(clock.known, passed.toAll);
    clock.looks = 0;
  }

  std::uint32_t run_ = 0;
  std::uint32_t barrier_ = 1;
  MomentPointer launch_;
  std::vector<LaneClock> lanes_;
  std::vector<Warp> warps_;
  KnowledgePointer known_;  // of all threads, from their last barrier
};

}  // namespace gpuopt::emulation::detail
