/// Checks the accesses of blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "checker.hpp"
#include "clocks.hpp"
#include "transfers.hpp"

#include "gpuopt_emulation/async_copies.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
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

/// Where an argument of a kernel points to that is no address of the device's.
struct Stranger {
  std::uintptr_t begin, bytes;
};

/// The arguments of a kernel that point to no memory of the device: to the host's, or to what was freed. The host's
/// address of a variable is none of the device's either: for that there is cudaGetSymbolAddress(). Kernels may pass
/// addresses of variables.
inline std::vector<Stranger> strangersAmong(const std::vector<PointerArgument>& pointers) {
  constexpr std::uintptr_t NEAR = 256;
  std::vector<Stranger> strangers;
  for (const PointerArgument& argument : pointers) {
    Dl_info object;
    const auto begin = reinterpret_cast<std::uintptr_t>(argument.pointer);
    const auto* const before = static_cast<const unsigned char*>(argument.pointer) - 1;  // of the end of an array
    if (argument.pointer == nullptr || memory().range(argument.pointer).first != nullptr ||
        memory().range(before).first != nullptr)
      continue;
    if (dladdr(argument.pointer, &object) == 0) {
      strangers.push_back({begin, NEAR});
    } else if (argument.isOfHost) {
      const Variable variable = variableAt(begin);
      if (!variable.name.empty()) strangers.push_back({begin, variable.begin + variable.bytes - begin});
    }
  }
  return strangers;
}

/// Checks the blocks of one worker, one after the other.
class BlockChecker : public BlockObserver {
 public:
  BlockChecker(Checker& checker, const Launch& launch)
      : checker_(checker),
        launch_(launch),
        arguments_(reinterpret_cast<std::uintptr_t>(launch.arguments)),
        argumentBytes_(malloc_usable_size(const_cast<void*>(launch.arguments))),
        known_(checker.knownBefore(launch.moment.get())),
        strangers_(strangersAmong(launch.pointers)) {}

  void begin(const Launch& launch, std::uint64_t number, const SharedMemory& shared, Lane* lanes,
             unsigned threads) override {
    number_ = static_cast<std::uint32_t>(number);
    round_ = 0;
    isWithinGridBarrier_ = false;
    enterRound(0);
    clocks_.begin(roundRun_ + number_, threads, launch_.moment, known_);
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
      if (checker_.settings.isStrict && &operation != &syncWarp) return;
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
    if (const KnowledgePointer known = clocks_.known(checker_.flags); known != known_) checker_.learnt(launch_, known);
  }

  /// A lane is about to access memory; an atomic update also reads what it writes.
  void access(const Lane& lane, AccessWay way, std::uintptr_t address, std::size_t bytes, std::uintptr_t pc,
              bool readsOld = false) {
    settle(lane);
    if (address - arguments_ < argumentBytes_) return;
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
    if (!isShared && !unordered_.transfers.empty()) findTransfer(seen, lane.index);
    if (isDynamic(address) && dynamicEnd_ < end) state.outside = ByteState::ALL;
    judge(state, now, address, bytes);
    if (isStrange(address)) sight({FindingKind::outOfBounds, Record(), now, address, bytes, false, true});
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

  /// Whether an access is where an argument points to that is no address of the device's, or not much behind that.
  bool isStrange(std::uintptr_t address) const {
    return std::any_of(strangers_.begin(), strangers_.end(),
                       [address](const Stranger& stranger) { return address - stranger.begin < stranger.bytes; });
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
      if ((!isOfRound && isOrderedLaunch(old.run)) || clocks_.isOrdered(old, lane)) return true;
      return !isOfRound && isBeforeFlag(old.run, lane);
    };
    const std::lock_guard<SpinLock> lock(checker_.lockOf(at));
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

  /// Whether work of another stream comes before a launch whose flag a thread has read.
  bool isBeforeFlag(std::uint32_t run, unsigned lane) const {
    return clocks_.knowsLaunch(lane, [&](const MomentPointer& launch) {
      return launch != launch_.moment && checker_.isDoneBefore(run, *launch);
    });
  }

  /// A copy or a fill of another stream with which an access races.
  void findTransfer(Sighting& seen, unsigned lane) const {
    for (const KnownTransfer& other : unordered_.transfers)
      if ((other.what.isWrite || seen.now.isWrite()) && touches(other.what, seen.address, seen.bytes) &&
          !isBeforeFlag(other.access.run, lane))
        seen.earlier = other.access;
  }

  /// Adds a word of an access to what is wrong with all of it: no byte has been written, or any is outside.
  void updateState(ByteState& all, std::uintptr_t at, const Record& now) {
    ByteState& state = *checker_.states.at(at);
    if ((now.mask & static_cast<unsigned>(~state.unwritten)) != 0) all.unwritten = 0;
    all.add({0, state.outside, 0}, now.mask);
    if (now.isWrite() && state.unwritten != 0) {
      const std::lock_guard<SpinLock> lock(checker_.lockOf(at));
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

  /// Only now are all launches known that have lower runs.
  void enterRound(unsigned round) {
    const std::uint32_t run = checker_.firstRun(launch_, round);
    if (run != roundRun_) unordered_ = checker_.unorderedWith(launch_.moment.get());
    roundRun_ = run;
  }

  /// The threads of a block meet before they wait for the other blocks, and after that.
  void meetGrid() {
    isWithinGridBarrier_ = !isWithinGridBarrier_;
    if (isWithinGridBarrier_) return;
    enterRound(++round_);
    clocks_.setRun(roundRun_ + number_);
  }

  Checker& checker_;
  const Launch& launch_;
  // The launch's copy of its arguments, an object of its own from `new`. All threads read it, and none writes it.
  const std::uintptr_t arguments_;
  const std::size_t argumentBytes_;
  const KnowledgePointer known_;
  const std::vector<Stranger> strangers_;
  Unordered unordered_;          // with what began before this round
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
