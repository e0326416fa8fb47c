/// Integer, bit and floating-point intrinsics, cached loads and stores, and the math functions that C++
/// lacks.
// SPDX-License-Identifier: MIT
#pragma once

#include "fast_math.hpp"
#include "vector_types.hpp"
#include "wide_integers.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <type_traits>

// ---------------------------------------------------------------------------- the bits of a number

namespace gpuopt::emulation::detail {
template <class To, class From>
To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}
}  // namespace gpuopt::emulation::detail

inline int __float_as_int(float x) { return gpuopt::emulation::detail::bitCast<int>(x); }
inline unsigned __float_as_uint(float x) { return gpuopt::emulation::detail::bitCast<unsigned>(x); }
inline float __int_as_float(int x) { return gpuopt::emulation::detail::bitCast<float>(x); }
inline float __uint_as_float(unsigned x) { return gpuopt::emulation::detail::bitCast<float>(x); }
inline long long __double_as_longlong(double x) { return gpuopt::emulation::detail::bitCast<long long>(x); }
inline double __longlong_as_double(long long x) { return gpuopt::emulation::detail::bitCast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

// ---------------------------------------------------------------------------------------- integers

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }

inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

/// Byte i of the result is the byte of y:x that nibble i of the selector names; its top bit asks for the sign
/// instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 15;
    const auto byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7)) & 0xFF);
    result |= ((nibble & 8) == 0 ? byte : (byte >> 7) * 0xFF) << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift < 32 ? shift : 32) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_lc(low, high, shift & 31);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_rc(low, high, shift & 31);
}

inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<gpuopt::emulation::detail::WideInt>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<gpuopt::emulation::detail::WideUnsigned>(a) * b >> 64);
}

/// c plus the dot product of the four bytes of a and of b.
inline int __dp4a(int a, int b, int c) {
  auto sum = static_cast<unsigned>(c);
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<unsigned>(static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i));
  return static_cast<int>(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xFF) * (b >> i & 0xFF);
  return c;
}

// ---------------------------------------------------------------------------------- floating point

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }

namespace gpuopt::emulation::detail {

// What is not of one type has the type that arithmetic would give it.
template <class Left, class Right>
using DifferentNumbers =
    std::enable_if_t<std::is_arithmetic_v<Left> && std::is_arithmetic_v<Right> && !std::is_same_v<Left, Right>,
                     std::common_type_t<Left, Right>>;

}  // namespace gpuopt::emulation::detail

// In parentheses, because programs define macros of these names.
#define GPUOPT_EMULATION_MIN_MAX(T)                 \
  inline T(min)(T a, T b) { return b < a ? b : a; } \
  inline T(max)(T a, T b) { return a < b ? b : a; }
GPUOPT_EMULATION_MIN_MAX(int)
GPUOPT_EMULATION_MIN_MAX(unsigned)
GPUOPT_EMULATION_MIN_MAX(long)
GPUOPT_EMULATION_MIN_MAX(unsigned long)
GPUOPT_EMULATION_MIN_MAX(long long)
GPUOPT_EMULATION_MIN_MAX(unsigned long long)
#undef GPUOPT_EMULATION_MIN_MAX
inline float(min)(float a, float b) { return fminf(a, b); }
inline float(max)(float a, float b) { return fmaxf(a, b); }
inline double(min)(double a, double b) { return fmin(a, b); }
inline double(max)(double a, double b) { return fmax(a, b); }
template <class Left, class Right>
gpuopt::emulation::detail::DifferentNumbers<Left, Right>(min)(Left a, Right b) {
  using Common = std::common_type_t<Left, Right>;
  return (min)(static_cast<Common>(a), static_cast<Common>(b));
}
template <class Left, class Right>
gpuopt::emulation::detail::DifferentNumbers<Left, Right>(max)(Left a, Right b) {
  using Common = std::common_type_t<Left, Right>;
  return (max)(static_cast<Common>(a), static_cast<Common>(b));
}

inline unsigned umin(unsigned a, unsigned b) { return (min)(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return (max)(a, b); }
inline long long llmin(long long a, long long b) { return (min)(a, b); }
inline long long llmax(long long a, long long b) { return (max)(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return (min)(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return (max)(a, b); }

// --------------------------------------------------------------------- loads, stores and the clock

// The cache that CUDA names by the suffix makes no difference here.
#define GPUOPT_EMULATION_LOAD(function) \
  template <class T>                    \
  T function(const T* address) {        \
    return *address;                    \
  }
GPUOPT_EMULATION_LOAD(__ldg)
GPUOPT_EMULATION_LOAD(__ldca)
GPUOPT_EMULATION_LOAD(__ldcg)
GPUOPT_EMULATION_LOAD(__ldcs)
GPUOPT_EMULATION_LOAD(__ldlu)
GPUOPT_EMULATION_LOAD(__ldcv)
#undef GPUOPT_EMULATION_LOAD

#define GPUOPT_EMULATION_STORE(function)                   \
  template <class T>                                       \
  void function(T* address, std::common_type_t<T> value) { \
    *address = value;                                      \
  }
GPUOPT_EMULATION_STORE(__stwb)
GPUOPT_EMULATION_STORE(__stcg)
GPUOPT_EMULATION_STORE(__stcs)
GPUOPT_EMULATION_STORE(__stwt)
#undef GPUOPT_EMULATION_STORE

/// Nanoseconds, as the device's clock has 1 GHz: orders events on one worker, and says nothing of a GPU's speed.
inline long long clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The conversions between the address spaces of PTX, of which here is one.
inline std::size_t __cvta_generic_to_shared(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
inline std::size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
inline void* __cvta_shared_to_generic(std::size_t pointer) { return reinterpret_cast<void*>(pointer); }
inline void* __cvta_global_to_generic(std::size_t pointer) { return reinterpret_cast<void*>(pointer); }
