/// Checks the accesses of launches, copies and the host: one Checker for the program.
// SPDX-License-Identifier: MIT
#pragma once

#include "clocks.hpp"
#include "describe.hpp"
#include "findings.hpp"
#include "order.hpp"
#include "shadow.hpp"
#include "work.hpp"

#include "gpuopt_emulation/check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// What is common to all launches of a program.
class Checker : public LaunchObserver, public MemoryObserver, public StreamObserver {
 public:
  // Never destroyed, like all state of the emulation.
  static Checker& instance() {
    static Checker* const checker = new Checker;
    return *checker;
  }

  std::unique_ptr<BlockObserver> observeBlocks(const Launch& launch) override;
  bool takesTurns() const override { return false; }

  void end(const Launch& launch) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    rounds_.erase(&launch);
  }

  /// The first run of a launch from its start, or from one of its grid's barriers on.
  std::uint32_t firstRun(const Launch& launch, unsigned round) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool isAlone = rounds_.empty() && (launch.moment == nullptr || order.isAfterAll(*launch.moment));
    if (isAlone) {
      flags.clear();
      learnt_.clear();
    }
    std::vector<std::uint32_t>& rounds = rounds_[&launch];
    while (rounds.size() <= round) {
      rounds.push_back(nextRun_);
      names_.push_back({launch.kernel, nullptr, launch.grid, launch.block, nextRun_, launch.blocks, launch.moment});
      nextRun_ += static_cast<std::uint32_t>(launch.blocks);
    }
    return rounds[round];
  }

  void report(const Sighting& seen);

  Unordered unorderedWith(const Moment* moment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return findUnordered(moment);
  }

  /// What flags that were read by launches before a piece of work tell it, as it begins.
  KnowledgePointer knownBefore(const Moment* moment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return learnFlags(moment);
  }

  /// Keeps what a block of a launch has learnt for the launches after it.
  void learnt(const Launch& launch, const KnowledgePointer& known);

  /// Whether the order of streams puts a launch before or after a moment, and up to which run that holds.
  bool isOrdered(std::uint32_t run, const Moment* moment, Unordered::Runs& like) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const LaunchName& name = nameOf(run);
    like = {name.firstRun, name.firstRun + static_cast<std::uint32_t>(name.blocks)};
    return areOrdered(name.moment.get(), moment);
  }

  /// Whether a launch or a copy was done before a launch began.
  bool isDoneBefore(std::uint32_t run, const Moment& launch) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const MomentPointer& moment = nameOf(run).moment;
    return moment != nullptr && isBefore(*moment, clockBefore(launch));
  }

  /// The host reads or writes memory.
  void hostAccess(AccessWay way, std::uintptr_t address, std::size_t bytes, std::uintptr_t pc);

  std::vector<Finding> findings() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Finding> found;
    for (const auto& [location, finding] : findings_.byLocation)
      if (!finding.text.empty()) found.push_back(finding);
    return found;
  }

  /// Counts anew; returns what was found before.
  Findings exchangeFindings(Findings findings) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(findings, findings_);
    return findings;
  }

  void allocated(const void* data, std::size_t bytes, std::size_t before, std::size_t behind, bool isWritten) override {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    forget(address, bytes);
    addState(address - before, before, {0, ByteState::ALL, 0});
    addState(address, bytes, isWritten ? ByteState{0, 0, 1} : ByteState{ByteState::ALL, 0, 0});
    addState(address + bytes, behind, {0, ByteState::ALL, 0});
  }

  void adopted(const void* data, std::size_t bytes, bool isOfHost) override {
    if (isOfHost) addState(reinterpret_cast<std::uintptr_t>(data), bytes, {0, 0, 1});
  }

  void freed(const void* data, std::size_t bytes, std::size_t before, std::size_t behind) override {
    states.clear(reinterpret_cast<std::uintptr_t>(data) - before, before + bytes + behind);
    forget(reinterpret_cast<std::uintptr_t>(data), bytes);
  }

  MomentPointer queued(const std::vector<StreamName>& streams, const std::vector<MomentPointer>& after) override {
    return order.queued(streams, after);
  }
  void awaited(const MomentPointer& moment) override { order.awaited(moment->clock); }
  void awaited(const StreamName& stream) override { order.awaited(stream); }
  void awaitedDevice(int device) override { order.awaitedDevice(device); }
  void destroyed(const StreamName& stream) override { order.destroyed(stream); }
  void transfers(const Transfer& transfer) override;
  void met(const MomentPointer& moment, const std::vector<MomentPointer>& others) override;

  void written(const void* data, std::size_t bytes) override {
    if (bytes > 0 && states.isUsed(reinterpret_cast<std::uintptr_t>(data)))
      forEachWord(reinterpret_cast<std::uintptr_t>(data), bytes,
                  [](ByteState& state, unsigned mask) { state.markWritten(mask); });
  }

  /// Whether the barrier or fence of a line is to order nothing, for tests of the check itself. Remembers the line.
  bool leavesOut(const std::string& file, int line) {
    if (settings.without.empty()) return false;
    const SourceLine location{"", file, line};
    const std::lock_guard<std::mutex> lock(mutex_);
    synchronisation.insert(file + ':' + std::to_string(line));
    return location.is(settings.without);
  }
  bool leavesOut(const void* caller) {
    if (settings.without.empty()) return false;
    for (const SourceLine& frame : framesOf(reinterpret_cast<std::uintptr_t>(caller)))
      if (!isSystemFile(frame.file)) return leavesOut(frame.file, frame.line);
    return false;
  }

  SpinLock& lockOf(std::uintptr_t address) { return locks_[address / 64 % locks_.size()]; }

  WordMap<Cell> cells;
  WordMap<ByteState> states;
  Flags flags;
  StreamOrder order;
  CheckSettings settings;
  std::set<std::string> synchronisation;  // lines of barriers and fences, if one is to be left out

 private:
  const LaunchName& nameOf(std::uint32_t run) const {
    static const LaunchName host{nullptr, "the host", dim3(), dim3(), HOST_RUN, 1, nullptr};
    if (run == HOST_RUN) return host;
    const auto after = std::upper_bound(names_.begin(), names_.end(), run,
                                        [](std::uint32_t r, const LaunchName& name) { return r < name.firstRun; });
    return *std::prev(after);
  }

  /// Calls `visit(state, mask)` for the words of a range.
  template <class Visit>
  void forEachWord(std::uintptr_t address, std::size_t bytes, Visit visit) {
    for (const std::uintptr_t end = address + bytes; address < end; address = address / 4 * 4 + 4)
      visit(*states.at(address), bytesOfWord(address, end));
  }

  void addState(std::uintptr_t address, std::size_t bytes, ByteState state) {
    forEachWord(address, bytes, [state](ByteState& s, unsigned mask) { s.add(state, mask); });
  }

  /// The words for who accesses memory; with the launch where threads of one launch are not the whole story.
  std::string describeAccess(const Record& access, bool isEarlier, std::size_t bytes, bool hasLaunch) const;

  /// A record whose instruction is the user's call, for copies.
  Record located(Record access) const;

  /// Forgets what was done to memory that is another's now.
  void forget(std::uintptr_t address, std::size_t bytes) {
    cells.clear(address, bytes);
    const std::lock_guard<std::mutex> lock(transfersMutex_);
    const auto isWithin = [=](const KnownTransfer& known) { return known.what.address - address < bytes; };
    transfers_.erase(std::remove_if(transfers_.begin(), transfers_.end(), isWithin), transfers_.end());
  }

  /// What a piece of work has learnt, with what those before it in its stream have learnt.
  struct Learnt {
    MomentPointer moment;
    KnowledgePointer known;
  };

  void keepLearnt(const MomentPointer& moment, const KnowledgePointer& known);
  const Learnt* learntBefore(const Moment& moment, std::size_t timeline) const;
  KnowledgePointer learnFlags(const Moment* moment);
  Unordered findUnordered(const Moment* moment);
  Record findRaceWith(const Transfer& transfer, const Record& now, const Unordered& others);
  void remember(const KnownTransfer& transfer);
  void hear(std::uintptr_t flag, const MomentPointer& launch);
  bool isHeard(const Record& access, const Moment& launch) const;
  bool isBeforeHost(const Record& access, AccessWay way) const;

  /// Whether an instruction is the emulated device's own.
  static bool isOfSystem(const std::vector<SourceLine>& frames) { return !frames.empty() && lineOf(frames) == nullptr; }

  /// Whether a report, or the name of a function that takes part in the race, has a part that is to be ignored.
  bool isIgnored(const std::string& report, const std::vector<SourceLine>& frames) const {
    return std::any_of(settings.ignored.begin(), settings.ignored.end(), [&](const std::string& part) {
      const auto isIn = [&part](const SourceLine& frame) { return frame.function.find(part) != std::string::npos; };
      return report.find(part) != std::string::npos || std::any_of(frames.begin(), frames.end(), isIn);
    });
  }

  /// The mistake that is seen, reported if it is new and nothing says that it is to be ignored.
  Finding& findingOf(const Sighting& seen);
  std::string describe(const Sighting& seen) const;
  const char* remedy(const Sighting& seen) const;

  mutable std::mutex mutex_;
  std::array<SpinLock, 1024> locks_;
  std::map<const Launch*, std::vector<std::uint32_t>> rounds_;  // of those that run
  std::vector<LaunchName> names_;                               // in the order of their runs
  std::uint32_t nextRun_ = 1;
  std::size_t open_ = 0;       // the first of the names for which the host has not waited
  std::mutex transfersMutex_;  // of its own: memory is freed under a lock that descriptions take, too
  std::vector<KnownTransfer> transfers_;
  // By launches that have read flags of others, and by exchanges: of each timeline, in its order.
  std::map<std::size_t, std::map<std::uint32_t, Learnt>> learnt_;
  std::deque<std::pair<MomentPointer, KnowledgePointer>> heard_;  // by the host: launches whose flags it has read
  Findings findings_;
};

}  // namespace gpuopt::emulation::detail

#include "block_checker.hpp"
#include "reports.hpp"
#include "streams.hpp"
