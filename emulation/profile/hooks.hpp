/// The functions that g++ calls at every access and every basic block of a program that is compiled with
/// -fsanitize=thread and -fsanitize-coverage=trace-pc. The sanitizer itself is not linked.
// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace gpuopt::emulation::detail

#define GPUOPT_PROFILE_RECORD(kind, address, bytes, ...)                                              \
  gpuopt::emulation::detail::recordAccess(gpuopt::emulation::detail::EventKind::kind, address, bytes, \
                                          bool{__VA_ARGS__}, __builtin_return_address(0), __builtin_frame_address(0))

extern "C" {

void gpuoptProfileAtomic(const volatile void* address, std::size_t bytes) {
  GPUOPT_PROFILE_RECORD(atomic, address, bytes);
}

void gpuoptProfileAsyncCopy(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  gpuopt::emulation::detail::recordAsyncCopy(to, from, bytes, zeros < bytes, __builtin_return_address(0),
                                             __builtin_frame_address(0));
  gpuopt::emulation::detail::copyBytes(to, from, bytes, zeros);
}

void __sanitizer_cov_trace_pc() {
  gpuopt::emulation::detail::recordBlock(__builtin_return_address(0), __builtin_frame_address(0));
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* address, std::size_t bytes) { GPUOPT_PROFILE_RECORD(load, address, bytes, true); }
void __tsan_write_range(void* address, std::size_t bytes) { GPUOPT_PROFILE_RECORD(store, address, bytes, true); }

#define GPUOPT_PROFILE_ACCESSES(bytes)                                                                    \
  void __tsan_read##bytes(void* address) { GPUOPT_PROFILE_RECORD(load, address, bytes); }                 \
  void __tsan_write##bytes(void* address) { GPUOPT_PROFILE_RECORD(store, address, bytes); }               \
  void __tsan_unaligned_read##bytes(void* address) { GPUOPT_PROFILE_RECORD(load, address, bytes, true); } \
  void __tsan_unaligned_write##bytes(void* address) { GPUOPT_PROFILE_RECORD(store, address, bytes, true); }
GPUOPT_PROFILE_ACCESSES(1)
GPUOPT_PROFILE_ACCESSES(2)
GPUOPT_PROFILE_ACCESSES(4)
GPUOPT_PROFILE_ACCESSES(8)
GPUOPT_PROFILE_ACCESSES(16)
#undef GPUOPT_PROFILE_ACCESSES

// The compiler turns atomic operations into calls that have to do them. The orders are numbered as the compiler's.
#define GPUOPT_PROFILE_UPDATE(T, bits, name)                          \
  T __tsan_atomic##bits##_##name(volatile T* address, T value, int) { \
    GPUOPT_PROFILE_RECORD(atomicWord, address, sizeof(T));            \
    return __atomic_##name(address, value, __ATOMIC_SEQ_CST);         \
  }
#define GPUOPT_PROFILE_COMPARE(T, bits, name)                                                                \
  bool __tsan_atomic##bits##_compare_exchange_##name(volatile T* address, T* expected, T value, int, int) {  \
    GPUOPT_PROFILE_RECORD(atomicWord, address, sizeof(T));                                                   \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define GPUOPT_PROFILE_ATOMICS(T, bits)                                 \
  T __tsan_atomic##bits##_load(const volatile T* address, int) {        \
    GPUOPT_PROFILE_RECORD(load, address, sizeof(T));                    \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                  \
  }                                                                     \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int) { \
    GPUOPT_PROFILE_RECORD(store, address, sizeof(T));                   \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                 \
  }                                                                     \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int) { \
    GPUOPT_PROFILE_RECORD(atomicWord, address, sizeof(T));              \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);       \
  }                                                                     \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_add)                             \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_sub)                             \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_and)                             \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_or)                              \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_xor)                             \
  GPUOPT_PROFILE_UPDATE(T, bits, fetch_nand)                            \
  GPUOPT_PROFILE_COMPARE(T, bits, strong)                               \
  GPUOPT_PROFILE_COMPARE(T, bits, weak)
GPUOPT_PROFILE_ATOMICS(std::uint8_t, 8)
GPUOPT_PROFILE_ATOMICS(std::uint16_t, 16)
GPUOPT_PROFILE_ATOMICS(std::uint32_t, 32)
GPUOPT_PROFILE_ATOMICS(std::uint64_t, 64)
#undef GPUOPT_PROFILE_ATOMICS
#undef GPUOPT_PROFILE_COMPARE
#undef GPUOPT_PROFILE_UPDATE

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}

#undef GPUOPT_PROFILE_RECORD
