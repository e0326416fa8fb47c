/// Atomic functions and fences. Blocks run on several threads, so the atomics are real.
// SPDX-License-Identifier: MIT
#pragma once

#include "language.hpp"

#include <cstddef>
#include <type_traits>

#ifdef GPUOPT_EMULATION_PROFILE
extern "C" void gpuoptProfileAtomic(const volatile void* address, std::size_t bytes);
#endif
#ifdef GPUOPT_EMULATION_CHECK
extern "C" void gpuoptCheckBlockFence();
#endif

namespace gpuopt::emulation::detail {

/// Tells the profile of an atomic function, with the place it is called from.
template <class T>
__forceinline__ void noteAtomic([[maybe_unused]] const T* address) {
#ifdef GPUOPT_EMULATION_PROFILE
  gpuoptProfileAtomic(address, sizeof(T));
#endif
}

template <class T, class... Types>
inline constexpr bool isOneOf = (std::is_same_v<T, Types> || ...);

/// The second argument of an atomic function converts to the type of the first.
template <class T>
struct Same {
  using Type = T;
};

template <class T>
__forceinline__ T load(const T* address) {
  T value;
  __atomic_load(address, &value, __ATOMIC_RELAXED);
  return value;
}

/// Replaces `*address` by `next(*address)`; returns what was there.
template <class T, class Next>
__forceinline__ T update(T* address, Next next) {
  noteAtomic(address);
  T old = load(address);
  for (;;) {
    T desired = next(old);
    if (__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace gpuopt::emulation::detail

// Each function takes the types that CUDA's has, and has variants for a block and for the whole system.
#define GPUOPT_EMULATION_ATOMIC(function, expression, ...)                                                   \
  template <class T, class = std::enable_if_t<gpuopt::emulation::detail::isOneOf<T, __VA_ARGS__>>>           \
  __forceinline__ T function(T* address, typename gpuopt::emulation::detail::Same<T>::Type value) {          \
    return gpuopt::emulation::detail::update(address, [value](T old) -> T { return expression; });           \
  }                                                                                                          \
  template <class T, class = std::enable_if_t<gpuopt::emulation::detail::isOneOf<T, __VA_ARGS__>>>           \
  __forceinline__ T function##_block(T* address, typename gpuopt::emulation::detail::Same<T>::Type value) {  \
    return function(address, value);                                                                         \
  }                                                                                                          \
  template <class T, class = std::enable_if_t<gpuopt::emulation::detail::isOneOf<T, __VA_ARGS__>>>           \
  __forceinline__ T function##_system(T* address, typename gpuopt::emulation::detail::Same<T>::Type value) { \
    return function(address, value);                                                                         \
  }

// Integers wrap around, signed ones too.
namespace gpuopt::emulation::detail {
template <class T>
T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}
}  // namespace gpuopt::emulation::detail

GPUOPT_EMULATION_ATOMIC(atomicAdd, (gpuopt::emulation::detail::wrappingAdd<T>(old, value)), int, unsigned,
                        unsigned long long, float, double)
GPUOPT_EMULATION_ATOMIC(atomicSub, static_cast<T>(static_cast<unsigned>(old) - static_cast<unsigned>(value)), int,
                        unsigned)
GPUOPT_EMULATION_ATOMIC(atomicExch, (static_cast<void>(old), value), int, unsigned, unsigned long long, float)
GPUOPT_EMULATION_ATOMIC(atomicMin, value < old ? value : old, int, unsigned, long long, unsigned long long)
GPUOPT_EMULATION_ATOMIC(atomicMax, old < value ? value : old, int, unsigned, long long, unsigned long long)
GPUOPT_EMULATION_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
GPUOPT_EMULATION_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)
GPUOPT_EMULATION_ATOMIC(atomicAnd, old& value, int, unsigned, unsigned long long)
GPUOPT_EMULATION_ATOMIC(atomicOr, old | value, int, unsigned, unsigned long long)
GPUOPT_EMULATION_ATOMIC(atomicXor, old ^ value, int, unsigned, unsigned long long)
#undef GPUOPT_EMULATION_ATOMIC

template <class T, class = std::enable_if_t<
                       gpuopt::emulation::detail::isOneOf<T, int, unsigned, unsigned long long, unsigned short>>>
__forceinline__ T atomicCAS(T* address, typename gpuopt::emulation::detail::Same<T>::Type compare,
                            typename gpuopt::emulation::detail::Same<T>::Type value) {
  gpuopt::emulation::detail::noteAtomic(address);
  __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}

template <class T>
T atomicCAS_block(T* address, typename gpuopt::emulation::detail::Same<T>::Type compare,
                  typename gpuopt::emulation::detail::Same<T>::Type value) {
  return atomicCAS(address, compare, value);
}
template <class T>
T atomicCAS_system(T* address, typename gpuopt::emulation::detail::Same<T>::Type compare,
                   typename gpuopt::emulation::detail::Same<T>::Type value) {
  return atomicCAS(address, compare, value);
}

// The functions of CUDA 12.8 with an order and a scope of threads, which here is always the whole system.
enum { __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED, __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME };
enum { __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE };
enum { __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST };
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};
template <class T>
T __nv_atomic_load_n(const T* address, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_load_n(address, order);
}
template <class T>
void __nv_atomic_load(const T* address, T* result, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_load(address, result, order);
}
template <class T>
void __nv_atomic_store_n(T* address, typename gpuopt::emulation::detail::Same<T>::Type value, int order,
                         int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store_n(address, value, order);
}
template <class T>
void __nv_atomic_store(T* address, T* value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store(address, value, order);
}
#define GPUOPT_EMULATION_NV_ATOMIC(name, function)                                               \
  template <class T>                                                                             \
  T __nv_atomic_##name(T* address, typename gpuopt::emulation::detail::Same<T>::Type value, int, \
                       int = __NV_THREAD_SCOPE_SYSTEM) {                                         \
    __atomic_thread_fence(__ATOMIC_SEQ_CST);                                                     \
    const T old = function(address, value);                                                      \
    __atomic_thread_fence(__ATOMIC_SEQ_CST);                                                     \
    return old;                                                                                  \
  }
GPUOPT_EMULATION_NV_ATOMIC(fetch_add, atomicAdd)
GPUOPT_EMULATION_NV_ATOMIC(fetch_sub, atomicSub)
GPUOPT_EMULATION_NV_ATOMIC(fetch_and, atomicAnd)
GPUOPT_EMULATION_NV_ATOMIC(fetch_or, atomicOr)
GPUOPT_EMULATION_NV_ATOMIC(fetch_xor, atomicXor)
GPUOPT_EMULATION_NV_ATOMIC(fetch_min, atomicMin)
GPUOPT_EMULATION_NV_ATOMIC(fetch_max, atomicMax)
GPUOPT_EMULATION_NV_ATOMIC(exchange_n, atomicExch)
#undef GPUOPT_EMULATION_NV_ATOMIC

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {
#ifdef GPUOPT_EMULATION_CHECK
  gpuoptCheckBlockFence();  // the compiler's fences say nothing of their scope
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
