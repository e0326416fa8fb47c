/// Votes, matches and warp reductions against a serial count over the lanes of the mask.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <climits>
#include <random>

namespace vote_test {

struct Votes {
  unsigned ballot, same;
  int any, all;
};

__global__ void vote(const int* in, unsigned mask, Votes* out) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int odd = in[lane] % 2 != 0 ? 256 : 0;  // true is any value but 0
  out[lane].ballot = __ballot_sync(mask, odd);
  out[lane].any = __any_sync(mask, in[lane] == 5);
  out[lane].all = __all_sync(mask, in[lane] != 5);
  out[lane].same = __match_any_sync(mask, in[lane]);
}

struct Reduced {
  int sum, least, greatest;
  unsigned unsignedSum, unsignedLeast, unsignedGreatest, conjunction, disjunction, parity;
};

__global__ void reduceAll(const int* in, unsigned mask, Reduced* out) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int value = in[lane];
  const auto bits = static_cast<unsigned>(value);
  out[lane] = {__reduce_add_sync(mask, value), __reduce_min_sync(mask, value), __reduce_max_sync(mask, value),
               __reduce_add_sync(mask, bits),  __reduce_min_sync(mask, bits),  __reduce_max_sync(mask, bits),
               __reduce_and_sync(mask, bits),  __reduce_or_sync(mask, bits),   __reduce_xor_sync(mask, bits)};
}

__global__ void activeMask(unsigned* out) { out[threadIdx.x] = __activemask(); }

constexpr unsigned masks[] = {0xFFFFFFFFu, 0x00000001u, 0x80000000u, 0x0F0F3C5Au};

TEST_CASE("votes and matches count the lanes of the mask") {
  Managed<int> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = static_cast<int>(i * 7 % 6);
  for (const unsigned mask : masks) {
    unsigned odd = 0, five = 0;
    for (unsigned i = 0; i < 32; ++i) {
      odd |= (mask >> i & 1) != 0 && in[i] % 2 != 0 ? 1u << i : 0;
      five |= (mask >> i & 1) != 0 && in[i] == 5 ? 1u << i : 0;
    }
    Managed<Votes> out(32);
    REQUIRE(launch(vote, 1, 32, in.data(), mask, out.data()) == cudaSuccess);
    for (unsigned i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      CAPTURE(mask, i);
      REQUIRE(out[i].ballot == odd);
      REQUIRE((out[i].any != 0) == (five != 0));
      REQUIRE((out[i].all != 0) == (five == 0));
      unsigned same = 0;
      for (unsigned j = 0; j < 32; ++j) same |= (mask >> j & 1) != 0 && in[j] == in[i] ? 1u << j : 0;
      REQUIRE(out[i].same == same);
    }
  }
}

TEST_CASE("warp reductions, signed and unsigned, wrap around") {
  Managed<int> in(32);
  std::mt19937 random(3);
  for (unsigned i = 0; i < 32; ++i) in[i] = static_cast<int>(random());
  in[6] = INT_MIN;
  in[4] = INT_MAX;
  for (const unsigned mask : masks) {
    unsigned sum = 0, conjunction = ~0u, disjunction = 0, parity = 0, least = ~0u, greatest = 0;
    int signedLeast = INT_MAX, signedGreatest = INT_MIN;
    for (unsigned i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const auto bits = static_cast<unsigned>(in[i]);
      sum += bits, conjunction &= bits, disjunction |= bits, parity ^= bits;
      least = std::min(least, bits), greatest = std::max(greatest, bits);
      signedLeast = std::min(signedLeast, in[i]), signedGreatest = std::max(signedGreatest, in[i]);
    }
    Managed<Reduced> out(32);
    REQUIRE(launch(reduceAll, 1, 32, in.data(), mask, out.data()) == cudaSuccess);
    for (unsigned i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      CAPTURE(mask, i);
      REQUIRE(out[i].sum == static_cast<int>(sum));
      REQUIRE(out[i].least == signedLeast);
      REQUIRE(out[i].greatest == signedGreatest);
      REQUIRE(out[i].unsignedSum == sum);
      REQUIRE(out[i].unsignedLeast == least);
      REQUIRE(out[i].unsignedGreatest == greatest);
      REQUIRE(out[i].conjunction == conjunction);
      REQUIRE(out[i].disjunction == disjunction);
      REQUIRE(out[i].parity == parity);
    }
  }
}

TEST_CASE("the active mask names the caller and promises nothing else") {
  Managed<unsigned> out(40);
  REQUIRE(launch(activeMask, 1, 40, out.data()) == cudaSuccess);
  for (unsigned i = 0; i < 40; ++i) REQUIRE(out[i] == 1u << (i % 32));
}

}  // namespace vote_test
