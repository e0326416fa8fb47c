/// Bit, byte and conversion intrinsics against definitions written out bit by bit.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace intrinsics_test {

std::uint64_t bitAt(std::uint64_t x, int i) { return x >> i & 1; }

TEST_CASE("counting and reversing bits") {
  std::mt19937_64 random(1);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const std::uint64_t wide = random() >> (repetition % 64);
    const auto narrow = static_cast<unsigned>(wide);
    int ones = 0, wideOnes = 0, first = 0, wideFirst = 0, leading = 32, wideLeading = 64;
    std::uint64_t reversed = 0, wideReversed = 0;
    for (int i = 63; i >= 0; --i) {
      const std::uint64_t bit = bitAt(wide, i);
      wideOnes += static_cast<int>(bit);
      wideReversed |= bit << (63 - i);
      if (bit != 0) wideFirst = i + 1;
      if (bit != 0 && wideLeading == 64) wideLeading = 63 - i;
      if (i >= 32) continue;
      ones += static_cast<int>(bit);
      reversed |= bit << (31 - i);
      if (bit != 0) first = i + 1;
      if (bit != 0 && leading == 32) leading = 31 - i;
    }
    CAPTURE(wide);
    REQUIRE(__popc(narrow) == ones);
    REQUIRE(__popcll(wide) == wideOnes);
    REQUIRE(__ffs(static_cast<int>(narrow)) == first);
    REQUIRE(__ffsll(static_cast<long long>(wide)) == wideFirst);
    REQUIRE(__clz(static_cast<int>(narrow)) == leading);
    REQUIRE(__clzll(static_cast<long long>(wide)) == wideLeading);
    REQUIRE(__brev(narrow) == reversed);
    REQUIRE(__brevll(wide) == wideReversed);
  }
  REQUIRE((__ffs(0) == 0 && __clz(0) == 32 && __clzll(0) == 64));
}

TEST_CASE("bytes are picked from two words") {
  REQUIRE(__byte_perm(0x33221100u, 0x77665544u, 0x3210) == 0x33221100u);
  REQUIRE(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
  REQUIRE(__byte_perm(0x33221100u, 0x77665544u, 0x0426) == 0x00442266u);
  REQUIRE(__byte_perm(0x33F2117Fu, 0x77665544u, 0x8A90) == 0x00FF007Fu);  // the top bit of a selector: the sign
}

TEST_CASE("funnel shifts wrap or clamp") {
  const unsigned low = 0x89ABCDEFu, high = 0x01234567u;
  REQUIRE(__funnelshift_l(low, high, 8) == 0x23456789u);
  REQUIRE(__funnelshift_l(low, high, 0) == high);
  REQUIRE(__funnelshift_l(low, high, 40) == 0x23456789u);
  REQUIRE(__funnelshift_lc(low, high, 40) == low);
  REQUIRE(__funnelshift_r(low, high, 8) == 0x6789ABCDu);
  REQUIRE(__funnelshift_r(low, high, 32) == low);
  REQUIRE(__funnelshift_rc(low, high, 33) == high);
}

TEST_CASE("products of bytes and high halves of products") {
  REQUIRE(__dp4a(static_cast<int>(0x80FF017Fu), 0x02030405, 1000) == 1000 + (-128) * 2 + (-1) * 3 + 1 * 4 + 127 * 5);
  REQUIRE(__dp4a(0x80FF017Fu, 0x02030405u, 1000u) == 1000 + 128 * 2 + 255 * 3 + 1 * 4 + 127 * 5);
  REQUIRE(__umulhi(0xFFFFFFFFu, 0xFFFFFFFFu) == 0xFFFFFFFEu);
  REQUIRE(__mulhi(-1, 5) == -1);
  REQUIRE(__umul64hi(~0ull, 10ull) == 9);
}

TEST_CASE("numbers and their bits") {
  REQUIRE(__float_as_uint(-0.0f) == 0x80000000u);
  REQUIRE(__float_as_int(1.0f) == 0x3F800000);
  REQUIRE(__uint_as_float(0x7F800000u) == std::numeric_limits<float>::infinity());
  REQUIRE(__int_as_float(0x40490FDB) == 3.14159274f);
  REQUIRE(__double_as_longlong(-2.0) == static_cast<long long>(0xC000000000000000ull));
  REQUIRE(__hiloint2double(__double2hiint(-1.1e-300), __double2loint(-1.1e-300)) == -1.1e-300);
}

TEST_CASE("min and max of every type, in which NaN loses") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE((min)(INT_MIN, 1) == INT_MIN);
  REQUIRE((max)(0x80000000u, 1u) == 0x80000000u);
  REQUIRE((max)(-5ll, LLONG_MIN) == -5ll);
  REQUIRE((min)(1.5, -2.5) == -2.5);
  REQUIRE(((min)(nan, 3.0f) == 3.0f && (max)(-3.0f, nan) == -3.0f));
}

TEST_CASE("math functions that C++ lacks") {
  REQUIRE(rsqrtf(16.0f) == 0.25f);
  REQUIRE(__saturatef(std::numeric_limits<float>::quiet_NaN()) == 0.0f);
  REQUIRE((__saturatef(1.5f) == 1.0f && __saturatef(-1.0f) == 0.0f && __saturatef(0.3f) == 0.3f));
  REQUIRE((__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rd(-2.2f) == -3 &&
           __float2int_ru(2.2f) == 3));
  REQUIRE((__sinf(0.5f) == sinf(0.5f) && __cosf(0.5f) == cosf(0.5f) && __powf(0.5f, 3.0f) == 0.125f));
  const float third = 1.0f / 3.0f;
  REQUIRE(__fmaf_rn(third, 3.0f, -1.0f) == static_cast<float>(static_cast<double>(third) * 3.0 - 1.0));  // one rounding
}

}  // namespace intrinsics_test
