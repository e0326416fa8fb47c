/// The built-in vector types with CUDA's sizes and alignments, dim3, and the built-in variables of a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "language.hpp"

#define GPUOPT_EMULATION_VECTOR1(T, name) \
  struct name##1 {                        \
    T x;                                  \
  };                                      \
  inline name##1 make_##name##1(T x) { return {x}; }

#define GPUOPT_EMULATION_VECTOR2(T, name, alignment) \
  struct __align__(alignment) name##2 {              \
    T x, y;                                          \
  };                                                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }

#define GPUOPT_EMULATION_VECTOR3(T, name) \
  struct name##3 {                        \
    T x, y, z;                            \
  };                                      \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }

#define GPUOPT_EMULATION_VECTOR4(T, name, alignment) \
  struct __align__(alignment) name {                 \
    T x, y, z, w;                                    \
  };                                                 \
  inline name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }

#define GPUOPT_EMULATION_VECTORS(T, name, alignment2, alignment4) \
  GPUOPT_EMULATION_VECTOR1(T, name)                               \
  GPUOPT_EMULATION_VECTOR2(T, name, alignment2)                   \
  GPUOPT_EMULATION_VECTOR3(T, name)                               \
  GPUOPT_EMULATION_VECTOR4(T, name##4, alignment4)

// The 32-byte types come with an explicit alignment of 16 or 32 since CUDA 13; the plain name keeps 16.
#define GPUOPT_EMULATION_WIDE_VECTORS(T, name) \
  GPUOPT_EMULATION_VECTORS(T, name, 16, 16)    \
  GPUOPT_EMULATION_VECTOR4(T, name##4_16a, 16) \
  GPUOPT_EMULATION_VECTOR4(T, name##4_32a, 32)

GPUOPT_EMULATION_VECTORS(signed char, char, 2, 4)
GPUOPT_EMULATION_VECTORS(unsigned char, uchar, 2, 4)
GPUOPT_EMULATION_VECTORS(short, short, 4, 8)
GPUOPT_EMULATION_VECTORS(unsigned short, ushort, 4, 8)
GPUOPT_EMULATION_VECTORS(int, int, 8, 16)
GPUOPT_EMULATION_VECTORS(unsigned int, uint, 8, 16)
GPUOPT_EMULATION_VECTORS(float, float, 8, 16)
GPUOPT_EMULATION_WIDE_VECTORS(long, long)
GPUOPT_EMULATION_WIDE_VECTORS(unsigned long, ulong)
GPUOPT_EMULATION_WIDE_VECTORS(long long, longlong)
GPUOPT_EMULATION_WIDE_VECTORS(unsigned long long, ulonglong)
GPUOPT_EMULATION_WIDE_VECTORS(double, double)

#undef GPUOPT_EMULATION_VECTOR1
#undef GPUOPT_EMULATION_VECTOR2
#undef GPUOPT_EMULATION_VECTOR3
#undef GPUOPT_EMULATION_VECTOR4
#undef GPUOPT_EMULATION_VECTORS
#undef GPUOPT_EMULATION_WIDE_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

/// The built-in variables: the scheduler writes them before a lane runs.
inline thread_local uint3 threadIdx{0, 0, 0};
inline thread_local uint3 blockIdx{0, 0, 0};
inline thread_local dim3 blockDim{1, 1, 1};
inline thread_local dim3 gridDim{1, 1, 1};
inline constexpr int warpSize = 32;
