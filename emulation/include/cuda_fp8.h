/// CPU stand-in for the toolkit's cuda_fp8.h: __nv_fp8_e4m3, __nv_fp8_e5m2, and conversions from and to them.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

namespace gpuopt::emulation::detail {

/// Eight bits. E4M3 has no infinities, and one NaN of each sign; E5M2 is the upper half of a __half.
struct Float8 {
  static unsigned char encode(double value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    const bool isE4M3 = kind == __NV_E4M3;
    const unsigned sign = std::signbit(value) ? 0x80u : 0u;
    const unsigned notANumber = sign | 0x7Fu;
    if (std::isnan(value)) return 0x7F;
    const int mantissaBits = isE4M3 ? 3 : 2, minExponent = isE4M3 ? -6 : -14;
    const double magnitude = std::fabs(value);
    const unsigned largest = isE4M3 ? 0x7Eu : 0x7Bu;
    const unsigned tooLarge = sign | (saturation == __NV_SATFINITE ? largest : isE4M3 ? notANumber : 0x7Cu);
    if (std::isinf(value)) return static_cast<unsigned char>(tooLarge);
    const int exponent = (std::max)(magnitude > 0 ? std::ilogb(magnitude) : minExponent, minExponent);
    const double units = std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
    const double bits = std::ldexp(exponent - minExponent, mantissaBits) + units;
    if (bits > largest) return static_cast<unsigned char>(tooLarge);
    return static_cast<unsigned char>(sign | static_cast<unsigned>(bits));
  }

  static float decode(unsigned char bits, __nv_fp8_interpretation_t kind) {
    if (kind == __NV_E5M2) return HalfFormat::decode(static_cast<unsigned short>(bits << 8));
    const int field = bits >> 3 & 15, mantissa = bits & 7;
    float value = field == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                             : std::ldexp(static_cast<float>(mantissa | 8), field - 10);
    if ((bits & 0x7F) == 0x7F) value = std::numeric_limits<float>::quiet_NaN();
    return (bits & 0x80) != 0 ? -value : value;
  }
};

/// Two or four numbers side by side.
template <class Words, class Each>
Words sideBySide(std::initializer_list<float> values, Each each) {
  Words result = 0;
  unsigned at = 0;
  for (const float value : values)
    result = static_cast<Words>(result | static_cast<Words>(each(value).__x) << (8 * at++));
  return result;
}

}  // namespace gpuopt::emulation::detail

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return gpuopt::emulation::detail::Float8::encode(static_cast<double>(x), saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t kind) {
  return gpuopt::emulation::detail::Float8::encode(x, saturation, kind);
}

#define GPUOPT_EMULATION_FP8(T, T2, T4, KIND)                                                                         \
  struct T {                                                                                                          \
    T() = default;                                                                                                    \
    explicit T(float value) : __x(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, KIND)) {}                              \
    explicit T(double value) : __x(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, KIND)) {}                            \
    explicit T(__half value) : T(static_cast<float>(value)) {}                                                        \
    explicit T(__nv_bfloat16 value) : T(static_cast<float>(value)) {}                                                 \
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>                                   \
    explicit T(Integer value) : T(static_cast<double>(value)) {}                                                      \
    explicit operator float() const { return gpuopt::emulation::detail::Float8::decode(__x, KIND); }                  \
    explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }                       \
    explicit operator __half() const { return static_cast<float>(*this); }                                            \
    explicit operator __nv_bfloat16() const { return static_cast<float>(*this); }                                     \
    __nv_fp8_storage_t __x;                                                                                           \
  };                                                                                                                  \
  struct __align__(2) T2 {                                                                                            \
    T2() = default;                                                                                                   \
    explicit T2(float2 a)                                                                                             \
        : __x(gpuopt::emulation::detail::sideBySide<unsigned short>({a.x, a.y}, [](float f) { return T(f); })) {}     \
    explicit operator float2() const { return {part(0), part(1)}; }                                                   \
    __nv_fp8x2_storage_t __x;                                                                                         \
                                                                                                                      \
   private:                                                                                                           \
    float part(int i) const {                                                                                         \
      return gpuopt::emulation::detail::Float8::decode(static_cast<unsigned char>(__x >> (8 * i)), KIND);             \
    }                                                                                                                 \
  };                                                                                                                  \
  struct __align__(4) T4 {                                                                                            \
    T4() = default;                                                                                                   \
    explicit T4(float4 a)                                                                                             \
        : __x(gpuopt::emulation::detail::sideBySide<unsigned>({a.x, a.y, a.z, a.w}, [](float f) { return T(f); })) {} \
    explicit operator float4() const { return {part(0), part(1), part(2), part(3)}; }                                 \
    __nv_fp8x4_storage_t __x;                                                                                         \
                                                                                                                      \
   private:                                                                                                           \
    float part(int i) const {                                                                                         \
      return gpuopt::emulation::detail::Float8::decode(static_cast<unsigned char>(__x >> (8 * i)), KIND);             \
    }                                                                                                                 \
  };
GPUOPT_EMULATION_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
GPUOPT_EMULATION_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef GPUOPT_EMULATION_FP8
