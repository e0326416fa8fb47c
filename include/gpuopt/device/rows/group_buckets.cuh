/// \file
/// The kernel that sorts buckets of positions and makes the lists of their rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/lists.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr unsigned sortBucketsTile = groupRowsBlock * sortBucketsItems;

// How many bits of the quotients are sorted at a time.
struct QuotientDigits {
  unsigned bits;
  unsigned passes;
  unsigned buckets;  // by which rows were divided

  __device__ unsigned digit(unsigned quotient, unsigned pass) const {
    return quotient >> (pass * bits) & ((1U << bits) - 1);
  }
};

// Positions in the buckets, as sorted so far; another array for buckets that exceed a tile; what results.
struct SortedBuckets {
  BucketedRow* rows;
  BucketedRow* other;
  unsigned* positions;
  AddedList* lists;
  unsigned* count;  // of the lists
  unsigned* longLists;
  unsigned* longCount;
  unsigned tooLong;  // the fewest positions of a long list
};

// A bucket up to a tile in shared memory: the quotients, and where in the bucket each is from.
struct TileOfBucket {
  static constexpr unsigned BITS = 13;  // of the latter
  static constexpr unsigned NONE = 0xffffffff;
  static_assert(1U << BITS == sortBucketsTile);
  DigitRanks<sortBucketsDigits> ranks;
  unsigned words[sortBucketsTile];
};

struct TileRows {
  const unsigned* words;
  const BucketedRow* rows;  // of the bucket
  __device__ unsigned quotient(unsigned i) const { return words[i] >> TileOfBucket::BITS; }
  __device__ unsigned position(unsigned i) const { return rows[words[i] & (sortBucketsTile - 1)].position; }
};

struct BucketRows {
  const BucketedRow* rows;
  __device__ unsigned quotient(unsigned i) const { return rows[i].quotient; }
  __device__ unsigned position(unsigned i) const { return rows[i].position; }
};

// Where the items of each digit go. A barrier has to follow.
__device__ inline void placeDigits(const uint2& totals, DigitRanks<sortBucketsDigits>& shared) {
  const unsigned before = blockExclusiveScan<groupRowsBlock>(totals.x + totals.y, 0U, Plus{});
  if (!shared.hasDigits()) return;
  shared.first[2 * threadIdx.x] = before;
  shared.first[2 * threadIdx.x + 1] = before + totals.x;
}

// Sorts n positions, up to a tile. A barrier has to follow.
__device__ inline void sortTile(const BucketedRow* rows, unsigned n, const QuotientDigits& digits,
                                TileOfBucket& shared) {
  constexpr unsigned ITEMS = sortBucketsItems;
  const TileItems items(n);
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < n; i += groupRowsBlock)
    shared.words[i] = rows[i].quotient << TileOfBucket::BITS | i;
  for (unsigned pass = 0; pass < digits.passes; ++pass) {
    __syncthreads();
    unsigned words[ITEMS], ranks[ITEMS];
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) words[k] = items.has(k) ? shared.words[items.position(k)] : TileOfBucket::NONE;
    const auto digitOf = [&](unsigned k) {
      return words[k] == TileOfBucket::NONE ? noDigit : digits.digit(words[k] >> TileOfBucket::BITS, pass);
    };
    placeDigits(rankTile(items.used, digitOf, ranks, shared.ranks), shared.ranks);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
      if (words[k] != TileOfBucket::NONE) shared.words[shared.ranks.destination(digitOf(k), ranks[k])] = words[k];
  }
}

// Counts the digits of n positions, and places them. A barrier has to follow.
__device__ inline void countLongDigit(const BucketedRow* rows, unsigned n, const QuotientDigits& digits, unsigned pass,
                                      DigitRanks<sortBucketsDigits>& shared) {
  const SharedCounts counters(shared.first);
  shared.first[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += groupRowsBlock) counters.increment(digits.digit(rows[i].quotient, pass));
  __syncthreads();
  uint2 totals{0, 0};
  if (shared.hasDigits()) totals = {shared.first[2 * threadIdx.x], shared.first[2 * threadIdx.x + 1]};
  placeDigits(totals, shared);
}

// One pass over n positions, a tile after another. A barrier has to follow.
__device__ inline void sortLongDigit(const BucketedRow* from, BucketedRow* to, unsigned n, const QuotientDigits& digits,
                                     unsigned pass, DigitRanks<sortBucketsDigits>& shared) {
  constexpr unsigned ITEMS = fillBucketsItems, TILE = groupRowsBlock * ITEMS;
  countLongDigit(from, n, digits, pass, shared);
  for (unsigned begin = 0; begin < n; begin += TILE) {
    const TileItems items(n - begin < TILE ? n - begin : TILE);
    BucketedRow rows[ITEMS];
    unsigned ranks[ITEMS];
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) rows[k] = items.has(k) ? from[begin + items.position(k)] : BucketedRow{};
    const auto digitOf = [&](unsigned k) { return items.has(k) ? digits.digit(rows[k].quotient, pass) : noDigit; };
    const uint2 totals = rankTile(items.used, digitOf, ranks, shared);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
      if (items.has(k)) to[shared.destination(digitOf(k), ranks[k])] = rows[k];
    __syncthreads();
    shared.advance(totals);
  }
}

template <class Rows>
__device__ inline bool beginsList(const Rows& rows, unsigned i) {
  return i == 0 || rows.quotient(i - 1) != rows.quotient(i);
}

// Where the list that begins at i ends, in steps that double and halve again.
template <class Rows>
__device__ inline unsigned endOfList(const Rows& rows, unsigned i, unsigned n) {
  const unsigned quotient = rows.quotient(i);
  unsigned step = 1, last = i;  // `last` is in the list
  while (step < n - last && rows.quotient(last + step) == quotient) last += step, step *= 2;
  for (; step > 0; step /= 2)
    if (step < n - last && rows.quotient(last + step) == quotient) last += step;
  return last + 1;
}

// Writes the positions of a bucket, which begins at `begin`, and its lists. Lists of the buckets come in any order.
template <class Rows>
__device__ inline void writeLists(const Rows& rows, unsigned begin, unsigned n, unsigned buckets,
                                  const SortedBuckets& out) {
  __shared__ unsigned firstList;
  unsigned own = 0;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < n; i += groupRowsBlock) {
    out.positions[begin + i] = rows.position(i);
    own += beginsList(rows, i) ? 1 : 0;
  }
  const unsigned before = blockExclusiveScan<groupRowsBlock>(own, 0U, Plus{});
  if (threadIdx.x == groupRowsBlock - 1) firstList = atomicAdd(out.count, before + own);
  __syncthreads();
  AddedList* list = out.lists + firstList + before;
  for (unsigned i = threadIdx.x; i < n; i += groupRowsBlock) {
    if (!beginsList(rows, i)) continue;
    const unsigned end = endOfList(rows, i, n);
    if (end - i >= out.tooLong) out.longLists[atomicAdd(out.longCount, 1U)] = static_cast<unsigned>(list - out.lists);
    *list++ = {begin + i, begin + end, rows.quotient(i) * buckets + blockIdx.x, 0};
  }
}

// A block a bucket. Dynamic shared memory: a TileOfBucket.
template <class Buckets>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock, 2)
    sortBucketsKernel(const Buckets buckets, const unsigned* firsts, unsigned regions, const QuotientDigits digits) {
  TileOfBucket& shared = *dynamicShared<TileOfBucket>();
  waitForPreviousKernel();
  const std::size_t bucket = blockIdx.x;
  const unsigned begin = firsts[bucket * regions], n = firsts[(bucket + 1) * regions] - begin;
  if (n == 0) return;
  BucketedRow *rows = buckets.rows + begin, *other = buckets.other + begin;
  if (n <= sortBucketsTile && digits.bits * digits.passes < 32 - TileOfBucket::BITS) {
    sortTile(rows, n, digits, shared);
    __syncthreads();
    return writeLists(TileRows{shared.words, rows}, begin, n, digits.buckets, buckets);
  }
  for (unsigned pass = 0; pass < digits.passes; ++pass) {
    BucketedRow* const from = rows;
    sortLongDigit(from, other, n, digits, pass, shared.ranks);
    rows = other, other = from;
    __syncthreads();
  }
  writeLists(BucketRows{rows}, begin, n, digits.buckets, buckets);
}

GPUOPT_DETAIL_END
