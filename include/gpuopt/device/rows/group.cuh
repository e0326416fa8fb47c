/// \file
/// Positions grouped by the rows that indices name, those of each row in ascending order: a stable sort by counting,
/// without atomics on what decides the order. Rows are first divided into buckets, by their remainder, so that
/// neighbours and multiples of powers of two spread over all of them; then a block sorts a bucket.
///
///     countBucketsKernel    how many positions of a block's region belong to each bucket
///     (exclusive scan)      where those of each bucket and region go
///     fillBucketsKernel     moves them there
///     sortBucketsKernel     sorts each bucket, a digit of the quotient at a time, and makes its lists
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

inline constexpr unsigned noRow = 0xffffffff;

// The rows that indices name, at their positions; noRow for padding.
template <RowIndices INDICES, class Index>
struct IndexedRows {
  const Index* indices;

  __device__ static constexpr bool isEmpty() { return false; }  // true: all rows are noRow
  __device__ unsigned row(unsigned i) const {
    const Index index = indices[i];
    return INDICES == RowIndices::padded && isNegative(index) ? noRow : static_cast<unsigned>(index);
  }
};

// A position in the bucket of its row.
struct alignas(8) BucketedRow {
  unsigned quotient;  // of the row and the number of buckets
  unsigned position;
};

// The regions of n positions that blocks take, and the buckets that occur.
struct BucketRegions {
  unsigned n;
  unsigned size;
  unsigned blocks;
  unsigned buckets;
  Divisor divisor;  // the number of all buckets: see groupRowsManyBuckets

  __device__ unsigned bucketOf(unsigned row) const { return row - divisor.divide(row) * divisor.divisor; }

  __device__ unsigned begin() const { return blockIdx.x * size; }
  __device__ unsigned end() const { return n - begin() < size ? n : begin() + size; }
};

// Of the items of a thread, as many as n positions need, up to a tile; their positions. Warps take neighbouring runs,
// so that ascending positions have ascending ranks.
struct TileItems {
  unsigned n;
  unsigned used;

  __device__ explicit TileItems(unsigned count) : n(count), used((count + groupRowsBlock - 1) / groupRowsBlock) {}
  __device__ unsigned position(unsigned item) const { return (threadIdx.x / 32 * used + item) * 32 + threadIdx.x % 32; }
  __device__ bool has(unsigned item) const { return item < used && position(item) < n; }
};

// Counters by buckets: those of a bucket are neighbours, in the order of the regions. Also zeroes the numbers of
// lists and of long ones.
template <class Source>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    countBucketsKernel(const Source source, const BucketRegions regions, unsigned* counts, unsigned* lists) {
  __shared__ unsigned ofBucket[groupRowsDigits];
  const SharedCounts counters(ofBucket);
  for (unsigned b = threadIdx.x; b < groupRowsDigits; b += groupRowsBlock) ofBucket[b] = 0;
  waitForPreviousKernel();
  __syncthreads();
  const unsigned end = source.isEmpty() ? 0 : regions.end();
#pragma unroll 8
  for (unsigned i = regions.begin() + threadIdx.x; i < end; i += groupRowsBlock) {
    const unsigned row = source.row(i);
    if (row != noRow) counters.increment(regions.bucketOf(row));
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < regions.buckets; b += groupRowsBlock)
    counts[std::size_t{b} * regions.blocks + blockIdx.x] = ofBucket[b];
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  counts[std::size_t{regions.buckets} * regions.blocks] = 0;  // becomes the sum of all
  lists[0] = lists[1] = 0;
}

// The shared memory of a tile that is being ranked. Digits are counted in halves of words: a thread has two of them.
template <unsigned DIGITS>
struct DigitRanks {
  static constexpr unsigned WARPS = groupRowsBlock / 32;
  static_assert(DIGITS <= 2 * groupRowsBlock);
  alignas(16) unsigned short before[WARPS][DIGITS];  // items of a digit in the tile's warps before
  unsigned first[DIGITS];                            // where a digit's next items go

  __device__ static bool hasDigits() { return threadIdx.x < DIGITS / 2; }
  __device__ unsigned& countersOf(unsigned warp) { return reinterpret_cast<unsigned*>(before[warp])[threadIdx.x]; }
  __device__ unsigned destination(unsigned digit, unsigned rank) const {
    return first[digit] + before[threadIdx.x / 32][digit] + rank;
  }
  // The next tile's items go behind this one's, of which rankTile gave the totals.
  __device__ void advance(const uint2& totals) {
    if (DIGITS < 2 * groupRowsBlock && !hasDigits()) return;
    first[2 * threadIdx.x] += totals.x;
    first[2 * threadIdx.x + 1] += totals.y;
  }
};

inline constexpr unsigned noDigit = 0xffffffff;

// The ranks of a warp's items among those of their digits, and the digits' counters after them. digitOf(k) is the digit
// of a lane's item k: computed again where it is needed, as registers are scarce.
template <unsigned ITEMS, class DigitOf>
__device__ inline void rankWarp(unsigned used, const DigitOf& digitOf, unsigned (&ranks)[ITEMS],
                                unsigned short* counts) {
  const unsigned lower = (1U << laneIndex()) - 1;
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k) {
    if (k >= used) break;
    const unsigned digit = digitOf(k);
    const bool exists = digit != noDigit;
    const unsigned same = __match_any_sync(fullMask, digit);
    const unsigned count = exists ? counts[digit] : 0;
    ranks[k] = count + static_cast<unsigned>(__popc(same & lower));
    __syncwarp();
    if (exists && (same & lower) == 0)
      counts[digit] = static_cast<unsigned short>(count + static_cast<unsigned>(__popc(same)));
    __syncwarp();
  }
}

// Ranks a tile. Thread t gets how many items have digits 2t and 2t + 1. A barrier has to follow.
template <unsigned DIGITS, unsigned ITEMS, class DigitOf>
__device__ inline uint2 rankTile(unsigned used, const DigitOf& digitOf, unsigned (&ranks)[ITEMS],
                                 DigitRanks<DIGITS>& shared) {
  using Ranks = DigitRanks<DIGITS>;
  uint4* const counters = reinterpret_cast<uint4*>(shared.before);
  for (unsigned i = threadIdx.x; i < sizeof(shared.before) / sizeof(uint4); i += groupRowsBlock)
    counters[i] = uint4{0, 0, 0, 0};
  __syncthreads();
  rankWarp(used, digitOf, ranks, shared.before[threadIdx.x / 32]);
  __syncthreads();
  unsigned totals = 0;
  if (Ranks::hasDigits()) {
#pragma unroll 8
    for (unsigned w = 0; w < Ranks::WARPS; ++w) {
      unsigned& before = shared.countersOf(w);
      const unsigned counts = before;
      before = totals;
      totals += counts;
    }
  }
  return {totals & 0xffff, totals >> 16};
}

template <class Source>
GPUOPT_KERNEL void __launch_bounds__(groupRowsBlock)
    fillBucketsKernel(const Source source, const BucketRegions regions, const unsigned* firsts, BucketedRow* out) {
  constexpr unsigned ITEMS = fillBucketsItems, TILE = groupRowsBlock * ITEMS;
  __shared__ DigitRanks<groupRowsDigits> shared;
  waitForPreviousKernel();
  if (source.isEmpty()) return;
  for (unsigned b = threadIdx.x; b < groupRowsDigits; b += groupRowsBlock)
    shared.first[b] = b < regions.buckets ? firsts[std::size_t{b} * regions.blocks + blockIdx.x] : 0;
  const unsigned end = regions.end();
  for (unsigned begin = regions.begin(); begin < end; begin += TILE) {
    const TileItems items(end - begin < TILE ? end - begin : TILE);
    unsigned rows[ITEMS], ranks[ITEMS];
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) rows[k] = items.has(k) ? source.row(begin + items.position(k)) : noRow;
    const auto bucketOf = [&](unsigned k) { return rows[k] == noRow ? noDigit : regions.bucketOf(rows[k]); };
    const uint2 totals = rankTile(items.used, bucketOf, ranks, shared);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
      if (rows[k] != noRow)
        out[shared.destination(bucketOf(k), ranks[k])] = {regions.divisor.divide(rows[k]), begin + items.position(k)};
    __syncthreads();
    shared.advance(totals);
  }
}

GPUOPT_DETAIL_END
