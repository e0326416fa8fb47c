/// What one lane has done and nobody has counted yet.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::emulation::detail {

enum class EventKind : std::uint8_t { load, store, atomic, atomicWord, asyncCopy, block };

/// A point of a lane's way through its kernel: an access to memory, or the begin of a basic block.
struct Event {
  std::uintptr_t pc;       // where the hook returns to
  std::uintptr_t address;  // of accesses; in shared memory of asynchronous copies
  std::uintptr_t source;   // of asynchronous copies: in global memory, or 0 if nothing is read
  std::uint32_t depth;     // of the stack: larger in called functions
  std::uint16_t bytes;
  EventKind kind;
  bool isShared : 1;
  bool isOfAnyAlignment : 1;  // the compiler knows less than the size demands

  bool isAt(const Event& other) const { return pc == other.pc && depth == other.depth; }
};

struct Trace {
  static constexpr std::size_t LIMIT = 1024;  // events, then the other lanes catch up

  std::vector<Event> events;
  std::size_t next = 0;     // the first that is not counted
  bool isComplete = false;  // up to a barrier of the block, or the kernel's end
  bool hasLeft = false;
  bool isSilent = false;  // while the lane waits for the others to catch up
  Lane* lane = nullptr;
  std::uintptr_t stack = 0, stackEnd = 0;
  std::uintptr_t shared = 0, sharedEnd = 0;    // static variables of the block
  std::uintptr_t dynamic = 0, dynamicEnd = 0;  // dynamic shared memory

  bool isEmpty() const { return next == events.size(); }
  bool isFull() const { return events.size() - next >= LIMIT; }
  const Event& front() const { return events[next]; }

  bool isOnStack(std::uintptr_t address) const { return stack <= address && address < stackEnd; }
  bool isInSharedMemory(std::uintptr_t address) const {
    return (shared <= address && address < sharedEnd) || (dynamic <= address && address < dynamicEnd);
  }

  void clear() {
    events.clear();
    next = 0;
  }
};

}  // namespace gpuopt::emulation::detail
