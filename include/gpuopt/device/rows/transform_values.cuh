/// \file
/// Elements of a row as the numbers that transformRows computes with, and back.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <type_traits>

struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

GPUOPT_DETAIL_BEGIN

// What elements of T become before a statistic or a map sees them.
template <class T>
using RowValue = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
inline constexpr bool isFloat8 = isOneOf<T, __nv_fp8_e4m3, __nv_fp8_e5m2>;

// Elements of 16 bytes.
template <class T>
inline constexpr int rowVector = static_cast<int>(16 / sizeof(T));

// COUNT elements in the words that one access moves.
template <class T, int COUNT>
struct RowWords {
  static constexpr std::size_t BYTES = COUNT * sizeof(T);
  static constexpr std::size_t WORD_BYTES = smallerOf(BYTES, std::size_t{16});
  static constexpr int WORDS = static_cast<int>(BYTES / WORD_BYTES);
  Word<WORD_BYTES> words[WORDS];
};

// Whether one instruction converts two floats to a pair of T.
template <class T>
inline constexpr bool hasPairConversion =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    isHalf<T> || isFloat8<T>;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    isHalf<T>;
#else
    false;
#endif

// Two floats as a pair of 16-bit or 8-bit numbers, rounded to nearest; the first one in the lower half.
template <class T>
__device__ inline auto pairOf([[maybe_unused]] float first, [[maybe_unused]] float second) {
  std::conditional_t<isHalf<T>, unsigned, unsigned short> pair{};
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else if constexpr (isHalf<T>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else if constexpr (std::is_same_v<T, __nv_fp8_e4m3>)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
#endif
  return pair;
}

// Converts what a map returned to the elements of the output.
template <class T, class Value, int COUNT>
__device__ inline RowWords<T, COUNT> packRow(const Value (&values)[COUNT]) {
  RowWords<T, COUNT> packed;
  if constexpr (std::is_same_v<Value, float> && hasPairConversion<T> && COUNT % 2 == 0) {
    decltype(pairOf<T>(0, 0)) pairs[COUNT / 2];
#pragma unroll
    for (int i = 0; i < COUNT / 2; ++i) pairs[i] = pairOf<T>(values[2 * i], values[2 * i + 1]);
    __builtin_memcpy(&packed, pairs, sizeof(packed));
  } else {
    T elements[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) elements[i] = static_cast<T>(values[i]);
    __builtin_memcpy(&packed, elements, sizeof(packed));
  }
  return packed;
}

// The numbers in a vector of 16 bytes. The bits of a __nv_bfloat16 are the upper half of a float's.
template <class T>
__device__ inline void unpackRow(const uint4& vector, RowValue<T> (&values)[rowVector<T>]) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    const unsigned words[] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned bits = i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000u;
      __builtin_memcpy(&values[i], &bits, sizeof(bits));
    }
  } else {
    T elements[rowVector<T>];
    __builtin_memcpy(elements, &vector, sizeof(vector));
#pragma unroll
    for (int i = 0; i < rowVector<T>; ++i) values[i] = static_cast<RowValue<T>>(elements[i]);
  }
}

// Loads 16 aligned bytes that this kernel may overwrite later. Volatile, so that all loads of a thread are issued
// before the first is used.
__device__ inline uint4 loadOverwritten(const void* address) {
#if defined(__CUDA_ARCH__)
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
#else
  return loadVector<Caching::normal>(address);
#endif
}

GPUOPT_DETAIL_END
