/// CPU stand-in for the toolkit's cuda_fp16.h: __half and __half2 with their common functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"
#include "gpuopt_emulation/small_float.hpp"

namespace gpuopt::emulation::detail {
using HalfFormat = SmallFloat<5, 10>;
}

GPUOPT_EMULATION_SMALL_FLOAT(__half, __half2, gpuopt::emulation::detail::HalfFormat)

using half = __half;
using half2 = __half2;

inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline unsigned short __half_as_ushort(__half a) { return a.__x; }
inline short __half_as_short(__half a) { return static_cast<short>(a.__x); }
inline __half __ushort_as_half(unsigned short bits) { return gpuopt::emulation::detail::bitCast<__half>(bits); }
inline __half __short_as_half(short bits) { return gpuopt::emulation::detail::bitCast<__half>(bits); }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half __ushort2half_rn(unsigned short a) { return a; }
inline __half __short2half_rn(short a) { return a; }
inline __half __uint2half_rn(unsigned a) { return a; }
inline __half __ll2half_rn(long long a) { return a; }
inline int __half2int_rn(__half a) { return __float2int_rn(a); }
inline int __half2int_rz(__half a) { return __float2int_rz(a); }
inline unsigned __half2uint_rn(__half a) { return __float2uint_rn(a); }
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
