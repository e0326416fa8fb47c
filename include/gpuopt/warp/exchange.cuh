/// \file
/// Exchanges between the lanes of a warp in registers: warpStripedToBlocked and warpBlockedToStriped.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/warp/shuffle.cuh>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// The inverse of `value` modulo `modulus`, which are coprime.
constexpr unsigned inverseModulo(unsigned value, unsigned modulus) {
  unsigned inverse = 0;
  while (value * inverse % modulus != 1 % modulus) ++inverse;
  return inverse;
}

// Rotates values up or down by `amount`, which is less than LIMIT and may differ from lane to lane: one conditional
// move per value and bit of the amount.
template <bool UP, unsigned LIMIT, unsigned COUNT>
__device__ inline void rotate(unsigned (&values)[COUNT], unsigned amount) {
#pragma unroll
  for (unsigned bit = 1; bit < LIMIT; bit *= 2) {
    unsigned rotated[COUNT];
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
      const unsigned from = (UP ? i + COUNT - bit : i + bit) % COUNT;
      rotated[i] = (amount & bit) != 0 ? values[from] : values[i];
    }
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) values[i] = rotated[i];
  }
}

// Transposes a matrix of 32 x COUNT words in a warp in three steps: each lane rotates its words, COUNT shuffles
// exchange one word per lane, each lane rotates again (Catanzaro, Keller and Garland, "A decomposition for in-place
// matrix transposition", 2014).
//
// Word p of the matrix is striped if it is word p / 32 of lane p % 32, and blocked if it is word p % COUNT of lane p /
// COUNT. Shuffle i moves word (i + bank(lane)) % COUNT of each lane of the blocked side; the offset bank(lane) sends
// them to 32 different lanes of the striped side.
template <unsigned COUNT>
struct LaneTransposition {
  static constexpr auto BANKS = static_cast<unsigned>(greatestCommonDivisor(COUNT, 32));
  static constexpr unsigned PERIOD = 32 / BANKS;  // lanes whose blocked words begin in different lanes
  static constexpr unsigned ROW = COUNT / BANKS;  // coprime to PERIOD
  static constexpr unsigned SCALE = inverseModulo(PERIOD, ROW);
  static constexpr unsigned UNSCALE = inverseModulo(ROW, PERIOD);

  unsigned lane;

  __device__ unsigned bank() const { return lane / PERIOD; }

  // The striped lane that has this blocked lane's word of shuffle i, and the reverse.
  __device__ unsigned stripedLane(unsigned i) const { return (lane * COUNT + (i + bank()) % COUNT) % 32; }
  __device__ unsigned blockedLane(unsigned i) const {
    const unsigned from = (lane - i) % BANKS;
    const unsigned word = (i + from) % COUNT;
    return (lane - word) % 32 / BANKS * UNSCALE % PERIOD + from * PERIOD;
  }

  // Reorders a striped lane's words to the order of the shuffles, and back. Its words form BANKS rows of ROW words;
  // shuffle i moves word q of row r, where i % BANKS = (lane - r) % BANKS and q = (i / BANKS - shift(r)) * SCALE.
  __device__ unsigned shift(unsigned row) const { return (lane / BANKS + (row > lane % BANKS ? ROW - 1 : 0)) % ROW; }
  __device__ void toShuffles(unsigned (&words)[COUNT]) const {
    unsigned rows[BANKS][ROW];
#pragma unroll
    for (unsigned r = 0; r < BANKS; ++r) {
#pragma unroll
      for (unsigned q = 0; q < ROW; ++q) rows[r][q] = words[r * ROW + q * SCALE % ROW];
      rotate<true, ROW>(rows[r], shift(r));
    }
#pragma unroll
    for (unsigned q = 0; q < ROW; ++q) {
      unsigned column[BANKS];
#pragma unroll
      for (unsigned r = 0; r < BANKS; ++r) column[r] = rows[(BANKS - r) % BANKS][q];
      rotate<true, BANKS>(column, lane % BANKS);
#pragma unroll
      for (unsigned r = 0; r < BANKS; ++r) words[q * BANKS + r] = column[r];
    }
  }
  __device__ void fromShuffles(unsigned (&words)[COUNT]) const {
    unsigned rows[BANKS][ROW];
#pragma unroll
    for (unsigned q = 0; q < ROW; ++q) {
      unsigned column[BANKS];
#pragma unroll
      for (unsigned r = 0; r < BANKS; ++r) column[r] = words[q * BANKS + r];
      rotate<false, BANKS>(column, lane % BANKS);
#pragma unroll
      for (unsigned r = 0; r < BANKS; ++r) rows[(BANKS - r) % BANKS][q] = column[r];
    }
#pragma unroll
    for (unsigned r = 0; r < BANKS; ++r) {
      rotate<false, ROW>(rows[r], shift(r));
#pragma unroll
      for (unsigned q = 0; q < ROW; ++q) words[r * ROW + q * SCALE % ROW] = rows[r][q];
    }
  }
};

}  // namespace detail

/// Turns stripes (word i of lane l is number 32 * i + l of the warp's 32 * COUNT words) into blocks (word i of lane l
/// is number COUNT * l + i). After loads of neighbouring words by neighbouring lanes, it gives each lane COUNT
/// consecutive words. Any COUNT; all 32 lanes of a full warp call, converged, in blocks of any number of dimensions.
///
/// Cost: COUNT shuffles, and per word one conditional move for each bit of COUNT, up to ten more for powers of two; no
/// shared memory. Technique: Catanzaro, Keller and Garland, "A decomposition for in-place matrix transposition", 2014.
template <unsigned COUNT>
__device__ inline void warpStripedToBlocked(unsigned (&words)[COUNT]) {
  if constexpr (COUNT > 1) {
    const detail::LaneTransposition<COUNT> lanes{static_cast<unsigned>(laneIndex())};
    lanes.toShuffles(words);
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i)
      words[i] = __shfl_sync(fullMask, words[i], static_cast<int>(lanes.stripedLane(i)));
    detail::rotate<true, lanes.BANKS>(words, lanes.bank());
  }
}

/// The inverse of warpStripedToBlocked, at the same cost: turns COUNT consecutive `words` of each lane into stripes.
template <unsigned COUNT>
__device__ inline void warpBlockedToStriped(unsigned (&words)[COUNT]) {
  if constexpr (COUNT > 1) {
    const detail::LaneTransposition<COUNT> lanes{static_cast<unsigned>(laneIndex())};
    detail::rotate<false, lanes.BANKS>(words, lanes.bank());
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i)
      words[i] = __shfl_sync(fullMask, words[i], static_cast<int>(lanes.blockedLane(i)));
    lanes.fromShuffles(words);
  }
}

GPUOPT_NAMESPACE_END
