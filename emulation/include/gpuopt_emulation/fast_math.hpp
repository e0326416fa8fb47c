/// Approximate functions of one instruction, conversions between numbers, and mathematical functions that C++ lacks.
/// Here, all of them are computed exactly, as far as the CPU's library does.
// SPDX-License-Identifier: MIT
#pragma once

#include "vector_types.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

// ---------------------------------------------------------------------------------------- integers

/// The product of the lower 24 bits.
inline int __mul24(int a, int b) {
  const auto low = [](int x) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<unsigned>(x) << 8) >> 8);
  };
  return static_cast<int>(static_cast<unsigned>(low(a) * low(b)));
}
inline unsigned __umul24(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a & 0xFFFFFFu) * (b & 0xFFFFFFu));
}

/// The difference's size, and c.
inline unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
                    : static_cast<unsigned>(b) - static_cast<unsigned>(a));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }

/// Averages: rounded down, and with r rounded up.
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}

// ---------------------------------------------------------------------------- approximate functions

inline float __tanf(float a) { return tanf(a); }
inline float __exp10f(float a) { return powf(10.0f, a); }
inline float __log2f(float a) { return log2f(a); }
inline float __log10f(float a) { return log10f(a); }
inline void __sincosf(float a, float* sine, float* cosine) {
  *sine = sinf(a);
  *cosine = cosf(a);
}
inline float fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float a) { return static_cast<float>(1 / sqrt(static_cast<double>(a))); }

// --------------------------------------------------------------------------- functions of multiples

namespace gpuopt::emulation::detail {

/// The argument within half a period, so that multiples of 1/2 give exact results.
template <class T>
T sineOfPi(T a) {
  const T within = std::remainder(a, T(2));
  if (within == T(0) || std::fabs(within) == T(1)) return std::copysign(T(0), a);
  return std::sin(within * T(3.14159265358979323846));
}
template <class T>
T cosineOfPi(T a) {
  const T within = std::fabs(std::remainder(a, T(2)));
  return within == T(0.5) ? T(0) : std::cos(within * T(3.14159265358979323846));
}

}  // namespace gpuopt::emulation::detail

// Templates, because glibc has functions of these names from 2.41 on, which then are chosen.
template <class T>
T sinpif(T a) {
  return gpuopt::emulation::detail::sineOfPi(a);
}
template <class T>
T cospif(T a) {
  return gpuopt::emulation::detail::cosineOfPi(a);
}
template <class T>
T sinpi(T a) {
  return gpuopt::emulation::detail::sineOfPi(a);
}
template <class T>
T cospi(T a) {
  return gpuopt::emulation::detail::cosineOfPi(a);
}
inline void sincospif(float a, float* sine, float* cosine) {
  *sine = gpuopt::emulation::detail::sineOfPi(a);
  *cosine = gpuopt::emulation::detail::cosineOfPi(a);
}
inline void sincospi(double a, double* sine, double* cosine) {
  *sine = gpuopt::emulation::detail::sineOfPi(a);
  *cosine = gpuopt::emulation::detail::cosineOfPi(a);
}
inline float rcbrtf(float a) { return 1 / cbrtf(a); }
inline double rcbrt(double a) { return 1 / cbrt(a); }
inline float rhypotf(float a, float b) { return 1 / hypotf(a, b); }
inline double rhypot(double a, double b) { return 1 / hypot(a, b); }
inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline float normcdff(float a) {
  return static_cast<float>(0.5 * erfc(-static_cast<double>(a) * 0.70710678118654752440));
}
inline double normcdf(double a) { return 0.5 * erfc(-a * 0.70710678118654752440); }

// ------------------------------------------------------------------------------------- conversions

namespace gpuopt::emulation::detail {

/// What is too large becomes the largest or the smallest integer. NaN becomes 0 if both types have 32 bits, and
/// otherwise the highest bit alone, as PTX's cvt defines it.
template <class To, class From>
To toInteger(From a) {
  if (a != a) return sizeof(To) + sizeof(From) == 8 ? To{0} : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
  if (a >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return (std::numeric_limits<To>::max)();
  if (a <= static_cast<From>((std::numeric_limits<To>::min)())) return (std::numeric_limits<To>::min)();
  return static_cast<To>(a);
}

}  // namespace gpuopt::emulation::detail

#define GPUOPT_EMULATION_TO_INTEGER(From, from, To, to)                                                      \
  inline To __##from##2##to##_rn(From a) { return gpuopt::emulation::detail::toInteger<To>(std::rint(a)); }  \
  inline To __##from##2##to##_rz(From a) { return gpuopt::emulation::detail::toInteger<To>(std::trunc(a)); } \
  inline To __##from##2##to##_rd(From a) { return gpuopt::emulation::detail::toInteger<To>(std::floor(a)); } \
  inline To __##from##2##to##_ru(From a) { return gpuopt::emulation::detail::toInteger<To>(std::ceil(a)); }
GPUOPT_EMULATION_TO_INTEGER(float, float, int, int)
GPUOPT_EMULATION_TO_INTEGER(float, float, unsigned, uint)
GPUOPT_EMULATION_TO_INTEGER(float, float, long long, ll)
GPUOPT_EMULATION_TO_INTEGER(float, float, unsigned long long, ull)
GPUOPT_EMULATION_TO_INTEGER(double, double, int, int)
GPUOPT_EMULATION_TO_INTEGER(double, double, unsigned, uint)
GPUOPT_EMULATION_TO_INTEGER(double, double, long long, ll)
GPUOPT_EMULATION_TO_INTEGER(double, double, unsigned long long, ull)
#undef GPUOPT_EMULATION_TO_INTEGER

inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline float __ll2float_rn(long long a) { return static_cast<float>(a); }
inline float __ull2float_rn(unsigned long long a) { return static_cast<float>(a); }
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }
inline double __ll2double_rn(long long a) { return static_cast<double>(a); }
inline double __ull2double_rn(unsigned long long a) { return static_cast<double>(a); }
inline float __double2float_rn(double a) { return static_cast<float>(a); }
