/// \file
/// Histograms of more bins than shared memory can count: elements are partitioned by ranges of bins, in one reading of
/// the input, and then counted range by range.
///
///     partitionKernel      each block collects the slots of its elements in chunks of its own, a chunk for each range
///     orderChunksKernel    lists the chunks of each range
///     countChunksKernel    counts the chunks of a range in shared memory
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/keyed/kernels.cuh>
#include <gpuopt/device/keyed/runs.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Which range has a slot, and its index there: 32 neighbouring slots are in one range, the next 32 in the next one.
// So elements that crowd in some of the bins are in all ranges, and their updates on all counters of ranges.
struct SlotRanges {
  static constexpr unsigned NO_KEY = ~0u;
  unsigned slots;
  unsigned bits;  // of the number of a range

  __host__ __device__ unsigned count() const { return 1u << bits; }

  // The range in the upper 16 bits, the place in the lower ones; NO_KEY of elements in no slot.
  __device__ unsigned keyOf(unsigned slot) const {
    const unsigned group = slot / 32, place = group >> bits << 5 | slot % 32;
    return slot < slots ? (group & (count() - 1)) << 16 | place : NO_KEY;
  }

  // Some of the last places stand for slots that do not exist.
  __device__ unsigned slotOf(unsigned range, unsigned place) const {
    return ((place >> 5 << bits) + range) * 32 + place % 32;
  }
  __device__ unsigned places() const { return ((slots - 1) / 32 >> bits) * 32 + 32; }
};

// A chunk, or its range, and the number of its entries.
struct SizedChunk {
  unsigned bits;

  static __device__ SizedChunk of(unsigned number, unsigned size) { return {number << 10 | size}; }
  __device__ unsigned number() const { return bits >> 10; }
  __device__ unsigned size() const { return bits & 1023; }
};

// The scratch memory of a partition. Chunks have partitionChunk entries each.
struct Partition {
  SlotRanges ranges;
  unsigned blockChunks;     // that each block may use
  unsigned short* entries;  // places
  SizedChunk* rangeOf;      // of a chunk
  SizedChunk* order;        // the chunks, by ranges
  unsigned* usedOf;         // chunks in use, of each block
  unsigned* chunksOf;       // chunks of each range; zero before
  unsigned* listed;         // chunks of each range in `order`; zero before
};

inline constexpr unsigned partitionCounters = 2 * maxPartitionRanges;

// Entries leave a block in units, which are full sectors of memory.
inline constexpr unsigned partitionUnit = 16, chunkUnits = partitionChunk / partitionUnit;

// The chunks of a block.
struct BlockChunks {
  uint4* entries;  // half a unit
  SizedChunk* rangeOf;

  static __device__ BlockChunks of(const Partition& pool) {
    return {reinterpret_cast<uint4*>(pool.entries + std::size_t{blockIdx.x} * pool.blockChunks * partitionChunk),
            pool.rangeOf + blockIdx.x * pool.blockChunks};
  }
};

// Sums of a value over the lower threads of a block. All call; returns the sum before the own value.
__device__ inline unsigned sumBefore(unsigned value, unsigned (&warpSums)[32]) {
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

// Where the units of a range in a tile go.
struct UnitTarget {
  unsigned split;  // from this unit on, to new chunks
  unsigned toOld;  // add to the number of a unit in the tile: the number in the block's chunks before the split,
  unsigned toNew;  // and after it
  unsigned end;    // of the full units
};

// A range's chunk that a block is filling.
struct alignas(16) OpenChunk {
  unsigned number = 0;
  unsigned units = chunkUnits;  // full: the first unit takes a new one
  unsigned chunks = 0;          // of the range, so far
  unsigned waiting = 0;         // entries
};

// The elements of a block's tile, collected by ranges. Thread r has range r. Entries that do not fill a unit wait for
// the next tile, and are its first ones.
struct PartitionStage {
  static constexpr unsigned TILE = partitionThreads * partitionItems;
  static constexpr unsigned UNITS =
      (TILE + (partitionUnit - 1) * maxPartitionRanges) / partitionUnit + maxPartitionRanges;
  uint4 entries[2 * UNITS];
  uint4 waiting[2 * maxPartitionRanges];
  UnitTarget targets[maxPartitionRanges];
  unsigned counts[maxPartitionRanges];  // of a range
  unsigned starts[maxPartitionRanges];  // the first entry of a range
  OpenChunk open[maxPartitionRanges];   // here, because registers are scarce
  unsigned short rangeOf[UNITS];
  unsigned warpSums[32];
  unsigned units;
  unsigned used;  // chunks of the block
  BlockChunks own;

  __device__ void copyUnit(uint4* to, const uint4* from) const {
    to[0] = from[0];
    to[1] = from[1];
  }
};

// The loops that follow are not unrolled: registers are scarce.

// Takes chunks for `full` units of the thread's range, which begin at unit `start` of the tile. New chunks are
// neighbours.
__device__ inline void placeRange(PartitionStage& stage, OpenChunk& open, unsigned start, unsigned full) {
  const unsigned room = chunkUnits - open.units, taken = full < room ? full : room;
  UnitTarget target{start + taken, open.number * chunkUnits + open.units - start, 0, start + full};
  if (full <= room) {
    open.units += full;
  } else {
    const unsigned chunks = (full - room + chunkUnits - 1) / chunkUnits;
    const unsigned first = atomicAdd(&stage.used, chunks);
#pragma unroll 1
    for (unsigned i = 0; i < chunks; ++i) stage.own.rangeOf[first + i] = SizedChunk::of(threadIdx.x, partitionChunk);
    target.toNew = first * chunkUnits - target.split;
    open.chunks += chunks;
    open.number = first + chunks - 1;
    open.units = full - room - (chunks - 1) * chunkUnits;
  }
  stage.targets[threadIdx.x] = target;
}

// The ranks of RUN elements in their ranges, two in a register. One update for all of them if they are in one range:
// lanes that update one counter wait for each other.
template <int RUN, int ITEMS>
__device__ inline void rankRun(PartitionStage& stage, const unsigned (&keys)[ITEMS], unsigned (&ranks)[(ITEMS + 1) / 2],
                               int first) {
  const SharedCounts counts(stage.counts);
  unsigned own[RUN];
  if (keys[first] != SlotRanges::NO_KEY && isRun<RUN>([&](int i) { return keys[first + i] >> 16; })) {
    const unsigned start = counts.add(keys[first] >> 16, RUN);
#pragma unroll
    for (unsigned i = 0; i < RUN; ++i) own[i] = start + i;
  } else {
#pragma unroll
    for (int i = 0; i < RUN; ++i)
      own[i] = keys[first + i] != SlotRanges::NO_KEY ? counts.add(keys[first + i] >> 16, 1) : 0;
  }
#pragma unroll
  for (int i = 0; i < RUN; ++i) ranks[(first + i) / 2] |= own[i] << ((first + i) % 2 * 16);
}

// Makes room for the units of the thread's range, which has `count` entries, the waiting ones first.
__device__ inline void placeUnits(PartitionStage& stage, unsigned count) {
  const unsigned range = threadIdx.x, units = (count + partitionUnit - 1) / partitionUnit;
  const unsigned start = sumBefore(units, stage.warpSums);
  if (range == maxPartitionRanges - 1) stage.units = start + units;
  if (units == 0) return;
  stage.starts[range] = start * partitionUnit;
  stage.rangeOf[start] = static_cast<unsigned short>(range);
  OpenChunk open = stage.open[range];
  if (open.waiting > 0) stage.copyUnit(stage.entries + 2 * start, stage.waiting + 2 * range);
  open.waiting = count % partitionUnit;
  placeRange(stage, open, start, count / partitionUnit);
  stage.open[range] = open;
}

// Collects a tile by ranges. What a thread writes before the first barrier, no other reads after the last one: tiles
// follow each other without another.
template <int ITEMS>
__device__ inline void sortTile(PartitionStage& stage, const unsigned (&keys)[ITEMS]) {
  constexpr int RUN = runOf<ITEMS>;
  unsigned ranks[(ITEMS + 1) / 2] = {};  // of 16 bits, two in a register
  stage.counts[threadIdx.x] = stage.open[threadIdx.x].waiting;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i += RUN) rankRun<RUN>(stage, keys, ranks, i);
  __syncthreads();
  placeUnits(stage, stage.counts[threadIdx.x]);
  __syncthreads();
  auto* const entries = reinterpret_cast<unsigned short*>(stage.entries);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (keys[i] != SlotRanges::NO_KEY) {
      const unsigned range = keys[i] >> 16, entry = stage.starts[range] + (ranks[i / 2] >> (i % 2 * 16) & 0xffff);
      entries[entry] = static_cast<unsigned short>(keys[i]);
      if (entry % partitionUnit == 0) stage.rangeOf[entry / partitionUnit] = static_cast<unsigned short>(range);
    }
  __syncthreads();
  if (stage.open[threadIdx.x].waiting > 0)
    stage.copyUnit(stage.waiting + 2 * threadIdx.x, stage.entries + 2 * stage.targets[threadIdx.x].end);
}

// Writes the full units of a tile to the block's chunks, half of one for each thread.
__device__ inline void writeUnits(const PartitionStage& stage) {
  const unsigned end = 2 * stage.units;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < end; i += partitionThreads) {
    const unsigned unit = i / 2;
    const UnitTarget target = stage.targets[stage.rangeOf[unit]];
    if (unit < target.end)
      stage.own.entries[i + 2 * (unit < target.split ? target.toOld : target.toNew)] = stage.entries[i];
  }
}

// Writes what waits, and says how much is in the last chunk of the thread's range.
__device__ inline void finishRange(const Partition& pool, PartitionStage& stage) {
  const BlockChunks own = stage.own;
  OpenChunk open = stage.open[threadIdx.x];
  if (open.waiting > 0) {
    if (open.units == chunkUnits) open = {atomicAdd(&stage.used, 1u), 0, open.chunks + 1, open.waiting};
    stage.copyUnit(own.entries + 2 * (open.number * chunkUnits + open.units), stage.waiting + 2 * threadIdx.x);
  }
  if (open.chunks > 0) {
    own.rangeOf[open.number] = SizedChunk::of(threadIdx.x, open.units * partitionUnit + open.waiting);
    atomicAdd(pool.chunksOf + threadIdx.x, open.chunks);
  }
  __syncthreads();
  if (threadIdx.x == 0) pool.usedOf[blockIdx.x] = stage.used;
}

// Steps of a thread at a time. Wide elements are fewer, or registers would not suffice; 12 of 4 bytes take 1112 us in
// 2^20 bins, 16 take 1150 (H100, 2026-11-28).
template <class Source>
inline constexpr int partitionSteps = Source::STEP == 4 ? smallerOf(3, keyedItems<Source>)
                                                        : clampTo(static_cast<int>(partitionItems) / Source::STEP, 1,
                                                                  keyedItems<Source>);

template <class Source>
using PartitionSteps = typename Source::Step[partitionSteps<Source>];

// The thread's steps first, first + partitionThreads, ... below `end`, of those from `base` on.
template <class Source>
__device__ inline void loadSteps(const Source& source, std::size_t base, unsigned first, unsigned end,
                                 PartitionSteps<Source>& steps) {
#pragma unroll
  for (unsigned i = 0; i < partitionSteps<Source>; ++i) {
    const unsigned step = first + i * partitionThreads;
    if (step < end) source.template load<Caching::stream>(steps[i], base + step);
  }
}

// The keys of their elements.
template <int ITEMS, class Source>
__device__ inline void takeKeys(const Source& source, const SlotRanges& ranges, unsigned first, unsigned end,
                                const PartitionSteps<Source>& steps, unsigned (&keys)[ITEMS]) {
#pragma unroll
  for (unsigned i = 0; i < partitionSteps<Source>; ++i) {
    unsigned values[Source::STEP];
    const bool exists = first + i * partitionThreads < end;
    if (exists) source.values(steps[i], values);
#pragma unroll
    for (unsigned e = 0; e < Source::STEP; ++e)
      keys[i * Source::STEP + e] = exists ? ranges.keyOf(values[e]) : SlotRanges::NO_KEY;
  }
}

// The next steps load while a tile is written. If the input, which has the steps `sampled`, consists of runs, the
// kernel before has counted it; there are none if that did not run.
template <class Source, class Count>
GPUOPT_KERNEL void __launch_bounds__(partitionThreads, partitionBlocksPerSm)
    partitionKernel(const Source source, const StepArgs shape, const StepArgs sampled, const Partition pool,
                    const SlotsArgs<Count> result) {
  static_assert(partitionThreads == maxPartitionRanges, "thread r has range r");
  constexpr std::size_t TILE = std::size_t{partitionThreads} * partitionSteps<Source>;
  PartitionStage& stage = *dynamicShared<PartitionStage>();
  const auto all = static_cast<unsigned>(gridDim.x * TILE), end = static_cast<unsigned>(shape.end - shape.first);
  if (threadIdx.x == 0) {
    stage.used = 0;
    stage.own = BlockChunks::of(pool);
  }
  stage.open[threadIdx.x] = OpenChunk{};
  __syncthreads();
  waitForPreviousKernel();
  bool isCounted = false;
  if constexpr (canHaveRuns<Source>) isCounted = sampled.end > 0 && consistsOfRuns(source, sampled, result.slots);
  PartitionSteps<Source> steps;
  unsigned tile = isCounted ? end : static_cast<unsigned>(blockIdx.x * TILE);
  loadSteps(source, shape.first, tile + threadIdx.x, end, steps);
  for (; tile < end; tile += all) {
    unsigned keys[partitionSteps<Source> * Source::STEP];
    takeKeys(source, pool.ranges, tile + threadIdx.x, end, steps, keys);
    sortTile(stage, keys);
    loadSteps(source, shape.first, tile + all + threadIdx.x, end, steps);
    writeUnits(stage);
  }
  finishRange(pool, stage);
  const GlobalCounters<Count> counters(result);
  if (blockIdx.x == 0 && !isCounted) takeEdge(source, shape, [&](const auto& values) { counters.take(values); });
}

// Chunks before each range.
__device__ inline void startsOfRanges(const Partition& pool, unsigned (&starts)[maxPartitionRanges + 1],
                                      unsigned (&warpSums)[32]) {
  const unsigned range = threadIdx.x;
  const unsigned chunks = range < pool.ranges.count() ? pool.chunksOf[range] : 0;
  const unsigned before = sumBefore(chunks, warpSums);
  if (range < maxPartitionRanges) starts[range] = before;
  if (range == maxPartitionRanges - 1) starts[maxPartitionRanges] = before + chunks;
  __syncthreads();
}

// A block lists the chunks of one block of the partition. A template, so that several sources may have it.
template <class Pool>
GPUOPT_KERNEL void __launch_bounds__(maxPartitionRanges) orderChunksKernel(const Pool pool) {
  __shared__ unsigned starts[maxPartitionRanges + 1], counts[maxPartitionRanges], bases[maxPartitionRanges];
  __shared__ unsigned warpSums[32];
  waitForPreviousKernel();
  startsOfRanges(pool, starts, warpSums);
  const unsigned used = pool.usedOf[blockIdx.x], before = blockIdx.x * pool.blockChunks;
  for (unsigned first = 0; first < used; first += blockDim.x) {
    const unsigned chunk = first + threadIdx.x;
    counts[threadIdx.x] = 0;
    __syncthreads();
    SizedChunk range{0};
    unsigned rank = 0;
    if (chunk < used) {
      range = pool.rangeOf[before + chunk];
      rank = atomicAdd(counts + range.number(), 1u);
    }
    __syncthreads();
    if (counts[threadIdx.x] > 0) bases[threadIdx.x] = atomicAdd(pool.listed + threadIdx.x, counts[threadIdx.x]);
    __syncthreads();
    if (chunk < used)
      pool.order[starts[range.number()] + bases[range.number()] + rank] = SizedChunk::of(before + chunk, range.size());
  }
}

// The entries of a chunk in a warp's registers.
class LoadedChunk {
 public:
  __device__ void load(const Partition& pool, SizedChunk chunk) {
    const unsigned short* const entries = pool.entries + std::size_t{chunk.number()} * partitionChunk;
#pragma unroll
    for (unsigned v = 0; v < VECTORS; ++v)
      if (firstOf(v) < chunk.size()) vectors_[v].template load<Caching::stream>(entries + firstOf(v));
  }

  __device__ void count(const SharedCounts& counts, unsigned size) const {
#pragma unroll
    for (unsigned v = 0; v < VECTORS; ++v) {
      unsigned short places[8];
      vectors_[v].unpack(places);
      if (size == partitionChunk) {
#pragma unroll
        for (int e = 0; e < 8; ++e) counts.increment(places[e]);
      } else {
#pragma unroll
        for (unsigned e = 0; e < 8; ++e)
          if (firstOf(v) + e < size) counts.increment(places[e]);
      }
    }
  }

 private:
  static constexpr unsigned VECTORS = partitionChunk * sizeof(unsigned short) / (32 * 16);
  __device__ static unsigned firstOf(unsigned vector) { return 8 * (32 * vector + threadIdx.x % 32); }

  VectorGroup<unsigned short, 8, true> vectors_[VECTORS];
};

// Counts the entries of chunks order[first], ... below `end`, a warp each; the next chunk loads meanwhile.
__device__ inline void countChunks(const Partition& pool, unsigned first, unsigned end) {
  const SharedCounts counts(dynamicShared<unsigned>());
  const unsigned warps = blockDim.x / 32;
  const auto chunkAt = [&](unsigned i) { return i < end ? pool.order[i] : SizedChunk{0}; };
  unsigned i = first + threadIdx.x / 32;
  SizedChunk chunk = chunkAt(i), next = chunkAt(i + warps);
  LoadedChunk loaded, loading;
  loaded.load(pool, chunk);
  for (; i < end; i += warps) {
    const SizedChunk later = chunkAt(i + 2 * warps);
    loading.load(pool, next);
    loaded.count(counts, chunk.size());
    loaded = loading;
    chunk = next;
    next = later;
  }
}

// A block takes a contiguous share of all chunks, and counts each range in it by itself.
template <class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    countChunksKernel(const Partition pool, const SlotsArgs<Count> result) {
  __shared__ unsigned starts[maxPartitionRanges + 1], warpSums[32];
  waitForPreviousKernel();
  startsOfRanges(pool, starts, warpSums);
  const unsigned used = starts[maxPartitionRanges], places = pool.ranges.places();
  const unsigned fair = (used + gridDim.x - 1) / gridDim.x;
  const unsigned share = fair < minCountedChunks ? minCountedChunks : fair;
  const unsigned first = blockIdx.x * share;
  const unsigned end = first + share < used ? first + share : used;
  for (unsigned range = 0; range < pool.ranges.count(); ++range) {
    const unsigned low = starts[range] < first ? first : starts[range];
    const unsigned high = starts[range + 1] < end ? starts[range + 1] : end;
    if (low >= high) continue;
    clearShared(places);
    __syncthreads();
    countChunks(pool, low, high);
    __syncthreads();
    forSlotsInTurn(places, blockIdx.x, gridDim.x, [&](unsigned place) {
      const unsigned count = dynamicShared<unsigned>()[place];
      if (count != 0) addCount(result.counts + pool.ranges.slotOf(range, place), count);
    });
    __syncthreads();
  }
}

GPUOPT_DETAIL_END
