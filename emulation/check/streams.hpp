/// Races between launches, copies and the host, which the order of streams leaves open.
// SPDX-License-Identifier: MIT
#pragma once

#include "checker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// Copies and launches for which the host has waited come before all that it queues from now on. Where work is
/// deferred, some that it has queued before may still be to come.
inline Unordered Checker::findUnordered(const Moment* moment) {
  const bool isDropped = order.isAllAwaited() || queueMode() == QueueMode::immediate;
  const auto isDone = [&](const MomentPointer& other) { return other == nullptr || order.isAwaited(*other); };
  while (isDropped && open_ < names_.size() && isDone(names_[open_].moment)) ++open_;
  const std::lock_guard<std::mutex> lock(transfersMutex_);
  if (isDropped) {
    const auto isOver = [&](const KnownTransfer& known) { return isDone(known.moment); };
    transfers_.erase(std::remove_if(transfers_.begin(), transfers_.end(), isOver), transfers_.end());
  }
  Unordered found;
  for (std::size_t i = open_; i < names_.size(); ++i) {
    const LaunchName& name = names_[i];
    if (name.kernel != nullptr && !areOrdered(name.moment.get(), moment))
      found.launches.push_back({name.firstRun, name.firstRun + static_cast<std::uint32_t>(name.blocks)});
  }
  for (const KnownTransfer& known : transfers_)
    if (!areOrdered(known.moment.get(), moment)) found.transfers.push_back(known);
  return found;
}

inline void Checker::learnt(const Launch& launch, const KnowledgePointer& known) {
  const auto isOther = [&launch](const LaunchKnowledge& other) { return other.launch() != launch.moment; };
  const std::vector<LaunchKnowledge>& launches = known->launches();
  if (launch.moment == nullptr || std::none_of(launches.begin(), launches.end(), isOther)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  keepLearnt(launch.moment, known);
}

inline void Checker::keepLearnt(const MomentPointer& moment, const KnowledgePointer& known) {
  Learnt& learnt = learnt_[moment->timeline][moment->count];
  learnt.moment = moment;
  learn(learnt.known, known);
}

/// The latest work of a timeline that comes before a piece of work, of what flags have told any; null if there is none.
inline const Checker::Learnt* Checker::learntBefore(const Moment& moment, std::size_t timeline) const {
  std::uint32_t until = (std::max)(moment.clock.of(timeline), moment.byFlags.of(timeline));
  if (timeline == moment.timeline) until = moment.count - 1;
  const std::map<std::uint32_t, Learnt>& all = learnt_.at(timeline);
  const auto after = all.upper_bound(until);
  return after == all.begin() ? nullptr : &std::prev(after)->second;
}

/// A flag that a launch has read puts all that its writer's stream did before, and what the writer did before its
/// fence, before all that the reader's stream does after that launch. The latest of a stream's launches knows what
/// those before it know.
inline KnowledgePointer Checker::learnFlags(const Moment* moment) {
  if (moment == nullptr || learnt_.empty()) return nullptr;
  const auto known = std::make_shared<Knowledge>();
  std::map<std::size_t, const Learnt*> taken;
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const auto& timeline : learnt_) {
      const Learnt* const latest = learntBefore(*moment, timeline.first);
      if (latest == nullptr || latest == std::exchange(taken[timeline.first], latest)) continue;
      isNew = true;
      known->learn(*latest->known);
      moment->byFlags.join(clockBefore(*latest->moment));
      for (const LaunchKnowledge& writer : latest->known->launches())
        if (writer.launch() != nullptr) moment->byFlags.join(clockBefore(*writer.launch()));
    }
  }
  // What comes before it in any case.
  known->dropIf(
      [&](const LaunchKnowledge& launch) { return launch.launch() == nullptr || isBefore(*launch.launch(), *moment); });
  return known;
}

inline void Checker::met(const MomentPointer& moment, const std::vector<MomentPointer>& others) {
  if (launchObserver != this) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = std::make_shared<Knowledge>();
  if (const KnowledgePointer before = learnFlags(moment.get())) known->learn(*before);
  for (const MomentPointer& other : others) {
    if (other == nullptr) continue;
    if (const KnowledgePointer before = learnFlags(other.get())) known->learn(*before);
    known->learn(LaunchKnowledge(other));
  }
  keepLearnt(moment, known);
}

/// An access of one of these launches that races with a copy or a fill.
inline Record Checker::findRaceWith(const Transfer& transfer, const Record& now, const Unordered& others) {
  if (others.launches.empty()) return {};
  const auto isOrdered = [&](const Record& old) {
    return std::none_of(others.launches.begin(), others.launches.end(),
                        [&](const Unordered::Runs& runs) { return runs.has(old.run); });
  };
  Record access = now;
  for (std::size_t row = 0; row < transfer.height; ++row) {
    std::uintptr_t at = transfer.address + row * transfer.pitch;
    for (const std::uintptr_t end = at + transfer.width; at < end; at = at / 4 * 4 + 4) {
      access.mask = bytesOfWord(at, end) & ByteState::ALL;
      const std::lock_guard<SpinLock> lock(lockOf(at));
      if (const Record old = cells.at(at)->find(access, isOrdered); old.run != 0) return old;
    }
  }
  return {};
}

/// A later copy of a stream to the same bytes stands for the earlier one.
inline void Checker::remember(const KnownTransfer& transfer) {
  const std::lock_guard<std::mutex> lock(transfersMutex_);
  for (KnownTransfer& known : transfers_)
    if (isSame(known.what, transfer.what) && known.moment->timeline == transfer.moment->timeline) {
      known = transfer;
      return;
    }
  transfers_.push_back(transfer);
}

inline void Checker::transfers(const Transfer& transfer) {
  if (launchObserver != this || memory().range(reinterpret_cast<const void*>(transfer.address)).first == nullptr)
    return;
  std::vector<Sighting> seen;
  Unordered others;
  const AccessWay way = transfer.isWrite ? AccessWay::write : AccessWay::read;
  Record now(0, 1, 0, 0, way);
  const MomentPointer moment = currentMoment;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    now = Record(nextRun_, 1, nextRun_, 0, way);
    names_.push_back({nullptr, transfer.call, dim3(), dim3(), nextRun_++, 1, moment});
    learnFlags(moment.get());
    others = findUnordered(moment.get());
    remember({transfer, now, moment});
  }
  for (const KnownTransfer& other : others.transfers)
    if (other.what.isWrite || transfer.isWrite)
      if (const std::uintptr_t common = firstCommonRow(transfer, other.what); common != 0)
        seen.push_back({FindingKind::race, other.access, now, common, transfer.width, false});
  if (const Record earlier = findRaceWith(transfer, now, others); earlier.run != 0)
    seen.push_back({FindingKind::race, earlier, now, transfer.address, transfer.width, false});
  for (const Sighting& sighting : seen) report(sighting);
}

/// The host has read a flag of a launch: what the thread that wrote it did before its fence comes before that, and all
/// that came before the launch has ended. For all but the latest of these launches it is taken to have waited.
inline void Checker::hear(std::uintptr_t flag, const MomentPointer& launch) {
  constexpr std::size_t MOST = 16;
  Passed passed;
  flags.acquire(flag, HOST_RUN, passed);
  const auto isIts = [&](const auto& heard) { return heard.first == launch; };
  auto entry = std::find_if(heard_.begin(), heard_.end(), isIts);
  if (entry == heard_.end()) entry = heard_.insert(heard_.end(), {launch, nullptr});
  learn(entry->second, passed.toAll);
  order.heard(launch->clock);
  order.awaited(clockBefore(*launch));
  if (heard_.size() <= MOST) return;
  order.awaited(heard_.front().first->clock);
  heard_.pop_front();
}

/// Whether an access of a launch of which the host knows by a flag comes before that. Nothing is asked of reads: the
/// value that the host gets often depends on them.
inline bool Checker::isHeard(const Record& access, const Moment& launch) const {
  if (!access.isWrite()) return true;
  const auto entry =
      std::find_if(heard_.begin(), heard_.end(), [&](const auto& heard) { return heard.first.get() == &launch; });
  return entry == heard_.end() || (entry->second != nullptr && entry->second->covers(access));
}

/// Whether what a launch or a copy did comes before what the host does outside of host functions.
inline bool Checker::isBeforeHost(const Record& access, AccessWay way) const {
  const Moment* const moment = nameOf(access.run).moment.get();
  if (moment == nullptr || order.isWaitedFor(*moment)) return true;
  if (!order.isAwaited(*moment)) return false;
  return isStrong(access.way()) ? !isStrong(way) : isHeard(access, *moment);  // a flag may have changed again
}

/// What the host does outside of streams is looked at alone: all that it queues later comes after it.
inline void Checker::hostAccess(AccessWay way, std::uintptr_t address, std::size_t bytes, std::uintptr_t pc) {
  if (order.isAllWaitedFor() || launchObserver != this || !states.isUsed(address) || states.at(address)->isHosts == 0)
    return;
  const MomentPointer moment = currentMoment;                 // of a host function
  if (moment == nullptr && runningHostFunctions > 0) return;  // what it does, or what it lets other threads do
  const auto isWorkOrdered = [&](const Moment* other) {
    if (other == nullptr || other == moment.get()) return true;
    return moment != nullptr ? isBefore(*other, moment->clock) : order.isAwaited(*other);
  };
  const auto isOrdered = [&](const Record& old) {
    return moment != nullptr ? isWorkOrdered(nameOf(old.run).moment.get()) : isBeforeHost(old, way);
  };
  Record now(HOST_RUN, 1, pc, 0, way), earlier;
  for (std::uintptr_t at = address; at < address + bytes; at = at / 4 * 4 + 4) {
    now.mask = bytesOfWord(at, address + bytes) & ByteState::ALL;
    std::unique_lock<SpinLock> lock(lockOf(at));
    const Cell cell = *cells.at(at);
    lock.unlock();
    const std::lock_guard<std::mutex> names(mutex_);
    const Record found = cell.find(now, isOrdered);
    if (found.run == 0) continue;
    if (!isStrong(way) || !isStrong(found.way())) earlier = found;
    // A flag that a kernel has written: the host knows then what came before.
    if (isStrong(way) && isStrong(found.way())) hear(address, nameOf(found.run).moment);
  }
  {
    const std::lock_guard<std::mutex> lock(transfersMutex_);
    for (const KnownTransfer& known : transfers_)
      if ((known.what.isWrite || now.isWrite()) && touches(known.what, address, bytes) &&
          !isWorkOrdered(known.moment.get()))
        earlier = known.access;
  }
  if (earlier.run != 0) report({FindingKind::race, earlier, now, address, bytes, false});
}

}  // namespace gpuopt::emulation::detail
