/// \file
/// Kernels of addRows for many rows: the positions of each row of `out` are listed in a few slots of its own, in any
/// order, and one thread a pack sums each list.
///
///     partitionRowsKernel   moves positions to buckets of neighbouring rows
///     listBucketsKernel     lists those of a bucket in shared memory, and writes all slots of its rows
///     addSlotsKernel        adds the rows of each list; in any order, also those that found no slot
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/grid/resident_threads.cuh>
#include <gpuopt/thread/atomic_add.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// A row and a position of it.
struct alignas(8) ListedRow {
  unsigned row;
  unsigned position;
};

// How many positions each row has, `perRow` slots for each, a power of two from 16 on, and the positions that found
// none. Before, they are in buckets of neighbouring rows, which hold as many positions as the slots of their rows.
struct RowSlots {
  unsigned* fills;  // how many positions go to each bucket: zero before
  unsigned* restCount;
  unsigned* counts;
  unsigned* slots;
  unsigned* rest;  // null: they are only counted
  ListedRow* listed;
  unsigned rows;
  unsigned perRow;
  unsigned bucketBits;  // rows of a bucket

  __device__ unsigned bucketRows() const { return 1U << bucketBits; }
  __device__ unsigned bucketOf(unsigned row) const { return row >> bucketBits; }

  __device__ void addToRest(unsigned position) const {
    const unsigned number = atomicAdd(restCount, 1U);
    if (rest != nullptr) rest[number] = position;
  }
};

// The rows whose positions exceed their slots, at all of their positions; noRow at all others.
template <class Source>
struct CrowdedRows {
  Source source;
  RowSlots slots;

  __device__ bool isEmpty() const { return *slots.restCount == 0; }
  __device__ unsigned row(unsigned i) const {
    const unsigned row = source.row(i);
    return row != noRow && slots.counts[row] > slots.perRow ? row : noRow;
  }
};

// What a block shares about its tile of positions: by buckets how many there are, where they begin in the tile, and
// where in the bucket; then the positions in the order of the buckets.
struct PartitionedTile {
  unsigned counts[slotBuckets];
  unsigned firsts[slotBuckets];
  unsigned places[slotBuckets];
  ListedRow items[listRowsBlock * listRowsItems];
};

// Finds where the positions of each bucket go. Returns how many there are, to the last thread. A barrier has to follow.
__device__ inline unsigned placeBuckets(PartitionedTile& tile, const RowSlots& out) {
  static_assert(slotBuckets == 2 * listRowsBlock);
  const unsigned b = 2 * threadIdx.x, count = tile.counts[b], next = tile.counts[b + 1];
  const unsigned before = blockExclusiveScan<listRowsBlock>(count + next, 0U, Plus{});
  tile.firsts[b] = before;
  tile.firsts[b + 1] = before + count;
  if (count > 0) tile.places[b] = atomicAdd(out.fills + b, count);
  if (next > 0) tile.places[b + 1] = atomicAdd(out.fills + b + 1, next);
  return before + count + next;
}

template <class Source>
GPUOPT_KERNEL void __launch_bounds__(listRowsBlock)
    partitionRowsKernel(const Source source, unsigned n, const RowSlots out) {
  constexpr unsigned ITEMS = listRowsItems;
  __shared__ unsigned total;
  PartitionedTile& tile = *dynamicShared<PartitionedTile>();
  for (unsigned b = threadIdx.x; b < slotBuckets; b += listRowsBlock) tile.counts[b] = 0;
  waitForPreviousKernel();
  __syncthreads();
  const unsigned begin = blockIdx.x * listRowsBlock * ITEMS + threadIdx.x;
  unsigned rows[ITEMS], ranks[ITEMS];
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k)
    rows[k] = begin + k * listRowsBlock < n ? source.row(begin + k * listRowsBlock) : noRow;
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k)
    ranks[k] = rows[k] == noRow ? 0 : atomicAdd(tile.counts + out.bucketOf(rows[k]), 1U);
  __syncthreads();
  const unsigned end = placeBuckets(tile, out);
  if (threadIdx.x == listRowsBlock - 1) total = end;
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < ITEMS; ++k)
    if (rows[k] != noRow)
      tile.items[tile.firsts[out.bucketOf(rows[k])] + ranks[k]] = {rows[k], begin + k * listRowsBlock};
  __syncthreads();
  for (unsigned i = threadIdx.x; i < total; i += listRowsBlock) {
    const ListedRow item = tile.items[i];
    const unsigned bucket = out.bucketOf(item.row), place = tile.places[bucket] + (i - tile.firsts[bucket]);
    if (place < bucketSlots)
      out.listed[std::size_t{bucket} * bucketSlots + place] = item;
    else
      out.addToRest(item.position);
  }
}

// A block for each bucket. Slots: RowSlots.
template <class Slots>
GPUOPT_KERNEL void __launch_bounds__(listRowsBlock, smallerOf<int>(listBucketsPerSm, RESIDENT_THREADS / listRowsBlock))
    listBucketsKernel(const Slots out) {
  unsigned* const slots = dynamicShared<unsigned>();
  unsigned* const counts = slots + bucketSlots;
  const unsigned first = blockIdx.x << out.bucketBits;
  const unsigned rows = out.rows - first < out.bucketRows() ? out.rows - first : out.bucketRows();
  for (unsigned i = threadIdx.x; i < rows; i += listRowsBlock) counts[i] = 0;
  waitForPreviousKernel();
  __syncthreads();
  const unsigned filled = out.fills[blockIdx.x], count = filled < bucketSlots ? filled : bucketSlots;
  const ListedRow* const listed = out.listed + std::size_t{blockIdx.x} * bucketSlots;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < count; i += listRowsBlock) {
    const ListedRow item = listed[i];
    const unsigned rank = atomicAdd(counts + (item.row - first), 1U);
    if (rank < out.perRow)
      slots[(item.row - first) * out.perRow + rank] = item.position;
    else
      out.addToRest(item.position);
  }
  __syncthreads();
  // Where positions are missing and are not in the rest, all rows count as crowded.
  const bool isCrowded = filled > bucketSlots && out.rest == nullptr;
  for (unsigned i = threadIdx.x; i < rows; i += listRowsBlock) out.counts[first + i] = isCrowded ? noRow : counts[i];
  const uint4* const from = reinterpret_cast<const uint4*>(slots);
  uint4* const to = reinterpret_cast<uint4*>(out.slots + std::size_t{first} * out.perRow);
  for (unsigned i = threadIdx.x; i < rows * out.perRow / 4; i += listRowsBlock) to[i] = from[i];
}

// Packs of N elements.
template <class In, class Out, unsigned N, class Source>
struct AddSlotsArgs {
  const Pack<In, N>* in;
  Pack<Out, N>* out;
  Source source;
  RowSlots slots;
  PackedRows shape;  // of out
  std::size_t inLd;
  std::size_t outLd;
  unsigned restBlocks;  // at the beginning of the grid
};

template <class In, class Out, unsigned N>
__device__ inline void addPackAtomically(Pack<Out, N>* out, const Pack<In, N>& pack) {
  In elements[N];
  Out values[N];
  __builtin_memcpy(static_cast<void*>(elements), &pack, sizeof(elements));
#pragma unroll
  for (unsigned i = 0; i < N; ++i) values[i] = static_cast<Out>(static_cast<RowSum<In, Out>>(elements[i]));
  atomicAddElements(reinterpret_cast<Out*>(out), values);
}

template <class Out, unsigned N, class Sum>
__device__ inline void addSumsAtomically(Pack<Out, N>* out, const Sum (&sums)[N]) {
  Out values[N];
#pragma unroll
  for (unsigned i = 0; i < N; ++i) values[i] = static_cast<Out>(sums[i]);
  atomicAddElements(reinterpret_cast<Out*>(out), values);
}

// The rows that found no slot: each is added atomically.
template <class In, class Out, unsigned N, class Source>
__device__ inline void addRest(const AddSlotsArgs<In, Out, N, Source>& args) {
  const std::size_t cols = args.shape.cols, all = *args.slots.restCount * cols;
  const std::size_t stride = std::size_t{args.restBlocks} * addSlotsBlock;
  for (std::size_t i = blockIdx.x * std::size_t{addSlotsBlock} + threadIdx.x; i < all; i += stride) {
    const std::size_t number = i / cols, col = i - number * cols;
    const unsigned position = args.slots.rest[number];
    addPackAtomically<In, Out, N>(args.out + args.source.row(position) * args.outLd + col,
                                  args.in[position * args.inLd + col]);
  }
}

// Adds up to LOADS packs of a column at positions[0] to before positions[count].
template <unsigned LOADS, class In, unsigned N, class Sum>
__device__ inline void addPositions(Sum (&sums)[N], const Pack<In, N>* column, std::size_t ld,
                                    const unsigned* positions, unsigned count) {
  Pack<In, N> packs[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k)
    if (k < count) packs[k] = column[positions[k] * ld];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k)
    if (k < count) addPack<In, N>(sums, packs[k], Sum{1});
}

// Four slots; those from number `count` on become the largest number.
__device__ inline void loadSlots(const unsigned* slots, unsigned count, unsigned* positions) {
  const uint4 four = *reinterpret_cast<const uint4*>(slots);
  positions[0] = four.x;
  positions[1] = count > 1 ? four.y : noRow;
  positions[2] = count > 2 ? four.z : noRow;
  positions[3] = count > 3 ? four.w : noRow;
}

// In any order.
template <class In, class Out, unsigned N, class Source>
__device__ inline void addSlotsAtomically(const AddSlotsArgs<In, Out, N, Source>& args, std::size_t row,
                                          std::size_t col, unsigned count) {
  constexpr unsigned LOADS = addSlotsLoads;
  const unsigned* const slots = args.slots.slots + row * args.slots.perRow;
  RowSum<In, Out> sums[N] = {};
  for (unsigned j = 0; j < count; j += LOADS) {
    unsigned positions[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; k += 4)
      if (j + k < count) loadSlots(slots + j + k, count - j - k, positions + k);
    addPositions<LOADS, In, N>(sums, args.in + col, args.inLd, positions, count - j);
  }
  addSumsAtomically<Out, N>(args.out + row * args.outLd + col, sums);
}

// Sorts in registers: Batcher's odd-even merge sort.
template <unsigned N>
__device__ inline void sortNumbers(unsigned (&numbers)[N]) {
  static_assert(isPowerOfTwo<N>);
#pragma unroll
  for (unsigned run = 1; run < N; run *= 2)
#pragma unroll
    for (unsigned step = run; step >= 1; step /= 2)
#pragma unroll
      for (unsigned i = step % run; i + step < N; ++i) {
        const bool isLower = (i - step % run) / step % 2 == 0;
        if (!isLower || i / (2 * run) != (i + step) / (2 * run)) continue;
        const unsigned a = numbers[i], b = numbers[i + step];
        numbers[i] = a < b ? a : b;
        numbers[i + step] = a < b ? b : a;
      }
}

// In ascending order of the positions, which all are in slots.
template <class In, class Out, unsigned N, class Source>
__device__ inline void addSlotsInOrder(const AddSlotsArgs<In, Out, N, Source>& args, std::size_t row, std::size_t col,
                                       unsigned count) {
  constexpr unsigned SLOTS = orderedSlots, LOADS = addSlotsLoads;
  Pack<Out, N>* const out = args.out + row * args.outLd + col;
  const Pack<Out, N> start = *out;
  const unsigned* const slots = args.slots.slots + row * SLOTS;
  unsigned positions[SLOTS];
#pragma unroll
  for (unsigned k = 0; k < SLOTS; k += 4) {
    positions[k] = positions[k + 1] = positions[k + 2] = positions[k + 3] = noRow;
    if (k < count) loadSlots(slots + k, count - k, positions + k);
  }
  sortNumbers(positions);
  RowSum<In, Out> sums[N] = {};
  addPack<Out, N>(sums, start, RowSum<In, Out>{1});
#pragma unroll
  for (unsigned j = 0; j < SLOTS; j += LOADS)
    if (j < count) addPositions<LOADS, In, N>(sums, args.in + col, args.inLd, positions + j, count - j);
  *out = packOf<Out, N>(sums);
}

template <bool IN_ORDER, class In, class Out, unsigned N, class Source>
GPUOPT_KERNEL void __launch_bounds__(addSlotsBlock,
                                     smallerOf<int>(addSlotsBlocksPerSm, RESIDENT_THREADS / addSlotsBlock))
    addSlotsKernel(const AddSlotsArgs<In, Out, N, Source> args) {
  waitForPreviousKernel();
  if constexpr (!IN_ORDER)
    if (blockIdx.x < args.restBlocks) return addRest(args);
  const std::size_t element = (blockIdx.x - args.restBlocks) * std::size_t{addSlotsBlock} + threadIdx.x;
  const std::size_t row = args.shape.rowOf(element), col = element - row * args.shape.cols;
  if (row >= args.shape.rows) return;
  const unsigned count = args.slots.counts[row];
  if (count == 0 || (IN_ORDER && count > orderedSlots)) return;
  if constexpr (IN_ORDER)
    addSlotsInOrder(args, row, col, count);
  else
    addSlotsAtomically(args, row, col, count < args.slots.perRow ? count : args.slots.perRow);
}

GPUOPT_DETAIL_END
