/// \file
/// Atomic additions of neighbouring numbers to global memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cuda_runtime.h>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// Up to 16 bytes in one operation.
__device__ inline void atomicAddVector(float* out, const float (&x)[4]) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(out), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
}

#define GPUOPT_ATOMIC_ADD_HALVES(T, type)                                                                     \
  __device__ inline void atomicAddVector(T* out, const unsigned(&x)[4]) {                                     \
    asm volatile("red.relaxed.gpu.global.add.noftz.v4." type "x2 [%0], {%1, %2, %3, %4};"                     \
                 :                                                                                            \
                 : "l"(out), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])                                       \
                 : "memory");                                                                                 \
  }                                                                                                           \
  __device__ inline void atomicAddVector(T* out, const unsigned(&x)[2]) {                                     \
    asm volatile("red.relaxed.gpu.global.add.noftz.v2." type "x2 [%0], {%1, %2};"                             \
                 :                                                                                            \
                 : "l"(out), "r"(x[0]), "r"(x[1])                                                             \
                 : "memory");                                                                                 \
  }                                                                                                           \
  __device__ inline void atomicAddVector(T* out, const unsigned(&x)[1]) {                                     \
    asm volatile("red.relaxed.gpu.global.add.noftz." type "x2 [%0], %1;" : : "l"(out), "r"(x[0]) : "memory"); \
  }
GPUOPT_ATOMIC_ADD_HALVES(__half, "f16")
GPUOPT_ATOMIC_ADD_HALVES(__nv_bfloat16, "bf16")
#undef GPUOPT_ATOMIC_ADD_HALVES
#endif

// atomicCAS of a word of 2 or 4 bytes.
__device__ inline unsigned compareAndSwap(unsigned* address, unsigned expected, unsigned desired) {
  return atomicCAS(address, expected, desired);
}
__device__ inline unsigned short compareAndSwap(unsigned short* address, unsigned short expected,
                                                unsigned short desired) {
#if defined(__clang__) && defined(__CUDA_ARCH__)  // clang++ 19 has none of 2 bytes
  unsigned short before;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(before) : "l"(address), "h"(expected), "h"(desired) : "memory");
  return before;
#else
  return atomicCAS(address, expected, desired);
#endif
}

// Adds to the N elements that fill a word of 2 or 4 bytes, by comparing and exchanging it.
template <unsigned N, class T>
__device__ inline void atomicAddWord(T* out, const T* x) {
  using Bits = std::conditional_t<N * sizeof(T) == 2, unsigned short, unsigned>;
  auto* const address = reinterpret_cast<Bits*>(out);
  Bits before = *static_cast<const volatile Bits*>(address), expected;  // others add to it meanwhile
  do {
    expected = before;
    T sums[N];
    __builtin_memcpy(static_cast<void*>(sums), &expected, sizeof(sums));
#pragma unroll
    for (unsigned i = 0; i < N; ++i) sums[i] = static_cast<T>(static_cast<float>(sums[i]) + static_cast<float>(x[i]));
    Bits desired;
    __builtin_memcpy(&desired, sums, sizeof(desired));
    before = compareAndSwap(address, expected, desired);
  } while (before != expected);
}

// out[i] += x[i] for i < N: float, double, __half or __nv_bfloat16, of a power of two of up to 16 bytes, to which `out`
// is aligned. Each element is added atomically, all in no particular order.
template <unsigned N, class T>
__device__ inline void atomicAddElements(T* out, const T (&x)[N]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr bool IS_VECTOR = (std::is_same_v<T, float> && N == 4) || (isHalf<T> && N > 1);
#else
  constexpr bool IS_VECTOR = false;
#endif
  if constexpr (IS_VECTOR && isHalf<T>) {
    unsigned words[N / 2];
    __builtin_memcpy(words, x, sizeof(words));
    atomicAddVector(out, words);
  } else if constexpr (IS_VECTOR) {
    atomicAddVector(out, x);
  } else if constexpr (isHalf<T>) {
    constexpr unsigned TOGETHER = N > 1 ? 2 : 1;
#pragma unroll
    for (unsigned i = 0; i < N; i += TOGETHER) atomicAddWord<TOGETHER>(out + i, x + i);
  } else {
#pragma unroll
    for (unsigned i = 0; i < N; ++i) atomicAdd(out + i, x[i]);
  }
}

GPUOPT_DETAIL_END
