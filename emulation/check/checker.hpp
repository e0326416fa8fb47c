/// Checks the accesses of launches: one BlockChecker for each worker, one Checker for the program.
// SPDX-License-Identifier: MIT
#pragma once

#include "clocks.hpp"
#include "describe.hpp"
#include "order.hpp"
#include "shadow.hpp"
#include "transfers.hpp"

#include "gpuopt_emulation/async_copies.hpp"
#include "gpuopt_emulation/check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

class BlockChecker;

/// What is known of a lane besides its clock.
struct Trace {
  BlockChecker* checker = nullptr;
  std::uintptr_t stack = 0, stackEnd = 0;

  /// A write of which it will be known after it whether it changes what another thread has written.
  struct Doubt {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;  // 0: none
    std::array<unsigned char, 16> before{};
    Record earlier, now;
  } doubt;

  /// Asynchronous copies: where they write, and the groups that they are in.
  struct Copy {
    std::uintptr_t address;
    std::size_t bytes, group;
  };
  std::deque<Copy> copies;
  bool isAcquiring = false;  // the latest access has to come before all later ones
  std::size_t groups = 0;

  bool isOnStack(std::uintptr_t address) const { return stack <= address && address < stackEnd; }
};

/// The bytes from an address on, up to the end of its word or of a range.
inline unsigned bytesOfWord(std::uintptr_t address, std::uintptr_t end) {
  const std::uintptr_t stop = (std::min)(address / 4 * 4 + 4, end);
  return ((1u << (stop - address)) - 1u) << address % 4;
}

/// A launch, a copy or a fill as later ones know it; a copy is one block of one thread.
struct LaunchName {
  const void* kernel;  ///< null for copies
  const char* call;    ///< null for kernels
  dim3 grid, block;
  std::uint32_t firstRun;
  std::uint64_t blocks;
  MomentPointer moment;
};

/// Stands for what the host does outside of streams.
inline constexpr std::uint32_t HOST_RUN = UINT32_MAX;

/// A copy or a fill that was done.
struct KnownTransfer {
  Transfer what;
  Record access;
  MomentPointer moment;
};

/// What no order of streams puts before or after a piece of work.
struct Unordered {
  struct Runs {
    std::uint32_t first, end;
    bool has(std::uint32_t run) const { return first <= run && run < end; }
  };
  std::vector<Runs> launches;
  std::vector<KnownTransfer> transfers;
};

using Instructions = std::tuple<FindingKind, std::uintptr_t, std::uintptr_t>;

/// A mistake as it was seen, before it has words.
struct Sighting {
  FindingKind kind;
  Record earlier, now;
  std::uintptr_t address;
  std::size_t bytes;
  bool isShared;
  std::uint64_t count = 1;

  Instructions instructions() const { return {kind, earlier.pc, now.pc}; }
  /// 0 for threads of one warp, 1 for those of one block, 2 for others.
  unsigned reach() const {
    return earlier.run != now.run ? 2 : earlier.lane / WARP_LANES != now.lane / WARP_LANES ? 1 : 0;
  }
};

/// Mistakes: those of the same lines of a kernel are one, whichever came first.
struct Findings {
  using Place = std::tuple<FindingKind, std::string, std::string, std::string>;  // kernel and lines
  std::map<Place, Finding> byLocation;
  std::map<Instructions, Finding*> byInstructions;  // saves the way to the lines
};

struct CheckSettings {
  bool reportsEqualValues = false;
  std::vector<std::string> ignored;  ///< parts of reports and of names of functions
  std::string without;               ///< the location of a barrier or fence that is to order nothing
  bool endsAtFirst = false;          ///< the program ends at its first mistake
};

/// The status of a program in which mistakes were found.
inline constexpr int FOUND_STATUS = 66;

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
    if (isAlone) flags.clear();
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

  /// Whether the order of streams puts a launch before or after a moment, and up to which run that holds.
  bool isOrdered(std::uint32_t run, const Moment* moment, Unordered::Runs& like) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const LaunchName& name = nameOf(run);
    like = {name.firstRun, name.firstRun + static_cast<std::uint32_t>(name.blocks)};
    return areOrdered(name.moment.get(), moment);
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

  std::mutex& lockOf(std::uintptr_t address) { return locks_[address / 64 % locks_.size()]; }

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

  Unordered findUnordered(const Moment* moment);
  Record findRaceWith(const Transfer& transfer, const Record& now, const Unordered& others);
  void remember(const KnownTransfer& transfer);

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
  std::array<std::mutex, 1024> locks_;
  std::map<const Launch*, std::vector<std::uint32_t>> rounds_;  // of those that run
  std::vector<LaunchName> names_;                               // in the order of their runs
  std::uint32_t nextRun_ = 1;
  std::size_t open_ = 0;       // the first of the names for which the host has not waited
  std::mutex transfersMutex_;  // of its own: memory is freed under a lock that descriptions take, too
  std::vector<KnownTransfer> transfers_;
  Findings findings_;
};

/// Checks the blocks of one worker, one after the other.
class BlockChecker : public BlockObserver {
 public:
  BlockChecker(Checker& checker, const Launch& launch)
      : checker_(checker), launch_(launch), unordered_(checker.unorderedWith(launch.moment.get())) {}

  void begin(const Launch& launch, std::uint64_t number, const SharedMemory& shared, Lane* lanes,
             unsigned threads) override {
    number_ = static_cast<std::uint32_t>(number);
    round_ = 0;
    isWithinGridBarrier_ = false;
    roundRun_ = checker_.firstRun(launch, 0);
    clocks_.begin(roundRun_ + number_, threads);
    shared_ = shared.begin();
    sharedEnd_ = shared.end();
    dynamic_ = reinterpret_cast<std::uintptr_t>(gpuoptDynamicShared);
    dynamicEnd_ = dynamic_ + launch.sharedBytes;
    traces_.resize(threads);
    for (unsigned i = 0; i < threads; ++i) {
      traces_[i] = {};
      traces_[i].checker = this;
      traces_[i].stack = reinterpret_cast<std::uintptr_t>(lanes[i].fiber->stack());
      traces_[i].stackEnd = traces_[i].stack + lanes[i].fiber->stackSize();
      lanes[i].trace = &traces_[i];
    }
  }

  void wait(Lane& lane, const Operation&) override { settle(lane); }

  void meet(const Operation& operation, Lane* first, unsigned participants) override {
    const Request& request =
        (operation.scope == Operation::Scope::warp ? first[__builtin_ctz(participants)] : *first).request;
    if (isLeftOut(operation, request.site)) return;
    if (operation.scope == Operation::Scope::warp) {
      clocks_.meet(first->index, participants, checker_.flags);
      return;
    }
    clocks_.meetAll(checker_.flags);
    if (&operation == &syncGrid) meetGrid();
  }

  void step(Lane& lane) override { settle(lane); }

  /// Reports what threads of several blocks or warps do first: what helps them helps the others at the same lines, too.
  void end(bool) override {
    std::vector<Sighting> all;
    for (const auto& [instructions, seen] : sightings_) all.push_back(seen);
    std::stable_sort(all.begin(), all.end(),
                     [](const Sighting& a, const Sighting& b) { return a.reach() > b.reach(); });
    for (const Sighting& seen : all) checker_.report(seen);
    sightings_.clear();
  }

  /// A lane is about to access memory; an atomic update also reads what it writes.
  void access(const Lane& lane, AccessWay way, std::uintptr_t address, std::size_t bytes, std::uintptr_t pc,
              bool readsOld = false) {
    settle(lane);
    const bool isShared = isInShared(address);
    if (isShared && isBuiltIn(address)) return;
    if (isStrong(way)) noteFlag(lane, way, address);
    Record now(clocks_.run(), clocks_.time(lane.index), pc, lane.index, way);
    Sighting seen{FindingKind::race, Record(), now, address, bytes, isShared};
    ByteState state{static_cast<std::uint8_t>(isShared || (isWrite(way) && !readsOld) ? 0 : ByteState::ALL), 0, 0};
    const std::uintptr_t end = address + bytes;
    for (std::uintptr_t at = address; at < end; at = at / 4 * 4 + 4) {
      now.mask = bytesOfWord(at, end) & ByteState::ALL;
      const Record earlier = isShared ? addShared(at, now) : addGlobal(at, now, lane.index);
      if (earlier.run != 0 && (seen.earlier.run == 0 || seen.earlier.isWrite())) seen.earlier = earlier;
      if (!isShared) updateState(state, at, now);
    }
    if (!isShared && !unordered_.transfers.empty()) findTransfer(seen);
    if (isDynamic(address) && dynamicEnd_ < end) state.outside = ByteState::ALL;
    judge(state, now, address, bytes);
    if (seen.earlier.run != 0) doubt(*lane.trace, seen);
  }

  void fence(const Lane& lane, FenceScope scope, const void* caller) {
    if (!checker_.leavesOut(caller)) clocks_.fence(lane.index, scope, checker_.flags);
  }

  /// Starts an asynchronous copy, of which the last `zeros` bytes are zeros. What it reads takes part in no race:
  /// copies of aligned pieces read bytes of other threads at their ends, which nobody uses.
  void copy(const Lane& lane, std::uintptr_t to, std::uintptr_t from, std::size_t bytes, std::size_t zeros,
            std::uintptr_t pc) {
    access(lane, AccessWay::copy, to, bytes, pc);
    lane.trace->copies.push_back({to, bytes, lane.trace->groups});
    Record now(clocks_.run(), clocks_.time(lane.index), pc, lane.index, AccessWay::read);
    ByteState state{ByteState::ALL, 0, 0};
    for (std::uintptr_t i = 0; i + zeros < bytes; i += 4) {
      now.mask = bytesOfWord(from + i, from + bytes - zeros) & ByteState::ALL;
      updateState(state, from + i, now);
    }
    judge(state, now, from, bytes - zeros);
  }

  /// Waits for all groups of copies but the last ones.
  void await(const Lane& lane, std::size_t pending, const void* caller) {
    if (checker_.leavesOut(caller)) return;
    Trace& trace = *lane.trace;
    while (!trace.copies.empty() && trace.copies.front().group + pending < trace.groups) {
      const Trace::Copy& done = trace.copies.front();
      for (std::uintptr_t at = done.address; at < done.address + done.bytes; at += 4)
        checker_.cells.at(at)->finishCopies(clocks_.run(), lane.index, clocks_.time(lane.index));
      trace.copies.pop_front();
    }
  }

 private:
  /// Whether a barrier is to order nothing.
  bool isLeftOut(const Operation& operation, Site site) const {
    const bool isBarrier = operation.scope == Operation::Scope::block || &operation == &syncWarp;
    return isBarrier && checker_.leavesOut(site.file, site.line);
  }

  bool isInShared(std::uintptr_t address) const {
    return (shared_ <= address && address < sharedEnd_) || isDynamic(address);
  }
  bool isDynamic(std::uintptr_t address) const { return address - dynamic_ < SHARED_BYTES_OPTIN; }

  static bool isBuiltIn(std::uintptr_t address) {
    const auto isIn = [address](const auto& variable) {
      return address - reinterpret_cast<std::uintptr_t>(&variable) < sizeof variable;
    };
    return isIn(threadIdx) || isIn(blockIdx) || isIn(blockDim) || isIn(gridDim) || isIn(currentLane);
  }

  void noteFlag(const Lane& lane, AccessWay way, std::uintptr_t address) {
    if (isWrite(way)) clocks_.tell(lane.index, address, checker_.flags);
    if (way != AccessWay::volatileWrite) clocks_.look(lane.index, address);
  }

  static bool isRace(const Record& old, const Record& now) {
    if (!isStrong(old.way()) || !isStrong(now.way())) return true;
    // No flag, but threads of a warp that are taken to run in step.
    return isVolatile(old.way()) && isVolatile(now.way()) && old.run == now.run && old.lane / 32 == now.lane / 32;
  }

  Record addShared(std::uintptr_t at, const Record& now) {
    const auto isOrdered = [&](const Record& old) {
      return old.run != now.run || clocks_.isOrdered(old, static_cast<unsigned>(now.lane));
    };
    return checker_.cells.at(at)->add(now, isOrdered, isRace);
  }

  Record addGlobal(std::uintptr_t at, const Record& now, unsigned lane) {
    const auto isOrdered = [&](const Record& old) {
      const bool isOfRound = roundRun_ <= old.run && old.run - roundRun_ < launch_.blocks;
      return (!isOfRound && isOrderedLaunch(old.run)) || clocks_.isOrdered(old, lane);
    };
    const std::lock_guard<std::mutex> lock(checker_.lockOf(at));
    return checker_.cells.at(at)->add(now, isOrdered, isRace);
  }

  /// Whether the order of streams puts another launch before or after this one.
  bool isOrderedLaunch(std::uint32_t run) {
    if (run < roundRun_)
      return std::none_of(unordered_.launches.begin(), unordered_.launches.end(),
                          [run](const Unordered::Runs& runs) { return runs.has(run); });
    if (!later_.has(run)) isLaterOrdered_ = checker_.isOrdered(run, launch_.moment.get(), later_);
    return isLaterOrdered_;
  }

  /// A copy or a fill of another stream with which an access races.
  void findTransfer(Sighting& seen) const {
    for (const KnownTransfer& other : unordered_.transfers)
      if ((other.what.isWrite || seen.now.isWrite()) && touches(other.what, seen.address, seen.bytes))
        seen.earlier = other.access;
  }

  /// Adds a word of an access to what is wrong with all of it: no byte has been written, or any is outside.
  void updateState(ByteState& all, std::uintptr_t at, const Record& now) {
    ByteState& state = *checker_.states.at(at);
    if ((now.mask & static_cast<unsigned>(~state.unwritten)) != 0) all.unwritten = 0;
    all.add({0, state.outside, 0}, now.mask);
    if (now.isWrite() && state.unwritten != 0) {
      const std::lock_guard<std::mutex> lock(checker_.lockOf(at));
      state.markWritten(now.mask);
    }
  }

  void judge(ByteState state, const Record& now, std::uintptr_t address, std::size_t bytes) {
    if (state.outside != 0)
      sight({FindingKind::outOfBounds, Record(), now, address, bytes, isInShared(address)});
    else if (state.unwritten != 0 && bytes > 0)
      sight({FindingKind::uninitialised, Record(), now, address, bytes, false});
  }

  void sight(const Sighting& seen) {
    const auto [entry, isNew] = sightings_.try_emplace(seen.instructions(), seen);
    Sighting& known = entry->second;
    const std::uint64_t count = isNew ? 1 : known.count + 1;
    if (seen.reach() > known.reach()) known = seen;
    known.count = count;
  }

  /// A race, unless both threads write the same.
  void doubt(Trace& trace, const Sighting& seen) {
    const bool mayBeEqual = seen.earlier.way() == AccessWay::write && seen.now.way() == AccessWay::write;
    if (!mayBeEqual || seen.bytes > trace.doubt.before.size()) {
      sight(seen);
      return;
    }
    trace.doubt.address = seen.address;
    trace.doubt.bytes = seen.bytes;
    trace.doubt.earlier = seen.earlier;
    trace.doubt.now = seen.now;
    std::memcpy(trace.doubt.before.data(), reinterpret_cast<const void*>(seen.address), seen.bytes);
  }

  /// Ends the latest access of a lane.
  void settle(const Lane& lane) {
    if (lane.trace->isAcquiring) clocks_.acquire(lane.index, checker_.flags);
    lane.trace->isAcquiring = false;
    Trace::Doubt& doubt = lane.trace->doubt;
    if (doubt.bytes == 0) return;
    const bool isEqual =
        std::memcmp(doubt.before.data(), reinterpret_cast<const void*>(doubt.address), doubt.bytes) == 0;
    if (!isEqual || checker_.settings.reportsEqualValues)
      sight({isEqual ? FindingKind::equalValues : FindingKind::race, doubt.earlier, doubt.now, doubt.address,
             doubt.bytes, isInShared(doubt.address)});
    doubt.bytes = 0;
  }

  /// The threads of a block meet before they wait for the other blocks, and after that.
  void meetGrid() {
    isWithinGridBarrier_ = !isWithinGridBarrier_;
    if (isWithinGridBarrier_) return;
    roundRun_ = checker_.firstRun(launch_, ++round_);
    clocks_.setRun(roundRun_ + number_);
  }

  Checker& checker_;
  const Launch& launch_;
  const Unordered unordered_;
  Unordered::Runs later_{0, 0};  // a launch that began after this one
  bool isLaterOrdered_ = true;
  std::uint32_t number_ = 0, roundRun_ = 0;
  unsigned round_ = 0;
  bool isWithinGridBarrier_ = false;
  BlockClocks clocks_;
  std::vector<Trace> traces_;
  std::map<Instructions, Sighting> sightings_;   // of this block
  std::uintptr_t shared_ = 0, sharedEnd_ = 0;    // static variables of the block
  std::uintptr_t dynamic_ = 0, dynamicEnd_ = 0;  // dynamic shared memory
};

inline std::unique_ptr<BlockObserver> Checker::observeBlocks(const Launch& launch) {
  return std::make_unique<BlockChecker>(*this, launch);
}

}  // namespace gpuopt::emulation::detail

#include "reports.hpp"
#include "streams.hpp"
