/// \file
/// 16-byte accesses to global memory and the elements within them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The cache policy of a load.
enum class Caching {
  normal,  // through L1, where neighbouring loads share lines
  stream,  // bypasses L1 and is evicted from L2 first: lines that another kernel has just written stay
};

// Loads a vector of read-only global memory. The assembly is volatile so that successive loads are issued back to back,
// before any instruction waits for the first.
#define GPUOPT_LOAD_VECTOR(vector, address, modifiers)                          \
  asm volatile("ld.global.nc" modifiers ".v4.u32 {%0, %1, %2, %3}, [%4];"       \
               : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w) \
               : "l"(address))

// Loads 16 aligned bytes.
template <Caching CACHING>
__device__ inline uint4 loadVector(const void* address) {
  uint4 v;
#if defined(__CUDA_ARCH__)
  if constexpr (CACHING == Caching::stream)
    GPUOPT_LOAD_VECTOR(v, address, ".L1::no_allocate");
  else
    GPUOPT_LOAD_VECTOR(v, address, "");
#else
  const uint4& aligned = *static_cast<const uint4*>(address);               // UBSan checks that it is
  __builtin_memcpy(&v, __builtin_assume_aligned(&aligned, 16), sizeof(v));  // one access of the profile
#endif
  return v;
}

// Loads 16 aligned bytes of a row, and makes L2 fetch the 128 bytes around them, or with PREFETCH the 256 bytes.
template <bool PREFETCH>
__device__ inline uint4 loadRowVector(const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint4 v;
  if constexpr (PREFETCH)
    GPUOPT_LOAD_VECTOR(v, address, ".L2::256B");
  else
    GPUOPT_LOAD_VECTOR(v, address, ".L2::128B");
  return v;
#else
  return loadVector<Caching::normal>(address);
#endif
}
#undef GPUOPT_LOAD_VECTOR

// 32 bytes in registers.
struct WideVector {
  uint4 halves[2];
};

#define GPUOPT_LOAD_WIDE_VECTOR(low, high, address, modifiers)                                                 \
  asm volatile("ld.global.nc" modifiers ".v8.u32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"                      \
               : "=r"(low.x), "=r"(low.y), "=r"(low.z), "=r"(low.w), "=r"(high.x), "=r"(high.y), "=r"(high.z), \
                 "=r"(high.w)                                                                                  \
               : "l"(address))

// Loads 32 aligned bytes: in one instruction from sm_100 on, in two before.
template <Caching CACHING>
__device__ inline WideVector loadWideVector(const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1209
  WideVector v;
  if constexpr (CACHING == Caching::stream)
    GPUOPT_LOAD_WIDE_VECTOR(v.halves[0], v.halves[1], address, ".L1::no_allocate");
  else
    GPUOPT_LOAD_WIDE_VECTOR(v.halves[0], v.halves[1], address, "");
  return v;
#else
  // Each half takes half of every sector: the second finds the line in L1.
  const unsigned char* const bytes = static_cast<const unsigned char*>(address);
  return {{loadVector<Caching::normal>(bytes), loadVector<Caching::normal>(bytes + 16)}};
#endif
}
#undef GPUOPT_LOAD_WIDE_VECTOR

// Stores 16 aligned bytes in one instruction. The compiler may split a plain assignment into four.
__device__ inline void storeVector(void* address, const uint4& v) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
#else
  uint4& aligned = *static_cast<uint4*>(address);                           // UBSan checks that it is
  __builtin_memcpy(__builtin_assume_aligned(&aligned, 16), &v, sizeof(v));  // one access of the profile
#endif
}

// Stores a word in one instruction. The compiler may split a plain assignment of a word that was assembled from smaller
// ones.
template <std::size_t SIZE>
__device__ inline void storeWord(void* address, const Word<SIZE>& word) {
#if defined(__CUDA_ARCH__)
  if constexpr (SIZE == 16)
    storeVector(address, word);
  else if constexpr (SIZE == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(address), "r"(word.x), "r"(word.y) : "memory");
  else if constexpr (SIZE == 4)
    asm volatile("st.global.u32 [%0], %1;" : : "l"(address), "r"(word) : "memory");
  else if constexpr (SIZE == 2)
    asm volatile("st.global.u16 [%0], %1;" : : "l"(address), "h"(word) : "memory");
  else
    *static_cast<Word<SIZE>*>(address) = word;
#else
  *static_cast<Word<SIZE>*>(address) = word;
#endif
}

// The fewest consecutive elements of T that fill full 16-byte vectors: four floats one vector, four float3 three.
template <class T>
struct FullVectors {
  static constexpr std::size_t common = greatestCommonDivisor(sizeof(T), 16);
  static constexpr int ELEMENTS = static_cast<int>(16 / common);
  static constexpr int VECTORS = static_cast<int>(sizeof(T) / common);
};

// COUNT consecutive elements in registers, loaded as 16-byte vectors.
template <class T, int COUNT, bool ALIGNED>
struct VectorGroup {
  static constexpr int VECTORS = static_cast<int>(COUNT * sizeof(T) / 16);
  static_assert(COUNT * sizeof(T) % 16 == 0);
  uint4 vectors[VECTORS];

  // Where a thread loads several vectors, neighbouring lanes load from the same lines: those go through L1.
  template <Caching CACHING>
  __device__ void load(const T* elements) {
    const unsigned char* address = reinterpret_cast<const unsigned char*>(elements);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      vectors[i] = loadVector<(VECTORS == 1 ? CACHING : Caching::normal)>(address + 16 * i);
  }

  __device__ void unpack(T (&elements)[COUNT]) const { __builtin_memcpy(elements, vectors, sizeof(vectors)); }
};

// The same elements at any alignment, loaded one by one.
template <class T, int COUNT>
struct VectorGroup<T, COUNT, false> {
  T values[COUNT];

  template <Caching>
  __device__ void load(const T* elements) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) values[i] = elements[i];
  }

  __device__ void unpack(T (&elements)[COUNT]) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) elements[i] = values[i];
  }
};

GPUOPT_DETAIL_END
