/// \file
/// 16-byte accesses to global memory and the elements within them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// What a load leaves behind in the caches.
enum class Caching {
  normal,  // through L1: neighbouring loads share its lines
  stream,  // not in L1, first out of L2: spares lines that another kernel has just written
};

// 16 bytes of read-only global memory, aligned to 16. The assembly is volatile so that loads written one
// after the other are issued so, before anything waits for the first.
template <Caching CACHING>
__device__ inline uint4 loadVector(const void* address) {
  uint4 v;
#if defined(__CUDA_ARCH__)
  if constexpr (CACHING == Caching::stream)
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  else
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
#else
  __builtin_memcpy(&v, address, sizeof(v));
#endif
  return v;
}

// 16 bytes of a row of read-only global memory, aligned to 16; with them, the other ones of their 128 bytes,
// or AHEAD of their 256, come into the L2 cache.
template <bool AHEAD>
__device__ inline uint4 loadRowVector(const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint4 v;
  if constexpr (AHEAD)
    asm volatile("ld.global.nc.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  else
    asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  return v;
#else
  return loadVector<Caching::normal>(address);
#endif
}

// 16 bytes of global memory, aligned to 16. A plain assignment may come out as four stores.
__device__ inline void storeVector(void* address, const uint4& v) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
#else
  __builtin_memcpy(address, &v, sizeof(v));
#endif
}

// A word of global memory in one store. What was put together from parts may come out as stores of the parts
// otherwise.
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

// Consecutive elements of T that fill whole 16-byte vectors: four floats in one vector, four float3 in three.
template <class T>
struct VectorShape {
  static constexpr std::size_t common = greatestCommonDivisor(sizeof(T), 16);
  static constexpr int ELEMENTS = static_cast<int>(16 / common);
  static constexpr int VECTORS = static_cast<int>(sizeof(T) / common);
};

// COUNT consecutive elements in registers, as the 16-byte vectors that hold them.
template <class T, int COUNT, bool ALIGNED>
struct VectorGroup {
  static constexpr int VECTORS = static_cast<int>(COUNT * sizeof(T) / 16);
  static_assert(COUNT * sizeof(T) % 16 == 0);
  uint4 vectors[VECTORS];

  // Several vectors a thread share lines with the neighbouring lanes' loads: those go through L1.
  template <Caching CACHING>
  __device__ void load(const T* elements) {
    const unsigned char* address = reinterpret_cast<const unsigned char*>(elements);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      vectors[i] = loadVector < VECTORS == 1 ? CACHING : Caching::normal > (address + 16 * i);
  }

  __device__ void unpack(T (&elements)[COUNT]) const { __builtin_memcpy(elements, vectors, sizeof(vectors)); }
};

// The same elements from any address, one load each.
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

}  // namespace detail
GPUOPT_NAMESPACE_END
