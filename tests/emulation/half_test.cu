/// __half and __nv_bfloat16: every value, every midpoint between two, and the special ones.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace half_test {

static_assert(sizeof(__half) == 2 && sizeof(__nv_bfloat16) == 2 && sizeof(__half2) == 4 &&
              alignof(__nv_bfloat162) == 4);
static_assert(std::is_trivially_copyable_v<__half> && std::is_trivially_default_constructible_v<__nv_bfloat16>);

TEST_CASE("half: all values return, and between two the nearest or the even one is taken") {
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {
    const double value = static_cast<double>(__half2float(__ushort_as_half(static_cast<unsigned short>(bits))));
    const double next =
        bits + 1 == 0x7C00 ? 65536.0
                           : static_cast<double>(__half2float(__ushort_as_half(static_cast<unsigned short>(bits + 1))));
    const double middle = (value + next) / 2;
    wrong += __half_as_ushort(__half(value)) != bits;
    wrong += __half_as_ushort(__half(-value)) != (bits | 0x8000);
    wrong += __half_as_ushort(__half(middle)) != (bits % 2 == 0 ? bits : bits + 1);
    wrong += __half_as_ushort(__half(std::nextafter(middle, 0.0))) != bits;
    wrong += __half_as_ushort(__half(std::nextafter(middle, 1e9))) != bits + 1;
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("half: well-known bit patterns") {
  REQUIRE(__half_as_ushort(__float2half(1.0f)) == 0x3C00);
  REQUIRE(__half_as_ushort(__float2half(-2.0f)) == 0xC000);
  REQUIRE(__half_as_ushort(__float2half(65504.0f)) == 0x7BFF);
  REQUIRE(__half_as_ushort(__float2half(65520.0f)) == 0x7C00);
  REQUIRE(__half2float(__ushort_as_half(0x0001)) == std::ldexp(1.0f, -24));
  REQUIRE(__half2float(__ushort_as_half(0x0400)) == std::ldexp(1.0f, -14));
  REQUIRE(__half2float(__ushort_as_half(0xFC00)) == -std::numeric_limits<float>::infinity());
  REQUIRE(std::isnan(__half2float(__float2half(std::numeric_limits<float>::quiet_NaN()))));
  REQUIRE(__half_as_ushort(__float2half(-0.0f)) == 0x8000);
}

TEST_CASE("bfloat16 is the rounded upper half of a float") {
  unsigned wrong = 0;
  for (std::uint64_t i = 0; i < 0x7F800000; i += 4099) {
    const auto bits = static_cast<unsigned>(i);
    const float value = __uint_as_float(bits);
    const unsigned rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    wrong += __bfloat16_as_ushort(__float2bfloat16(value)) != rounded;
    wrong += __bfloat16_as_ushort(__float2bfloat16(-value)) != (rounded | 0x8000);
    wrong += __float_as_uint(__bfloat162float(__ushort_as_bfloat16(static_cast<unsigned short>(rounded)))) != rounded
                                                                                                                  << 16;
  }
  REQUIRE(wrong == 0);
  REQUIRE(std::isnan(__bfloat162float(__float2bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("arithmetic rounds each result, comparisons follow the values") {
  const __half big = 2048.0f, one = 1.0f;
  REQUIRE(big + one == big);
  REQUIRE(big - one == __half(2047.0f));
  REQUIRE(__half2float(one / __half(3.0f)) == 0.333251953125f);
  REQUIRE((one < big && big >= one && -big < one && one != big));
  const __half nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE((!(nan == nan) && !(nan < one) && nan != nan && __hisnan(nan)));
  const __half infinite = -std::numeric_limits<float>::infinity();
  REQUIRE((__hisinf(infinite) == -1 && __hisinf(-infinite) == 1 && __hisinf(big) == 0 && __hisinf(nan) == 0));
  REQUIRE((__hmin(nan, one) == one && __hisnan(__hmax_nan(one, nan))));
  const __nv_bfloat16 coarse = 256.0f;
  REQUIRE(coarse + __nv_bfloat16(1.0f) == coarse);
  REQUIRE(__bfloat162float(__hfma(coarse, coarse, __nv_bfloat16(-65536.0f))) == 0.0f);
}

TEST_CASE("pairs keep the order of their halves") {
  const __half2 pair = __floats2half2_rn(1.5f, -2.5f);
  REQUIRE((__low2float(pair) == 1.5f && __high2float(pair) == -2.5f));
  const float2 back = __half22float2(__hadd2(pair, __half2half2(__half(1.0f))));
  REQUIRE((back.x == 2.5f && back.y == -1.5f));
  const __nv_bfloat162 other = __floats2bfloat162_rn(3.0f, 4.0f);
  REQUIRE((__bfloat162float(__low2bfloat16(other)) == 3.0f && __bfloat1622float2(other).y == 4.0f));
}

}  // namespace half_test
