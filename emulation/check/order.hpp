/// The order of what the host queues in streams: a vector clock for each stream and one for the host.
///
/// A piece of work comes after all that was queued in its stream before, after the events that its stream waits for,
/// and after all that the host has waited for. The legacy default stream and the blocking streams of its device wait
/// for each other. All threads of the host count as one.
// SPDX-License-Identifier: MIT
#pragma once

#include "gpuopt_emulation/observer.hpp"
#include "gpuopt_emulation/symbols.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

/// How many pieces of work of each timeline are known to be done. What is missing is 0.
class WorkClock {
 public:
  std::uint32_t of(std::size_t timeline) const { return timeline < counts_.size() ? counts_[timeline] : 0; }
  void set(std::size_t timeline, std::uint32_t count) {
    if (timeline >= counts_.size()) counts_.resize(timeline + 1);
    counts_[timeline] = count;
  }
  void join(const WorkClock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] = (std::max)(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<std::uint32_t> counts_;
};

/// A piece of work in the order of streams: what comes before it, and which call has queued it.
struct Moment {
  StreamName stream;
  std::size_t timeline;
  std::uint32_t count;  ///< the first one of its timeline has 1
  WorkClock clock;
  std::vector<std::uintptr_t> calls;  ///< return addresses of the call that queued it, inner ones first
  /// What comes before it besides, by flags that launches before it have read. Known when it begins; of the Checker.
  mutable WorkClock byFlags;
};

inline bool isBefore(const Moment& first, const WorkClock& clock) { return first.count <= clock.of(first.timeline); }

inline bool isBefore(const Moment& first, const Moment& second) {
  return isBefore(first, second.clock) || isBefore(first, second.byFlags);
}

/// Whether one of two pieces of work comes before the other. Those of an unknown moment are taken to be ordered.
inline bool areOrdered(const Moment* a, const Moment* b) {
  return a == nullptr || b == nullptr || a == b || isBefore(*a, *b) || isBefore(*b, *a);
}

/// What came before a piece of work began.
inline WorkClock clockBefore(const Moment& moment) {
  WorkClock clock = moment.clock;
  clock.join(moment.byFlags);
  clock.set(moment.timeline, moment.count - 1);
  return clock;
}

/// "stream 3": as cudaStreamGetId numbers it.
inline std::string describeStream(const StreamName& stream) {
  std::string text = stream.id == 0   ? "the default stream"
                     : stream.id == 2 ? "the default stream of its thread"
                                      : "stream " + std::to_string(stream.id);
  if (stream.device > 0) text += " of device " + std::to_string(stream.device);
  return text;
}

/// The calls that lead here, inner ones first.
inline std::vector<std::uintptr_t> callersOfHere() {
  constexpr std::size_t MOST = 24;
  std::vector<std::uintptr_t> calls;
  const auto visit = [](void* found, std::uintptr_t pc) {
    auto& all = *static_cast<std::vector<std::uintptr_t>*>(found);
    all.push_back(pc + 1);
    return all.size() < MOST ? 0 : 1;
  };
  backtrace_simple(backtraceState(), 1, visit, ignoreBacktraceError, &calls);
  return calls;
}

/// The clocks of all streams and of the host.
class StreamOrder {
 public:
  MomentPointer queued(const std::vector<StreamName>& streams, const std::vector<MomentPointer>& after) {
    auto moment = std::make_shared<Moment>();
    moment->stream = streams.front();
    moment->calls = callersOfHere();
    const std::lock_guard<std::mutex> lock(mutex_);
    WorkClock& clock = moment->clock;
    clock.join(host_);
    for (const MomentPointer& other : after)
      if (other != nullptr) clock.join(other->clock);
    for (const StreamName& stream : streams) joinStream(clock, stream);
    moment->timeline = timelineOf(streams.front());
    moment->count = ++timelines_[moment->timeline].count;
    clock.set(moment->timeline, moment->count);
    for (const StreamName& stream : streams) timelines_[timelineOf(stream)].clock = clock;
    isAllAwaited_ = isAllWaitedFor_ = false;
    return moment;
  }

  void awaited(const WorkClock& clock) {
    const std::lock_guard<std::mutex> lock(mutex_);
    learn(clock);
  }

  /// The host has read a flag, which says that work has come so far, and has not waited for its end.
  void heard(const WorkClock& clock) {
    const std::lock_guard<std::mutex> lock(mutex_);
    host_.join(clock);
    isAllAwaited_ = isAllBefore(host_);
  }

  void awaited(const StreamName& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    WorkClock clock;
    if (stream.id == 0)
      joinStream(clock, stream);
    else
      clock = timelines_[timelineOf(stream)].clock;
    learn(clock);
  }

  void awaitedDevice(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    WorkClock clock;
    for (const Timeline& timeline : timelines_)
      if (timeline.stream.device == device) clock.join(timeline.clock);
    learn(clock);
  }

  void destroyed(const StreamName& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Timeline& timeline : timelines_)
      if (timeline.stream == stream) timeline.isDestroyed = true;
  }

  /// Whether the host knows that all is done that was queued.
  bool isAllAwaited() const { return isAllAwaited_; }
  /// Whether it knows that by waiting, not by flags.
  bool isAllWaitedFor() const { return isAllWaitedFor_; }

  bool isAwaited(const Moment& moment) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isBefore(moment, host_);
  }
  bool isWaitedFor(const Moment& moment) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isBefore(moment, waited_);
  }

  /// Whether a piece of work comes after everything else that was queued.
  bool isAfterAll(const Moment& moment) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < timelines_.size(); ++i)
      if (moment.clock.of(i) < timelines_[i].count) return false;
    return true;
  }

 private:
  struct Timeline {
    StreamName stream;
    std::uint32_t count = 0;  // pieces of work
    WorkClock clock;          // of the latest one
    bool isDestroyed = false;
  };

  /// Adds what the next work of a stream comes after.
  void joinStream(WorkClock& clock, const StreamName& stream) {
    clock.join(timelines_[timelineOf(stream)].clock);
    if (!stream.isBlocking) return;
    for (const Timeline& other : timelines_)
      if (other.stream.device == stream.device && other.stream.isBlocking && (stream.id == 0 || other.stream.id == 0))
        clock.join(other.clock);
  }

  /// The timeline of a stream: that of a destroyed stream for which the host has waited may go on as another one's.
  std::size_t timelineOf(const StreamName& stream) {
    std::size_t unused = timelines_.size();
    for (std::size_t i = 0; i < timelines_.size(); ++i) {
      const Timeline& timeline = timelines_[i];
      if (timeline.isDestroyed) {
        if (timeline.count <= host_.of(i)) unused = i;
      } else if (timeline.stream == stream) {
        return i;
      }
    }
    if (unused == timelines_.size()) timelines_.emplace_back();
    timelines_[unused].stream = stream;
    timelines_[unused].isDestroyed = false;
    return unused;
  }

  void learn(const WorkClock& clock) {
    host_.join(clock);
    waited_.join(clock);
    isAllAwaited_ = isAllBefore(host_);
    isAllWaitedFor_ = isAllBefore(waited_);
  }

  bool isAllBefore(const WorkClock& clock) const {
    for (std::size_t i = 0; i < timelines_.size(); ++i)
      if (timelines_[i].count > clock.of(i)) return false;
    return true;
  }

  mutable std::mutex mutex_;
  std::vector<Timeline> timelines_;
  WorkClock host_;    // what the host knows to be done
  WorkClock waited_;  // the same without what it knows from flags
  std::atomic<bool> isAllAwaited_{true}, isAllWaitedFor_{true};
};

}  // namespace gpuopt::emulation::detail
