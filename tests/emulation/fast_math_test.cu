/// Approximate functions, conversions, and functions that C++ lacks.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <math_constants.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fast_math_test {

TEST_CASE("products of 24 bits, sums of differences, averages") {
  CHECK(__mul24(0x7FFFFF, 2) == 0xFFFFFE);
  CHECK(__mul24(0x1FFFFFF, 3) == -3);  // the lower 24 bits are those of -1
  CHECK(__mul24(-5, 7) == -35);
  CHECK(__umul24(0xFF000003u, 0x80000005u) == 15u);
  CHECK(__umul24(0xFFFFFFu, 0xFFFFFFu) == 0xFE000001u);
  CHECK(__sad(INT_MIN, INT_MAX, 5u) == 4u);
  CHECK((__sad(3, -4, 10u) == 17u && __usad(3u, 9u, 1u) == 7u && __usad(9u, 3u, 1u) == 7u));
  CHECK((__hadd(INT_MAX, INT_MAX) == INT_MAX && __hadd(-3, 0) == -2 && __rhadd(-3, 0) == -1));
  CHECK((__uhadd(UINT_MAX, UINT_MAX - 1) == UINT_MAX - 1 && __urhadd(UINT_MAX, UINT_MAX - 1) == UINT_MAX));
}

TEST_CASE("approximate functions are those of the CPU") {
  float sine = 0, cosine = 0;
  __sincosf(0.7f, &sine, &cosine);
  CHECK((sine == sinf(0.7f) && cosine == cosf(0.7f) && __tanf(0.7f) == tanf(0.7f)));
  CHECK((__log2f(8.0f) == 3.0f && __log10f(1000.0f) == 3.0f && __exp10f(2.0f) == 100.0f));
  CHECK((fdividef(1.0f, 4.0f) == 0.25f && __frsqrt_rn(4.0f) == 0.5f));
}

TEST_CASE("multiples of pi, roots and norms") {
  CHECK((sinpif(0.5f) == 1.0f && sinpif(3.0f) == 0.0f && sinpi(-1.5) == 1.0 && cospi(0.5) == 0.0 &&
         cospif(7.0f) == -1.0f));
  CHECK(std::fabs(sinpi(0.25) - CUDART_SQRT_HALF) < 1e-15);
  CHECK(std::fabs(cospi(1e6 + 0.25) - CUDART_SQRT_HALF) < 1e-9);
  double sine = 0, cosine = 0;
  sincospi(1.0, &sine, &cosine);
  CHECK((sine == 0.0 && cosine == -1.0));
  CHECK((rcbrt(8.0) == 0.5 && norm3d(2.0, 3.0, 6.0) == 7.0));
  CHECK((std::fabs(rhypot(3.0, 4.0) - 0.2) < 1e-15 && std::fabs(rnorm3df(2.0f, 3.0f, 6.0f) - 1 / 7.0f) < 1e-7f));
  CHECK((normcdf(0.0) == 0.5 && std::fabs(normcdf(1.0) - 0.8413447460685429) < 1e-15 && normcdff(-10.0f) > 0.0f));
}

TEST_CASE("conversions round as they are told, and end at the limits of the integer") {
  CHECK((__float2uint_rn(2.5f) == 2u && __float2uint_ru(2.1f) == 3u && __float2uint_rz(-3.0f) == 0u));
  CHECK((__double2int_rd(-2.5) == -3 && __double2int_rn(3.5) == 4 && __double2ll_rz(-7.9) == -7));
  CHECK((__float2int_rz(3e9f) == INT_MAX && __float2int_rz(-3e9f) == INT_MIN && __double2uint_rz(5e9) == UINT_MAX));
  CHECK((__float2ll_rn(1e20f) == LLONG_MAX && __double2ull_rn(1e30) == ULLONG_MAX && __float2ull_rn(-1.0f) == 0));
  const float nan = CUDART_NAN_F;
  CHECK((__float2int_rn(nan) == 0 && __float2uint_rn(nan) == 0));
  CHECK((__float2ll_rn(nan) == LLONG_MIN && __double2int_rn(nan) == INT_MIN && __double2ull_rn(nan) == 1ull << 63));
  CHECK((__uint2float_rn(UINT_MAX) == 4294967296.0f && __ll2double_rn(-3) == -3.0 &&
         __int2double_rn(INT_MIN) == -2147483648.0));
}

TEST_CASE("min and max of two types") {
  const int a = 5;
  const unsigned b = 3;
  const long c = -7;
  static_assert(std::is_same_v<decltype(min(a, b)), unsigned>);
  static_assert(std::is_same_v<decltype(max(c, a)), long>);
  CHECK((min(a, b) == 3u && max(c, a) == 5 && max(2.5f, 7.25) == 7.25));
}

__global__ void matchAll(unsigned* out, unsigned mask, int odd) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  int same = 7;
  const unsigned lanes = __match_all_sync(mask, static_cast<int>(threadIdx.x) == odd ? 2 : 1, &same);
  out[threadIdx.x] = same != 0 ? lanes : 1000u + lanes;
}

TEST_CASE("a match of all lanes") {
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    Managed<unsigned> out(32);
    matchAll<<<1, 32>>>(out.data(), 0xFFFF0F0Fu, -1);
    CHECK((out[0] == 0xFFFF0F0Fu && out[31] == 0xFFFF0F0Fu));
    matchAll<<<1, 32>>>(out.data(), 0xFFFF0F0Fu, 9);
    CHECK((out[0] == 1000u && out[9] == 1000u));
    matchAll<<<1, 5>>>(out.data(), ~0u, -1);
    CHECK(out[4] == 31u);
  }
}

__global__ void claim(unsigned long long* word, unsigned long long* winners) {
  if (atomicCAS_block(word, 0ull, 1ull + threadIdx.x) == 0) winners[0] = 1 + threadIdx.x;
  if (atomicCAS_system(word + 1, 0ull, 1ull) == 0) ++winners[1];
}

TEST_CASE("one thread of a block claims a word") {
  Managed<unsigned long long> words(2, 0ull), winners(2, 0ull);
  claim<<<1, 64>>>(words.data(), winners.data());
  CHECK((words[0] == winners[0] && winners[0] > 0 && winners[1] == 1));
}

}  // namespace fast_math_test
