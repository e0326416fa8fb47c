/// What the 16-bit floating-point types of cuda_fp16.h and cuda_bf16.h have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include "atomics.hpp"
#include "collectives.hpp"
#include "intrinsics.hpp"

#include <cmath>
#include <limits>

namespace gpuopt::emulation::detail {

/// The 16 bits of an IEEE-like format.
template <int EXPONENT_BITS, int MANTISSA_BITS>
struct SmallFloat {
  static constexpr int MAX_FIELD = (1 << EXPONENT_BITS) - 1;
  static constexpr int MIN_EXPONENT = 2 - (1 << (EXPONENT_BITS - 1));
  static constexpr unsigned INFINITY_BITS = static_cast<unsigned>(MAX_FIELD) << MANTISSA_BITS;
  static constexpr unsigned NAN_BITS = 0x7FFF;

  /// Rounds once, to nearest even.
  static unsigned short encode(double value) {
    const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
    if (std::isnan(value)) return NAN_BITS;
    if (std::isinf(value)) return static_cast<unsigned short>(sign | INFINITY_BITS);
    const double magnitude = std::fabs(value);
    const int exponent = (std::max)(magnitude > 0 ? std::ilogb(magnitude) : MIN_EXPONENT, MIN_EXPONENT);
    const double units = std::nearbyint(std::ldexp(magnitude, MANTISSA_BITS - exponent));
    // The leading one of a normal number adds one to the exponent's field, and so does a carry.
    const double bits = std::ldexp(exponent - MIN_EXPONENT, MANTISSA_BITS) + units;
    return static_cast<unsigned short>(sign |
                                       static_cast<unsigned>((std::min)(bits, static_cast<double>(INFINITY_BITS))));
  }

  static float decode(unsigned short bits) {
    const int field = bits >> MANTISSA_BITS & MAX_FIELD;
    const int mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    const int significand = field == 0 ? mantissa : mantissa | 1 << MANTISSA_BITS;
    float value =
        std::ldexp(static_cast<float>(significand), (field == 0 ? 0 : field - 1) + MIN_EXPONENT - MANTISSA_BITS);
    if (field == MAX_FIELD)
      value = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return (bits & 0x8000) != 0 ? -value : value;
  }
};

}  // namespace gpuopt::emulation::detail

// The type T with 16 bits, the pair T2, and their operators and functions. Arithmetic is done in float and
// rounded, which for + - * / gives the correctly rounded result.
#define GPUOPT_EMULATION_SMALL_FLOAT(T, T2, FORMAT)                                                         \
  struct T {                                                                                                \
    T() = default;                                                                                          \
    T(float value) : __x(FORMAT::encode(static_cast<double>(value))) {}                                     \
    T(double value) : __x(FORMAT::encode(value)) {}                                                         \
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>                         \
    T(Integer value) : T(static_cast<double>(value)) {}                                                     \
    operator float() const { return FORMAT::decode(__x); }                                                  \
    unsigned short __x;                                                                                     \
  };                                                                                                        \
  struct __align__(4) T2 {                                                                                  \
    T2() = default;                                                                                         \
    T2(T first, T second) : x(first), y(second) {}                                                          \
    T x, y;                                                                                                 \
  };                                                                                                        \
  inline T operator+(const T& a, const T& b) { return static_cast<float>(a) + static_cast<float>(b); }      \
  inline T operator-(const T& a, const T& b) { return static_cast<float>(a) - static_cast<float>(b); }      \
  inline T operator*(const T& a, const T& b) { return static_cast<float>(a) * static_cast<float>(b); }      \
  inline T operator/(const T& a, const T& b) { return static_cast<float>(a) / static_cast<float>(b); }      \
  inline T operator-(const T& a) { return -static_cast<float>(a); }                                         \
  inline T operator+(const T& a) { return a; }                                                              \
  inline T& operator+=(T& a, const T& b) { return a = a + b; }                                              \
  inline T& operator-=(T& a, const T& b) { return a = a - b; }                                              \
  inline T& operator*=(T& a, const T& b) { return a = a * b; }                                              \
  inline T& operator/=(T& a, const T& b) { return a = a / b; }                                              \
  inline bool operator==(const T& a, const T& b) { return static_cast<float>(a) == static_cast<float>(b); } \
  inline bool operator!=(const T& a, const T& b) { return static_cast<float>(a) != static_cast<float>(b); } \
  inline bool operator<(const T& a, const T& b) { return static_cast<float>(a) < static_cast<float>(b); }   \
  inline bool operator>(const T& a, const T& b) { return static_cast<float>(a) > static_cast<float>(b); }   \
  inline bool operator<=(const T& a, const T& b) { return static_cast<float>(a) <= static_cast<float>(b); } \
  inline bool operator>=(const T& a, const T& b) { return static_cast<float>(a) >= static_cast<float>(b); } \
  inline T2 operator+(const T2& a, const T2& b) { return {a.x + b.x, a.y + b.y}; }                          \
  inline T2 operator-(const T2& a, const T2& b) { return {a.x - b.x, a.y - b.y}; }                          \
  inline T2 operator*(const T2& a, const T2& b) { return {a.x * b.x, a.y * b.y}; }                          \
  inline T2 operator/(const T2& a, const T2& b) { return {a.x / b.x, a.y / b.y}; }                          \
  inline T2& operator+=(T2& a, const T2& b) { return a = a + b; }                                           \
  inline bool operator==(const T2& a, const T2& b) { return a.x == b.x && a.y == b.y; }                     \
  inline T __hadd(T a, T b) { return a + b; }                                                               \
  inline T __hsub(T a, T b) { return a - b; }                                                               \
  inline T __hmul(T a, T b) { return a * b; }                                                               \
  inline T __hdiv(T a, T b) { return a / b; }                                                               \
  inline T __hfma(T a, T b, T c) {                                                                          \
    return fma(static_cast<double>(static_cast<float>(a)), static_cast<double>(static_cast<float>(b)),      \
               static_cast<double>(static_cast<float>(c)));                                                 \
  }                                                                                                         \
  inline T __hneg(T a) { return -a; }                                                                       \
  inline T __habs(T a) { return fabsf(a); }                                                                 \
  inline bool __hisnan(T a) { return a != a; }                                                              \
  inline int __hisinf(T a) { return isinf(static_cast<float>(a)) ? (a < T(0) ? -1 : 1) : 0; }               \
  inline bool __heq(T a, T b) { return a == b; }                                                            \
  inline bool __hne(T a, T b) { return a != b; }                                                            \
  inline bool __hlt(T a, T b) { return a < b; }                                                             \
  inline bool __hle(T a, T b) { return a <= b; }                                                            \
  inline bool __hgt(T a, T b) { return a > b; }                                                             \
  inline bool __hge(T a, T b) { return a >= b; }                                                            \
  inline T __hmin(T a, T b) { return fminf(a, b); }                                                         \
  inline T __hmax(T a, T b) { return fmaxf(a, b); }                                                         \
  inline T __hmin_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }                \
  inline T __hmax_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }                \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                                           \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                                           \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                                           \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }            \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                            \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                            \
  inline float __low2float(T2 a) { return a.x; }                                                            \
  inline float __high2float(T2 a) { return a.y; }                                                           \
  inline T __hfma_relu(T a, T b, T c) { return __hmax(__hfma(a, b, c), T(0)); }                             \
  inline T hsqrt(T a) { return sqrtf(a); }                                                                  \
  inline T2 h2sqrt(T2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                               \
  inline T hexp(T a) { return expf(a); }                                                                    \
  inline T2 h2exp(T2 a) { return {hexp(a.x), hexp(a.y)}; }                                                  \
  inline T hexp2(T a) { return exp2f(a); }                                                                  \
  inline T2 h2exp2(T2 a) { return {hexp2(a.x), hexp2(a.y)}; }                                               \
  inline T hlog(T a) { return logf(a); }                                                                    \
  inline T2 h2log(T2 a) { return {hlog(a.x), hlog(a.y)}; }                                                  \
  inline T hlog2(T a) { return log2f(a); }                                                                  \
  inline T2 h2log2(T2 a) { return {hlog2(a.x), hlog2(a.y)}; }                                               \
  inline T hlog10(T a) { return log10f(a); }                                                                \
  inline T2 h2log10(T2 a) { return {hlog10(a.x), hlog10(a.y)}; }                                            \
  inline T hsin(T a) { return sinf(a); }                                                                    \
  inline T2 h2sin(T2 a) { return {hsin(a.x), hsin(a.y)}; }                                                  \
  inline T hcos(T a) { return cosf(a); }                                                                    \
  inline T2 h2cos(T2 a) { return {hcos(a.x), hcos(a.y)}; }                                                  \
  inline T hceil(T a) { return ceilf(a); }                                                                  \
  inline T2 h2ceil(T2 a) { return {hceil(a.x), hceil(a.y)}; }                                               \
  inline T hfloor(T a) { return floorf(a); }                                                                \
  inline T2 h2floor(T2 a) { return {hfloor(a.x), hfloor(a.y)}; }                                            \
  inline T htrunc(T a) { return truncf(a); }                                                                \
  inline T2 h2trunc(T2 a) { return {htrunc(a.x), htrunc(a.y)}; }                                            \
  inline T hrint(T a) { return rintf(a); }                                                                  \
  inline T2 h2rint(T2 a) { return {hrint(a.x), hrint(a.y)}; }                                               \
  inline T hrsqrt(T a) { return 1 / sqrtf(a); }                                                             \
  inline T2 h2rsqrt(T2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                            \
  inline T hrcp(T a) { return 1 / static_cast<float>(a); }                                                  \
  inline T2 h2rcp(T2 a) { return {hrcp(a.x), hrcp(a.y)}; }                                                  \
  inline T hexp10(T a) { return powf(10.0f, a); }                                                           \
  inline T2 h2exp10(T2 a) { return {hexp10(a.x), hexp10(a.y)}; }                                            \
  inline T2 __heq2(T2 a, T2 b) { return {T(a.x == b.x), T(a.y == b.y)}; }                                   \
  inline bool __hbeq2(T2 a, T2 b) { return a.x == b.x && a.y == b.y; }                                      \
  inline T2 __hne2(T2 a, T2 b) { return {T(a.x != b.x), T(a.y != b.y)}; }                                   \
  inline bool __hbne2(T2 a, T2 b) { return a.x != b.x && a.y != b.y; }                                      \
  inline T2 __hlt2(T2 a, T2 b) { return {T(a.x < b.x), T(a.y < b.y)}; }                                     \
  inline bool __hblt2(T2 a, T2 b) { return a.x < b.x && a.y < b.y; }                                        \
  inline T2 __hle2(T2 a, T2 b) { return {T(a.x <= b.x), T(a.y <= b.y)}; }                                   \
  inline bool __hble2(T2 a, T2 b) { return a.x <= b.x && a.y <= b.y; }                                      \
  inline T2 __hgt2(T2 a, T2 b) { return {T(a.x > b.x), T(a.y > b.y)}; }                                     \
  inline bool __hbgt2(T2 a, T2 b) { return a.x > b.x && a.y > b.y; }                                        \
  inline T2 __hge2(T2 a, T2 b) { return {T(a.x >= b.x), T(a.y >= b.y)}; }                                   \
  inline bool __hbge2(T2 a, T2 b) { return a.x >= b.x && a.y >= b.y; }                                      \
  inline T2 operator-(const T2& a) { return {-a.x, -a.y}; }                                                 \
  inline T2& operator-=(T2& a, const T2& b) { return a = a - b; }                                           \
  inline T2& operator*=(T2& a, const T2& b) { return a = a * b; }                                           \
  inline T2 __hneg2(T2 a) { return -a; }                                                                    \
  inline T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                            \
  inline T2 __h2div(T2 a, T2 b) { return a / b; }                                                           \
  inline T __hadd_sat(T a, T b) { return __hmin(__hmax(a + b, T(0)), T(1)); }                               \
  inline T __hmul_sat(T a, T b) { return __hmin(__hmax(a * b, T(0)), T(1)); }                               \
  inline T htanh(T a) { return tanhf(a); }                                                                  \
  inline T2 h2tanh(T2 a) { return {htanh(a.x), htanh(a.y)}; }                                               \
  inline T htanh_approx(T a) { return tanhf(a); }                                                           \
  inline T2 h2tanh_approx(T2 a) { return {htanh_approx(a.x), htanh_approx(a.y)}; }                          \
  inline T atomicAdd(T* address, T value) {                                                                 \
    return gpuopt::emulation::detail::update(address, [value](T old) { return old + value; });              \
  }                                                                                                         \
  inline T2 atomicAdd(T2* address, T2 value) {                                                              \
    return gpuopt::emulation::detail::update(address, [value](T2 old) { return old + value; });             \
  }                                                                                                         \
  template <>                                                                                               \
  inline constexpr bool gpuopt::emulation::detail::isShuffled<T> = true;                                    \
  template <>                                                                                               \
  inline constexpr bool gpuopt::emulation::detail::isShuffled<T2> = true;
