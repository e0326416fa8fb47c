/// Counts what the lanes of launches do, per kernel and instruction.
// SPDX-License-Identifier: MIT
#pragma once

#include "requests.hpp"
#include "trace.hpp"
#include "warp.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// The counts of a kernel, as one worker or all of them have found them.
struct KernelCounts {
  using Instruction = std::pair<std::uintptr_t, AccessKind>;
  struct Hash {
    std::size_t operator()(const Instruction& i) const { return i.first * 8 + static_cast<std::size_t>(i.second); }
  };
  /// An instruction of an atomic function of C++. The emulated device's own atomic functions consist of such.
  static constexpr std::uintptr_t WORD = std::uintptr_t{1} << 63;

  std::unordered_map<Instruction, InstructionCounts, Hash> accesses;
  std::unordered_map<std::uintptr_t, BranchCounts> branches;
  std::uint64_t launches = 0, blocks = 0, warps = 0, barriers = 0, sectorsRead = 0, sectorsWritten = 0;

  void add(const KernelCounts& other) {
    for (const auto& [instruction, counts] : other.accesses) accesses[instruction].add(counts);
    for (const auto& [pc, counts] : other.branches) branches[pc] += counts;
    launches += other.launches;
    blocks += other.blocks;
    warps += other.warps;
    barriers += other.barriers;
    sectorsRead += other.sectorsRead;
    sectorsWritten += other.sectorsWritten;
  }
};

/// What one launch has done so far, on all workers.
struct LaunchCounts {
  KernelCounts counts;
  TouchedSectors read, written;
  std::vector<std::pair<std::uintptr_t, std::size_t>> allocations;
  std::vector<PointerArgument> pointers;

  const std::pair<std::uintptr_t, std::size_t>* allocationOf(std::uintptr_t address) const {
    auto after = std::upper_bound(allocations.begin(), allocations.end(), address,
                                  [](std::uintptr_t a, const auto& allocation) { return a < allocation.first; });
    if (after == allocations.begin()) return nullptr;
    --after;
    return address - after->first < after->second ? &*after : nullptr;
  }

  /// The alignment that the compiler knows of an array: the strictest of the kernel's pointers into its allocation. A
  /// word's if there is none.
  std::size_t alignmentAt(std::uintptr_t address) const {
    const auto* const allocation = allocationOf(address);
    std::size_t alignment = 0;
    for (const PointerArgument& argument : pointers)
      if (allocationOf(reinterpret_cast<std::uintptr_t>(argument.pointer)) == allocation)
        alignment = (std::max)(alignment, argument.alignment);
    return alignment == 0 ? sizeof(unsigned) : alignment;
  }
};

/// Counts for one worker.
class BlockRecorder : public BlockObserver {
 public:
  explicit BlockRecorder(std::mutex& mutex, LaunchCounts& launch) : mutex_(mutex), launch_(launch) {}

  ~BlockRecorder() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    launch_.counts.add(counts_);
    launch_.read.insert(read_);
    launch_.written.insert(written_);
  }

  void begin(const Launch& launch, std::uint64_t, const SharedMemory& shared, Lane* lanes, unsigned threads) override {
    traces_.resize(threads);
    warps_.resize((threads + WARP_LANES - 1) / WARP_LANES);
    isKnown_.assign(warps_.size(), 0);
    for (unsigned i = 0; i < threads; ++i) beginTrace(traces_[i], launch, shared, lanes[i]);
    ++counts_.blocks;
    counts_.warps += warps_.size();
  }

  void wait(Lane& lane, const Operation& operation) override {
    if (operation.scope == Operation::Scope::block) lane.trace->isComplete = true;
  }

  void step(Lane& lane) override {
    Trace& trace = *lane.trace;
    if (lane.state == Lane::State::left) trace.hasLeft = trace.isComplete = true;
    const unsigned warp = lane.index / WARP_LANES;
    if (trace.isComplete || trace.isFull()) isKnown_[warp] |= lane.bit();
    if (isKnown_[warp] == presentLanes(warp)) mergeWarp(warp);
  }

  void end(bool failed) override {
    if (!failed) return;
    for (Trace& trace : traces_) trace.clear();
    for (Warp& warp : warps_) warp.clear();
  }

 private:
  static void beginTrace(Trace& trace, const Launch& launch, const SharedMemory& shared, Lane& lane) {
    const auto dynamic = reinterpret_cast<std::uintptr_t>(gpuoptDynamicShared);
    trace.clear();
    trace.isComplete = trace.hasLeft = trace.isSilent = false;
    trace.lane = &lane;
    trace.stack = reinterpret_cast<std::uintptr_t>(lane.fiber->stack());
    trace.stackEnd = trace.stack + lane.fiber->stackSize();
    trace.shared = shared.begin();
    trace.sharedEnd = shared.end();
    trace.dynamic = dynamic;
    trace.dynamicEnd = dynamic + launch.sharedBytes;
    lane.trace = &trace;
  }

  unsigned presentLanes(unsigned warp) const {
    const std::size_t lanes = traces_.size() - warp * WARP_LANES;
    return lanes >= WARP_LANES ? ~0u : (1u << lanes) - 1;
  }

  /// Counts what the lanes have done, once that is known up to a barrier, or of all lanes enough to begin.
  void mergeWarp(unsigned warp) {
    Trace* const traces = &traces_[warp * WARP_LANES];
    const unsigned present = presentLanes(warp);
    const auto lanes = static_cast<unsigned>(__builtin_popcount(present));
    warps_[warp].merge(traces, lanes, [&](const Event& event, unsigned mask, const LaneEvents& events) {
      count(event, mask, lanes, events);
    });
    bool areComplete = true, isBarrier = false;
    for (unsigned i = 0; i < lanes; ++i) {
      areComplete = areComplete && traces[i].isComplete;
      isBarrier = isBarrier || !traces[i].hasLeft;
    }
    isKnown_[warp] = 0;
    for (unsigned i = 0; i < lanes; ++i) forget(traces[i], areComplete, isKnown_[warp]);
    if (!areComplete) return;
    warps_[warp].clear();
    counts_.barriers += isBarrier;
  }

  /// Forgets what has been counted, and tells whether the lane has to do more before the next merge.
  static void forget(Trace& trace, bool areComplete, unsigned& known) {
    trace.events.erase(trace.events.begin(), trace.events.begin() + static_cast<std::ptrdiff_t>(trace.next));
    trace.next = 0;
    if (areComplete) trace.isComplete = trace.hasLeft;
    if (trace.isComplete || trace.isFull()) known |= trace.lane->bit();
  }

  void count(const Event& event, unsigned mask, unsigned lanes, const LaneEvents& events) {
    if (event.kind == EventKind::block)
      counts_.branches[event.pc] += {1, static_cast<unsigned>(__builtin_popcount(mask)), lanes};
    else if (event.kind == EventKind::asyncCopy)
      countAsyncCopy(event, mask, events);
    else
      countAccess(event, mask, events);
  }

  void countAccess(const Event& event, unsigned mask, const LaneEvents& events) {
    WarpRequest request{};
    unsigned shared = 0;
    std::uintptr_t bits = event.bytes;  // those that are zero in all addresses tell the alignment
    forEachLane(mask, [&](unsigned i) {
      request.addresses[i] = events[i]->address;
      bits |= events[i]->address;
      if (events[i]->isShared) shared |= 1u << i;
    });
    const unsigned width = accessBytes(event, bits);
    request.bytes = width;
    const unsigned spaces[] = {mask & ~shared, shared};
    for (const bool isShared : {false, true}) {
      request.mask = spaces[isShared];
      if (request.mask == 0 || (!isShared && !isDeviceMemory(request))) continue;
      for (unsigned offset = 0; offset < event.bytes; offset += width) {
        addRequest(event, isShared, request);
        forEachLane(request.mask, [&](unsigned i) { request.addresses[i] += width; });
      }
    }
  }

  /// Counts a load from global memory and what the copy does to shared memory.
  void countAsyncCopy(const Event& event, unsigned mask, const LaneEvents& events) {
    WarpRequest to{}, from{};
    to.mask = mask;
    to.bytes = from.bytes = event.bytes;
    forEachLane(mask, [&](unsigned i) {
      to.addresses[i] = events[i]->address;
      from.addresses[i] = events[i]->source != 0 ? events[i]->source : events[i]->address;
      if (events[i]->source != 0) from.mask |= 1u << i;
    });
    addAsyncCopy(instructionOf(event.pc, AccessKind::asyncCopy, to), to, from);
    if (from.mask != 0 && isDeviceMemory(from))
      addGlobal(instructionOf(event.pc, AccessKind::globalLoad, from), from, read_);
  }

  InstructionCounts& instructionOf(std::uintptr_t pc, AccessKind kind, const WarpRequest& request) {
    InstructionCounts& instruction = counts_.accesses[{pc, kind}];
    instruction.bytes = request.bytes;
    if ((request.mask & (request.mask - 1)) == 0)
      ++instruction.single;
    else
      instruction.stride.add(strideOf(request));
    return instruction;
  }

  /// Bytes of one access: what the compiler accesses at once, if it knows the alignment.
  unsigned accessBytes(const Event& event, std::uintptr_t bits) const {
    std::uintptr_t bytes = bits & (~bits + 1);  // the lowest bit
    const bool isOneAccess =
        event.bytes <= 16 && (event.bytes & (event.bytes - 1u)) == 0 && bytes >= event.bytes && !event.isOfAnyAlignment;
    if (isOneAccess) return event.bytes;
    const std::size_t known = event.isShared ? sizeof(unsigned) : launch_.alignmentAt(event.address);
    return static_cast<unsigned>((std::min)({bytes, static_cast<std::uintptr_t>(known), std::uintptr_t{16}}));
  }

  bool isDeviceMemory(const WarpRequest& request) const {
    const std::uintptr_t address = request.addresses[static_cast<unsigned>(__builtin_ctz(request.mask))];
    return launch_.allocationOf(address) != nullptr;
  }

  void addRequest(const Event& event, bool isShared, const WarpRequest& request) {
    const bool isLoad = event.kind == EventKind::load, isStore = event.kind == EventKind::store;
    const auto kind = static_cast<AccessKind>((isShared ? 3 : 0) + (isLoad ? 0 : isStore ? 1 : 2));
    const std::uintptr_t word = event.kind == EventKind::atomicWord ? KernelCounts::WORD : 0;
    InstructionCounts& instruction = instructionOf(event.pc | word, kind, request);
    if (isShared)
      addShared(instruction, request, isLoad);
    else
      addGlobal(instruction, request, isStore ? written_ : read_);
  }

  std::mutex& mutex_;
  LaunchCounts& launch_;
  KernelCounts counts_;
  TouchedSectors read_, written_;
  std::vector<Trace> traces_;
  std::vector<Warp> warps_;
  std::vector<unsigned> isKnown_;  // of each warp: the lanes that wait for the others
};

/// Counts for all launches of a while.
class Recorder : public LaunchObserver {
 public:
  std::unique_ptr<BlockObserver> observeBlocks(const Launch& launch) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (launch_ == nullptr) {
      launch_ = std::make_unique<LaunchCounts>();
      launch_->allocations = memory().ranges();
      launch_->pointers = launch.pointers;
    }
    return std::make_unique<BlockRecorder>(mutex_, *launch_);
  }

  void end(const Launch& launch) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (launch_ == nullptr) return;
    LaunchCounts& done = *launch_;
    done.counts.launches = 1;
    done.counts.sectorsRead = done.read.size();
    done.counts.sectorsWritten = done.written.size();
    const auto [entry, isNew] = kernels_.try_emplace(launch.kernel);
    if (isNew) order_.push_back(launch.kernel);
    entry->second.add(done.counts);
    launch_.reset();
  }

  /// Calls `visit(kernel, counts)` in the order of the first launches.
  template <class Visit>
  void forEachKernel(Visit visit) const {
    for (const void* kernel : order_) visit(kernel, kernels_.at(kernel));
  }

  /// Adds what another recorder has counted.
  void add(const Recorder& other) {
    const std::lock_guard<std::mutex> lock(mutex_);
    other.forEachKernel([this](const void* kernel, const KernelCounts& counts) {
      const auto [entry, isNew] = kernels_.try_emplace(kernel);
      if (isNew) order_.push_back(kernel);
      entry->second.add(counts);
    });
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<LaunchCounts> launch_;  // the one that runs
  std::map<const void*, KernelCounts> kernels_;
  std::vector<const void*> order_;
};

}  // namespace gpuopt::emulation::detail
