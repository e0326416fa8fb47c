/// The functions that g++ calls at every access of a program that is compiled with -fsanitize=thread. The sanitizer
/// itself is not linked: each of them tells noteAccess(), which whoever includes this defines.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace gpuopt::emulation::detail {

/// What the compiler says of an access.
struct HookedAccess {
  enum class Kind : std::uint8_t { load, store, atomicLoad, atomicStore, atomicUpdate };
  Kind kind;
  bool isVolatile = false;
  bool isOfAnyAlignment = false;  ///< the compiler knows less than the size demands
  int order = __ATOMIC_RELAXED;   ///< of atomic ones
  bool isExchange = false;        ///< an update that does not depend on the old value
};

/// Called before the access.
void noteAccess(HookedAccess access, const volatile void* address, std::size_t bytes, const void* caller,
                const void* frame);
/// Called at a fence of C++.
void noteFence(int order, const void* caller);

// These are emitted where the hooks are, with all that they call, and not taken from an instrumented file.
extern const void* const uninstrumented[];
const void* const uninstrumented[] = {reinterpret_cast<const void*>(&launch),
                                      reinterpret_cast<const void*>(&blockCollective),
                                      reinterpret_cast<const void*>(&warpCollective)};

}  // namespace gpuopt::emulation::detail

#define GPUOPT_HOOK(address, bytes, ...)                                                                              \
  gpuopt::emulation::detail::noteAccess({gpuopt::emulation::detail::HookedAccess::Kind::__VA_ARGS__}, address, bytes, \
                                        __builtin_return_address(0), __builtin_frame_address(0))

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* address, std::size_t bytes) { GPUOPT_HOOK(address, bytes, load, false, true); }
void __tsan_write_range(void* address, std::size_t bytes) { GPUOPT_HOOK(address, bytes, store, false, true); }

#define GPUOPT_HOOKS(bytes)                                                                                    \
  void __tsan_read##bytes(void* address) { GPUOPT_HOOK(address, bytes, load); }                                \
  void __tsan_write##bytes(void* address) { GPUOPT_HOOK(address, bytes, store); }                              \
  void __tsan_unaligned_read##bytes(void* address) { GPUOPT_HOOK(address, bytes, load, false, true); }         \
  void __tsan_unaligned_write##bytes(void* address) { GPUOPT_HOOK(address, bytes, store, false, true); }       \
  void __tsan_volatile_read##bytes(void* address) { GPUOPT_HOOK(address, bytes, load, true); }                 \
  void __tsan_volatile_write##bytes(void* address) { GPUOPT_HOOK(address, bytes, store, true); }               \
  void __tsan_unaligned_volatile_read##bytes(void* address) { GPUOPT_HOOK(address, bytes, load, true, true); } \
  void __tsan_unaligned_volatile_write##bytes(void* address) { GPUOPT_HOOK(address, bytes, store, true, true); }
GPUOPT_HOOKS(1)
GPUOPT_HOOKS(2)
GPUOPT_HOOKS(4)
GPUOPT_HOOKS(8)
GPUOPT_HOOKS(16)
#undef GPUOPT_HOOKS

// The compiler turns atomic operations into calls that have to do them. The orders are numbered as the compiler's.
#define GPUOPT_HOOKED_UPDATE(T, bits, name)                               \
  T __tsan_atomic##bits##_##name(volatile T* address, T value, int how) { \
    GPUOPT_HOOK(address, sizeof(T), atomicUpdate, false, false, how);     \
    return __atomic_##name(address, value, __ATOMIC_SEQ_CST);             \
  }
#define GPUOPT_HOOKED_COMPARE(T, bits, name)                                                                    \
  bool __tsan_atomic##bits##_compare_exchange_##name(volatile T* address, T* expected, T value, int how, int) { \
    GPUOPT_HOOK(address, sizeof(T), atomicUpdate, false, false, how);                                           \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }
#define GPUOPT_HOOKED_ATOMICS(T, bits)                                      \
  T __tsan_atomic##bits##_load(const volatile T* address, int how) {        \
    GPUOPT_HOOK(address, sizeof(T), atomicLoad, false, false, how);         \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                      \
  }                                                                         \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int how) { \
    GPUOPT_HOOK(address, sizeof(T), atomicStore, false, false, how);        \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                     \
  }                                                                         \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_add)                                  \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_sub)                                  \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_and)                                  \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_or)                                   \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_xor)                                  \
  GPUOPT_HOOKED_UPDATE(T, bits, fetch_nand)                                 \
  GPUOPT_HOOKED_COMPARE(T, bits, strong)                                    \
  GPUOPT_HOOKED_COMPARE(T, bits, weak)                                      \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int how) { \
    GPUOPT_HOOK(address, sizeof(T), atomicUpdate, false, false, how, true); \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);           \
  }
GPUOPT_HOOKED_ATOMICS(std::uint8_t, 8)
GPUOPT_HOOKED_ATOMICS(std::uint16_t, 16)
GPUOPT_HOOKED_ATOMICS(std::uint32_t, 32)
GPUOPT_HOOKED_ATOMICS(std::uint64_t, 64)
#undef GPUOPT_HOOKED_ATOMICS
#undef GPUOPT_HOOKED_COMPARE
#undef GPUOPT_HOOKED_UPDATE

void __tsan_atomic_thread_fence(int order) {
  gpuopt::emulation::detail::noteFence(order, __builtin_return_address(0));
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}

#undef GPUOPT_HOOK
