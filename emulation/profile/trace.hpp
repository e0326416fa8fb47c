/// What one lane has done and nobody has counted yet, and how the lanes of a warp are put together again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::emulation::detail {

enum class EventKind : std::uint8_t { load, store, atomic, atomicWord, branch, barrier, warpOperation };

/// A point of a lane's way through its kernel.
struct Event {
  std::uintptr_t pc;       // where the hook returns to
  std::uintptr_t address;  // of accesses
  std::uint32_t depth;     // of the stack: larger in called functions
  std::uint16_t bytes;
  EventKind kind;
  bool isShared;
  bool isOfAnyAlignment;  // the compiler knows less than the size demands

  bool isAt(const Event& other) const { return pc == other.pc && depth == other.depth && kind == other.kind; }

  /// Whether a warp whose lanes are at both executes this one first: a called function comes first, then the lower
  /// address. Compilers lay code out so that lanes meet again at higher addresses. Source: Collange, Stack-less SIMT
  /// reconvergence at low cost, 2011.
  bool isBefore(const Event& other) const { return depth != other.depth ? depth > other.depth : pc < other.pc; }
};

struct Trace {
  static constexpr std::size_t LIMIT = 1024;  // events, then the other lanes catch up

  std::vector<Event> events;
  std::size_t next = 0;  // the first that is not counted
  bool hasLeft = false;
  bool isSilent = false;  // while the lane waits for the others to catch up
  Lane* lane = nullptr;
  std::uintptr_t stack = 0, stackEnd = 0;
  std::uintptr_t shared = 0, sharedEnd = 0;    // static variables of the block
  std::uintptr_t dynamic = 0, dynamicEnd = 0;  // dynamic shared memory

  bool isEmpty() const { return next == events.size(); }
  bool isOnStack(std::uintptr_t address) const { return stack <= address && address < stackEnd; }
  bool isInSharedMemory(std::uintptr_t address) const {
    return (shared <= address && address < sharedEnd) || (dynamic <= address && address < dynamicEnd);
  }

  void clear() {
    events.clear();
    next = 0;
  }

  void forgetCounted() {
    if (next < LIMIT / 2) return;
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(next));
    next = 0;
  }

  void add(const Event& event) { events.push_back(event); }
};

/// Puts the traces of a warp's lanes together: `count(event, mask, events)` for each instruction that lanes execute
/// together, in order, where events[lane] is that of each lane in the mask. Stops where a lane's next event is not
/// known yet.
template <class Count>
void mergeLanes(Trace* traces, unsigned lanes, Count count) {
  std::array<const Event*, WARP_LANES> next;
  for (;;) {
    const Event* first = nullptr;
    unsigned mask = 0;
    for (unsigned i = 0; i < lanes; ++i) {
      Trace& trace = traces[i];
      if (trace.isEmpty()) {
        if (!trace.hasLeft) return;
        continue;
      }
      next[i] = &trace.events[trace.next];
      if (first == nullptr || (!next[i]->isAt(*first) && next[i]->isBefore(*first))) {
        first = next[i];
        mask = 1u << i;
      } else if (next[i]->isAt(*first)) {
        mask |= 1u << i;
      }
    }
    if (first == nullptr) return;
    count(*first, mask, next);
    forEachLane(mask, [&](unsigned i) {
      if (++traces[i].next == traces[i].events.size()) traces[i].clear();
    });
  }
}

}  // namespace gpuopt::emulation::detail
