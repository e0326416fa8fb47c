/// From the functions that g++ calls at every access and every basic block to the traces of lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler_hooks.hpp"
#include "trace.hpp"

#include "gpuopt_emulation/async_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpuopt::emulation::detail {

inline bool isBuiltInVariable(std::uintptr_t address) {
  const auto isIn = [address](const auto& variable) {
    return address - reinterpret_cast<std::uintptr_t>(&variable) < sizeof variable;
  };
  return isIn(threadIdx) || isIn(blockIdx) || isIn(blockDim) || isIn(gridDim) || isIn(currentLane);
}

/// The lane's trace if a lane runs that is observed, and not the scheduler, whose stack is another.
inline Trace* traceOf(const void* frame) {
  if (currentLane == nullptr || currentLane->trace == nullptr) return nullptr;
  Trace* const trace = currentLane->trace;
  return trace->isSilent || !trace->isOnStack(reinterpret_cast<std::uintptr_t>(frame)) ? nullptr : trace;
}

inline void addEvent(Trace& trace, EventKind kind, std::uintptr_t address, std::size_t bytes, bool isShared,
                     bool isOfAnyAlignment, const void* caller, const void* frame, std::uintptr_t source = 0) {
  Event& event = trace.events.emplace_back();  // written in place: this is half of a profile's time
  event.pc = reinterpret_cast<std::uintptr_t>(caller);
  event.address = address;
  event.source = source;
  event.depth = static_cast<std::uint32_t>(trace.stackEnd - reinterpret_cast<std::uintptr_t>(frame));
  event.bytes = static_cast<std::uint16_t>((std::min)(bytes, std::size_t{UINT16_MAX}));
  event.kind = kind;
  event.isShared = isShared;
  event.isOfAnyAlignment = isOfAnyAlignment;
  if (!trace.isFull() || trace.events.size() % Trace::LIMIT != 0) return;
  trace.isSilent = true;
  trace.lane->block->yieldQuietly(*trace.lane);
  trace.isSilent = false;
}

inline void recordAccess(EventKind kind, const volatile void* pointer, std::size_t bytes, bool isOfAnyAlignment,
                         const void* caller, const void* frame) {
  Trace* const trace = traceOf(frame);
  if (trace == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (trace->isOnStack(address)) return;
  const bool isShared = trace->isInSharedMemory(address);
  if (isShared && isBuiltInVariable(address)) return;
  addEvent(*trace, kind, address, bytes, isShared, isOfAnyAlignment, caller, frame);
}

inline void recordAsyncCopy(void* to, const void* from, std::size_t bytes, bool isRead, const void* caller,
                            const void* frame) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  Trace* const trace = traceOf(frame);
  if (trace != nullptr && trace->isInSharedMemory(address))
    addEvent(*trace, EventKind::asyncCopy, address, bytes, true, false, caller, frame,
             isRead ? reinterpret_cast<std::uintptr_t>(from) : 0);
}

inline void recordBlock(const void* caller, const void* frame) {
  if (Trace* const trace = traceOf(frame)) addEvent(*trace, EventKind::block, 0, 0, false, false, caller, frame);
}

inline EventKind eventKind(HookedAccess::Kind kind) {
  if (kind == HookedAccess::Kind::atomicUpdate) return EventKind::atomicWord;
  const bool isLoad = kind == HookedAccess::Kind::load || kind == HookedAccess::Kind::atomicLoad;
  return isLoad ? EventKind::load : EventKind::store;
}

void noteAccess(HookedAccess access, const volatile void* address, std::size_t bytes, const void* caller,
                const void* frame) {
  recordAccess(eventKind(access.kind), address, bytes, access.isOfAnyAlignment, caller, frame);
}

void noteFence(int, const void*) {}

}  // namespace gpuopt::emulation::detail

extern "C" {

void gpuoptProfileAtomic(const volatile void* address, std::size_t bytes) {
  using namespace gpuopt::emulation::detail;
  recordAccess(EventKind::atomic, address, bytes, false, __builtin_return_address(0), __builtin_frame_address(0));
}

void gpuoptProfileAsyncCopy(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  gpuopt::emulation::detail::recordAsyncCopy(to, from, bytes, zeros < bytes, __builtin_return_address(0),
                                             __builtin_frame_address(0));
  gpuopt::emulation::detail::copyBytes(to, from, bytes, zeros);
}

void __sanitizer_cov_trace_pc() {
  gpuopt::emulation::detail::recordBlock(__builtin_return_address(0), __builtin_frame_address(0));
}
}
