/// \file
/// Histograms of more bins than shared memory can count: elements are partitioned by ranges of bins, in one reading of
/// the input, and then counted range by range.
///
///     partitionKernel      each block collects the slots of its elements in chunks, a chunk for each range; full
///                          chunks are written to a pool, in any order
///     orderChunksKernel    lists the chunks of each range
///     countChunksKernel    counts the chunks of a range in shared memory
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/kernels.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The scratch memory of a partition. Chunks have partitionChunk entries each.
struct Partition {
  unsigned short* entries;  // slots within their range
  unsigned* rangeOf;        // of a chunk
  unsigned* sizeOf;         // entries of a chunk
  unsigned* order;          // the chunks, by ranges
  unsigned* used;           // chunks in use; zero before the partition
  unsigned* chunksOf;       // chunks of each range; zero before
  unsigned* listed;         // chunks of each range in `order`; zero before
  unsigned ranges;
};

inline constexpr unsigned partitionCounters = 1 + 2 * maxPartitionRanges;

// Sums of a value over the lower threads of a block of maxPartitionRanges threads. All call; returns the sum before
// the own value.
__device__ inline unsigned sumBefore(unsigned value, unsigned (&warpSums)[maxPartitionRanges / 32]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned lower = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += lower;
  }
  if (lane == 31) warpSums[warp] = sum;
  __syncthreads();
  unsigned before = 0;
#pragma unroll 1
  for (unsigned w = 0; w < warp; ++w) before += warpSums[w];
  return before + sum - value;
}

// The elements of a block's tile, collected by ranges, and where they go. Thread r has range r.
struct PartitionStage {
  static constexpr unsigned TILE = partitionThreads * partitionItems;
  unsigned slots[TILE];                     // by ranges
  unsigned counts[maxPartitionRanges];      // of a range in this tile
  unsigned starts[maxPartitionRanges + 1];  // of a range in `slots`
  unsigned splits[maxPartitionRanges];      // from here on, a range's slots go to new chunks
  unsigned toOld[maxPartitionRanges];       // add to an index in `slots`: the index in the pool before the split,
  unsigned toNew[maxPartitionRanges];       // and after it
  unsigned warpSums[maxPartitionRanges / 32];
};

// The loops that follow are not unrolled: registers are scarce.

// A range's chunk that a block is filling.
struct OpenChunk {
  unsigned number = 0;
  unsigned size = partitionChunk;  // full: the first element takes a new one
};

// Takes chunks for `count` elements of the thread's range, whose slots in the stage begin at `start`. New chunks are
// neighbours.
__device__ inline void placeRange(const Partition& pool, PartitionStage& stage, OpenChunk& open, unsigned start,
                                  unsigned count) {
  const unsigned range = threadIdx.x, room = partitionChunk - open.size;
  const unsigned taken = count < room ? count : room;
  stage.splits[range] = start + taken;
  stage.toOld[range] = open.number * partitionChunk + open.size - start;
  if (count <= room) {
    open.size += count;
    return;
  }
  const unsigned chunks = (count - room + partitionChunk - 1) / partitionChunk;
  const unsigned first = atomicAdd(pool.used, chunks);
  atomicAdd(pool.chunksOf + range, chunks);
#pragma unroll 1
  for (unsigned i = 0; i < chunks; ++i) {
    pool.rangeOf[first + i] = range;
    pool.sizeOf[first + i] = partitionChunk;
  }
  stage.toNew[range] = first * partitionChunk - stage.splits[range];
  open = {first + chunks - 1, count - room - (chunks - 1) * partitionChunk};
}

// The ranks of RUN elements in their ranges, two in a register. One update for all of them if they are in one range:
// lanes that update one counter wait for each other.
template <int RUN, int ITEMS>
__device__ inline void rankRun(PartitionStage& stage, const unsigned (&tile)[ITEMS], unsigned (&ranks)[(ITEMS + 1) / 2],
                               int first, unsigned slots) {
  const SharedCounts counts(stage.counts);
  const auto rangeOf = [&](int i) { return tile[first + i] < slots ? tile[first + i] >> partitionRangeBits : ~0u; };
  const unsigned range = rangeOf(0);
  bool isRun = range != ~0u;
#pragma unroll
  for (int i = 1; i < RUN; ++i) isRun = isRun && rangeOf(i) == range;
  const unsigned start = isRun ? counts.add(range, RUN) : 0;
#pragma unroll
  for (int i = 0; i < RUN; ++i) {
    unsigned rank = start + static_cast<unsigned>(i);
    if (!isRun && rangeOf(i) != ~0u) rank = counts.add(rangeOf(i), 1);
    ranks[(first + i) / 2] |= rank << ((first + i) % 2 * 16);
  }
}

// Collects a tile by ranges, and writes it to the pool. Slots from `slots` on belong nowhere. What a thread writes
// before the first barrier, no other reads after the last one: tiles follow each other without another.
template <int ITEMS>
__device__ inline void partitionTile(const Partition& pool, PartitionStage& stage, OpenChunk& open,
                                     const unsigned (&tile)[ITEMS], unsigned slots) {
  constexpr int RUN = runOf<ITEMS>;
  unsigned ranks[(ITEMS + 1) / 2] = {};  // of 16 bits, two in a register
  stage.counts[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i += RUN) rankRun<RUN>(stage, tile, ranks, i, slots);
  __syncthreads();
  const unsigned count = stage.counts[threadIdx.x];
  const unsigned start = sumBefore(count, stage.warpSums);
  stage.starts[threadIdx.x] = start;
  if (threadIdx.x == maxPartitionRanges - 1) stage.starts[maxPartitionRanges] = start + count;
  placeRange(pool, stage, open, start, count);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (tile[i] < slots) {
      const unsigned rank = ranks[i / 2] >> (i % 2 * 16) & 0xffff;
      stage.slots[stage.starts[tile[i] >> partitionRangeBits] + rank] = tile[i];
    }
  __syncthreads();
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < stage.starts[maxPartitionRanges]; i += partitionThreads) {
    const unsigned slot = stage.slots[i], range = slot >> partitionRangeBits;
    const std::size_t entry = i + (i < stage.splits[range] ? stage.toOld[range] : stage.toNew[range]);
    pool.entries[entry] = static_cast<unsigned short>(slot & ((1u << partitionRangeBits) - 1));
  }
}

// Steps of a thread at a time. Wide elements are fewer, or registers would not suffice.
template <class Source>
inline constexpr int partitionSteps = clampTo(static_cast<int>(partitionItems) / Source::STEP, 1, keyedItems<Source>);

// The slots of a thread's steps first, first + partitionThreads, ... below `end`; otherwise `none`.
template <int ITEMS, class Source>
__device__ inline void loadSlots(const Source& source, std::size_t first, std::size_t end, unsigned none,
                                 unsigned (&tile)[ITEMS]) {
  constexpr int STEPS = ITEMS / Source::STEP;
  typename Source::Step steps[STEPS];
#pragma unroll
  for (unsigned i = 0; i < STEPS; ++i) {
    const std::size_t step = first + i * partitionThreads;
    if (step < end) source.template load<Caching::stream>(steps[i], step);
  }
#pragma unroll
  for (unsigned i = 0; i < STEPS; ++i) {
    unsigned values[Source::STEP];
    const bool exists = first + i * partitionThreads < end;
    if (exists) source.values(steps[i], values);
#pragma unroll
    for (unsigned e = 0; e < Source::STEP; ++e) tile[i * Source::STEP + e] = exists ? values[e] : none;
  }
}

template <class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(partitionThreads, partitionBlocksPerSm)
    partitionKernel(const Source source, const StepArgs shape, const Partition pool, const SlotsArgs<Count> result) {
  static_assert(partitionThreads == maxPartitionRanges, "thread r has range r");
  constexpr int STEPS = partitionSteps<Source>;
  __shared__ PartitionStage stage;
  waitForPreviousKernel();
  OpenChunk open;
  constexpr std::size_t TILE = std::size_t{partitionThreads} * STEPS;
  for (std::size_t first = shape.first + blockIdx.x * TILE; first < shape.end; first += gridDim.x * TILE) {
    unsigned tile[STEPS * Source::STEP];
    loadSlots(source, first + threadIdx.x, shape.end, result.slots, tile);
    partitionTile(pool, stage, open, tile, result.slots);
  }
  if (open.size < partitionChunk) pool.sizeOf[open.number] = open.size;
  const GlobalCounters<Count> counters(result);
  if (blockIdx.x == 0) takeEdge(source, shape, [&](const auto& values) { counters.take(values); });
}

// Chunks before each range.
__device__ inline void startsOfRanges(const Partition& pool, unsigned* starts,
                                      unsigned (&warpSums)[maxPartitionRanges / 32]) {
  const unsigned range = threadIdx.x;
  const unsigned chunks = range < pool.ranges ? pool.chunksOf[range] : 0;
  const unsigned before = sumBefore(chunks, warpSums);
  starts[range] = before;
  if (range == maxPartitionRanges - 1) starts[maxPartitionRanges] = before + chunks;
  __syncthreads();
}

// A template, so that several sources may have it.
template <class Pool>
GPUOPT_KERNEL void __launch_bounds__(maxPartitionRanges) orderChunksKernel(const Pool pool) {
  __shared__ unsigned starts[maxPartitionRanges + 1], counts[maxPartitionRanges], bases[maxPartitionRanges];
  __shared__ unsigned warpSums[maxPartitionRanges / 32];
  waitForPreviousKernel();
  startsOfRanges(pool, starts, warpSums);
  const unsigned used = *pool.used;
  for (unsigned first = blockIdx.x * blockDim.x; first < used; first += gridDim.x * blockDim.x) {
    const unsigned chunk = first + threadIdx.x;
    counts[threadIdx.x] = 0;
    __syncthreads();
    unsigned range = 0, rank = 0;
    if (chunk < used) {
      range = pool.rangeOf[chunk];
      rank = atomicAdd(counts + range, 1u);
    }
    __syncthreads();
    if (counts[threadIdx.x] > 0) bases[threadIdx.x] = atomicAdd(pool.listed + threadIdx.x, counts[threadIdx.x]);
    __syncthreads();
    if (chunk < used) pool.order[starts[range] + bases[range] + rank] = chunk;
  }
}

// Counts the entries of chunks order[first], ... below `end`, a warp each.
__device__ inline void countChunks(const Partition& pool, unsigned first, unsigned end) {
  const SharedCounts counts(dynamicShared<unsigned>());
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (unsigned i = first + threadIdx.x / 32; i < end; i += warps) {
    const unsigned chunk = pool.order[i], size = pool.sizeOf[chunk];
    const unsigned short* const entries = pool.entries + std::size_t{chunk} * partitionChunk;
    if (size < partitionChunk) {
      for (unsigned e = lane; e < size; e += 32) counts.increment(entries[e]);
      continue;
    }
    constexpr int VECTORS = partitionChunk * sizeof(unsigned short) / (32 * 16);
    VectorGroup<unsigned short, 8, true> loaded[VECTORS];
#pragma unroll
    for (unsigned v = 0; v < VECTORS; ++v) loaded[v].template load<Caching::stream>(entries + 8 * (32 * v + lane));
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      unsigned short slots[8];
      loaded[v].unpack(slots);
#pragma unroll
      for (int e = 0; e < 8; ++e) counts.increment(slots[e]);
    }
  }
}

// A block takes a contiguous share of all chunks, and counts each range in it by itself.
template <class Count>
GPUOPT_KERNEL void __launch_bounds__(maxPartitionRanges)
    countChunksKernel(const Partition pool, const SlotsArgs<Count> result) {
  constexpr unsigned RANGE = 1u << partitionRangeBits;
  __shared__ unsigned starts[maxPartitionRanges + 1], warpSums[maxPartitionRanges / 32];
  waitForPreviousKernel();
  startsOfRanges(pool, starts, warpSums);
  const unsigned used = starts[maxPartitionRanges];
  const unsigned fair = (used + gridDim.x - 1) / gridDim.x;
  const unsigned share = fair < minCountedChunks ? minCountedChunks : fair;
  const unsigned first = blockIdx.x * share;
  const unsigned end = first + share < used ? first + share : used;
  for (unsigned range = 0; range < pool.ranges; ++range) {
    const unsigned low = starts[range] < first ? first : starts[range];
    const unsigned high = starts[range + 1] < end ? starts[range + 1] : end;
    if (low >= high) continue;
    const unsigned base = range * RANGE;
    const unsigned slots = result.slots - base < RANGE ? result.slots - base : RANGE;
    clearShared(RANGE);
    __syncthreads();
    countChunks(pool, low, high);
    __syncthreads();
    addToResult<false>(result.counts + base, slots, blockIdx.x, gridDim.x,
                       [](unsigned slot) { return dynamicShared<unsigned>()[slot]; });
    __syncthreads();
  }
}

GPUOPT_DETAIL_END
