/// Arithmetic and conversions that round down, up or towards zero.
// SPDX-License-Identifier: MIT
#pragma once

#include "intrinsics.hpp"

#include <cfenv>
#include <cmath>
#include <type_traits>

namespace gpuopt::emulation::detail {

/// The result of an operation in a rounding mode. Volatile operands keep the compiler from computing it before.
template <int MODE, class Operation, class... Operands>
__noinline__ auto rounded(Operation operation, Operands... operands) {
  const int before = std::fegetround();
  std::fesetround(MODE);
  const volatile auto result = operation(static_cast<volatile Operands&>(operands)...);
  std::fesetround(before);
  return static_cast<std::remove_volatile_t<std::remove_const_t<decltype(result)>>>(result);
}

/// Compilers convert unsigned numbers above 2^63 in ways that are right when rounding to nearest alone.
template <class T>
T toNumber(unsigned long long value) {
  if (value <= 0x7FFFFFFFFFFFFFFFu) return static_cast<T>(static_cast<long long>(value));
  return static_cast<T>(static_cast<long long>(value >> 1 | (value & 1))) * 2;
}

}  // namespace gpuopt::emulation::detail

// One function for each mode.
#define GPUOPT_EMULATION_MODES(MODE_OF) \
  MODE_OF(rd, FE_DOWNWARD)              \
  MODE_OF(ru, FE_UPWARD)                \
  MODE_OF(rz, FE_TOWARDZERO)

#define GPUOPT_EMULATION_OF_ONE(name, T, From, expression, suffix, mode)                        \
  inline T name##_##suffix(From a) {                                                            \
    return gpuopt::emulation::detail::rounded<mode>([](From x) -> T { return expression; }, a); \
  }
#define GPUOPT_EMULATION_OF_TWO(name, T, expression, suffix, mode)                                   \
  inline T name##_##suffix(T a, T b) {                                                               \
    return gpuopt::emulation::detail::rounded<mode>([](T x, T y) -> T { return expression; }, a, b); \
  }
#define GPUOPT_EMULATION_OF_THREE(name, T, suffix, mode)                                                            \
  inline T name##_##suffix(T a, T b, T c) {                                                                         \
    return gpuopt::emulation::detail::rounded<mode>([](T x, T y, T z) -> T { return std::fma(x, y, z); }, a, b, c); \
  }

#define GPUOPT_EMULATION_MODE(suffix, mode)                                                                         \
  GPUOPT_EMULATION_OF_TWO(__fadd, float, x + y, suffix, mode)                                                       \
  GPUOPT_EMULATION_OF_TWO(__fsub, float, x - y, suffix, mode)                                                       \
  GPUOPT_EMULATION_OF_TWO(__fmul, float, x* y, suffix, mode)                                                        \
  GPUOPT_EMULATION_OF_TWO(__fdiv, float, x / y, suffix, mode)                                                       \
  GPUOPT_EMULATION_OF_THREE(__fmaf, float, suffix, mode)                                                            \
  GPUOPT_EMULATION_OF_ONE(__fsqrt, float, float, std::sqrt(x), suffix, mode)                                        \
  GPUOPT_EMULATION_OF_ONE(__frcp, float, float, 1.0f / x, suffix, mode)                                             \
  GPUOPT_EMULATION_OF_TWO(__dadd, double, x + y, suffix, mode)                                                      \
  GPUOPT_EMULATION_OF_TWO(__dsub, double, x - y, suffix, mode)                                                      \
  GPUOPT_EMULATION_OF_TWO(__dmul, double, x* y, suffix, mode)                                                       \
  GPUOPT_EMULATION_OF_TWO(__ddiv, double, x / y, suffix, mode)                                                      \
  GPUOPT_EMULATION_OF_THREE(__fma, double, suffix, mode)                                                            \
  GPUOPT_EMULATION_OF_ONE(__dsqrt, double, double, std::sqrt(x), suffix, mode)                                      \
  GPUOPT_EMULATION_OF_ONE(__drcp, double, double, 1.0 / x, suffix, mode)                                            \
  GPUOPT_EMULATION_OF_ONE(__int2float, float, int, static_cast<float>(x), suffix, mode)                             \
  GPUOPT_EMULATION_OF_ONE(__uint2float, float, unsigned, static_cast<float>(x), suffix, mode)                       \
  GPUOPT_EMULATION_OF_ONE(__ll2float, float, long long, static_cast<float>(x), suffix, mode)                        \
  GPUOPT_EMULATION_OF_ONE(__ull2float, float, unsigned long long, gpuopt::emulation::detail::toNumber<float>(x),    \
                          suffix, mode)                                                                             \
  GPUOPT_EMULATION_OF_ONE(__ll2double, double, long long, static_cast<double>(x), suffix, mode)                     \
  GPUOPT_EMULATION_OF_ONE(__ull2double, double, unsigned long long, gpuopt::emulation::detail::toNumber<double>(x), \
                          suffix, mode)                                                                             \
  GPUOPT_EMULATION_OF_ONE(__double2float, float, double, static_cast<float>(x), suffix, mode)
GPUOPT_EMULATION_MODES(GPUOPT_EMULATION_MODE)
#undef GPUOPT_EMULATION_MODE
#undef GPUOPT_EMULATION_OF_ONE
#undef GPUOPT_EMULATION_OF_TWO
#undef GPUOPT_EMULATION_OF_THREE
#undef GPUOPT_EMULATION_MODES

inline double __drcp_rn(double a) { return 1.0 / a; }
inline float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fmaf_ieee_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
inline float __fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
inline float __fmaf_ieee_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
