/// CPU stand-in for the toolkit's cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162 with their common functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"
#include "gpuopt_emulation/small_float.hpp"

namespace gpuopt::emulation::detail {
using Bfloat16Format = SmallFloat<8, 7>;
}

GPUOPT_EMULATION_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, gpuopt::emulation::detail::Bfloat16Format)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline __nv_bfloat16 __float2bfloat16(float a) { return a; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
inline __nv_bfloat16 __double2bfloat16(double a) { return a; }
inline __nv_bfloat16 __int2bfloat16_rn(int a) { return a; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.__x); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return gpuopt::emulation::detail::bitCast<__nv_bfloat16>(bits);
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) { return gpuopt::emulation::detail::bitCast<__nv_bfloat16>(bits); }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
