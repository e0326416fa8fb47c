/// \file
/// The tuning of the kernels of keyed reductions. Figures are of an H200 and 1
/// GiB of samples, histogram_bench, 2026-11-23; shares are of the best read of as many bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// One block for each multiprocessor, with all of its shared memory.
inline constexpr unsigned keyedThreads = 1024;

// Loads in flight per thread, and as many again for the next tile.
inline constexpr std::size_t keyedLoadBytes = 64;

// Shared memory that the block's static variables and the system need.
inline constexpr std::size_t keyedReservedBytes = 2048;

// Up to this size a single block counts and stores: nothing has to be zeroed first. 2^14 floats take it 3.2 us; of 2^16
// it took 8.5 us, several blocks 3.7.
inline constexpr std::size_t oneBlockBytes = 64 << 10;

// Copies of the counters of bytes: updates of shared memory limit them, not loads. 32 give each lane a bank of its own,
// 0.97 of the read for any bytes; 16 copies 0.83, one 0.59 of uniform ones. Private counters of threads, read and
// written without atomics, reach 0.56.
inline constexpr unsigned byteCopies = 32;

// Most elements of a block: its counters have 32 bits.
inline constexpr std::size_t maxBlockElements = std::size_t{1} << 31;

// Whether structures that are read one by one pass through shared memory, where there is room beside the counters.
// histogramBy of a GiB of them, all members, directly and so (H200, 2026-11-23): up to 48 bytes 0.243 to 0.249 ms, and
// 0 to 6 % more; 56 bytes 0.251 and 0.244; 64 bytes 0.536 and 0.245. Above, functions of few members read less
// directly: one of 80 bytes 0.194 and 0.241, all of them 0.281 and 0.241. Direct loads of unaligned structures are of
// single bytes.
constexpr bool isStagedSize(std::size_t size, std::size_t alignment) {
  return size <= 64 && size > (alignment < 4 ? 4 : 48);
}

// Most bytes of a thread that takes several of them.
inline constexpr std::size_t maxStagedLaneBytes = 80;

// Words of shared memory for counters of 32 bits, with one for elements in no slot.
template <class N>
__device__ constexpr N sharedCounterWords(N slots) {
  return slots + 1;
}

// Counters of 16 bits, two in a word, are for steps of up to 32 slots: registers are scarce.
inline constexpr std::size_t maxPackedStep = 32;

// How often the input may be read, by groups of blocks that count some of the bins each. Two readings of 2^28 floats
// take 693 us, a partition by eight ranges 1230 (H100, 2026-11-28).
inline constexpr std::size_t maxPackedGroups = 3;

// Up to this number of elements, counters that do not fit into shared memory are updated in global memory.
inline constexpr std::size_t fewElements = 1 << 16;

// The partition: ranges of 2^15 bins, whose elements are collected in chunks of 512 numbers of 16 bits.
inline constexpr unsigned partitionThreads = 512;
inline constexpr unsigned partitionBlocksPerSm = 2;
inline constexpr unsigned partitionItems = 16;  // elements of a thread at a time
inline constexpr unsigned partitionRangeBits = 15;
inline constexpr unsigned maxPartitionRanges = 512;
inline constexpr unsigned partitionChunk = 512;
// Chunks that a block counts before it adds its counters to the result, at least.
inline constexpr unsigned minCountedChunks = 64;

// reduceBy, where an update is a loop: a copy of the words for each warp, if a block has this number of elements for a
// word; fewer where they would take more shared memory, which leaves L1 too little for loads in flight: sums of floats
// in 8192 bins 378 us with seven copies, 362 with four (H100, 2026-11-27).
inline constexpr unsigned maxCellCopies = 32;
inline constexpr std::size_t elementsPerCopiedCell = 8;
inline constexpr std::size_t maxCopiedBytes = 132 << 10;
// A few copies pay from half an element for a word on: 2^16 sums by Zipf's distribution over 1024 bins take 23.7 us
// with one copy, 10.2 with four, uniform ones 5.9 us with either (H100, 2026-11-28).
inline constexpr std::size_t maxWordCopies = 4, copiesPerElement = 2;

// Up to this number of values, sums for which there is an instruction in global memory, but not in shared memory, are
// made there: 2^13 floats 2.7 us instead of 5.7, Zipf's distribution 3.3 instead of 22.9; 2^16 uniform ones 7.1 instead
// of 5.9 (H100, 2026-11-28). Threads of such a block.
inline constexpr std::size_t maxGlobalSums = 1 << 15;
inline constexpr unsigned globalSumThreads = 128;

// There, too, where warps share copies: keys that a block finds this often in a sample of two keys a thread have a word
// for each lane; more often where bins are few and each has many. Blocks of fewer elements do not look for them.
inline constexpr unsigned hotSetBits = 5, hotSets = 1u << hotSetBits, hotWays = 2, hotKeys = hotWays * hotSets;
inline constexpr unsigned minHotSamples = 5, hotSamplesOfBins = 1 << 14;
inline constexpr std::size_t minHotElements = 1 << 15;

// Sums of floats as integers: bytes of one in shared memory, and how many values a block may have for the longer
// ones. Blocks of fewer values than minScaledElements have half as many threads: 2^18 values in 1024 bins take 7.4 us
// with 1024, 5.6 with 512; 2^22 values 14.0 and 14.9 (H200, 2026-11-28, a trial program).
inline constexpr std::size_t longSumBytes = 8, shortSumBytes = 6, maxLongSums = std::size_t{3} << 19;
inline constexpr std::size_t minScaledElements = 1 << 14;
// At most one of this number of threads samples a value that cannot be such an integer.
inline constexpr unsigned uncoveredShare = 16;

// Words in shared memory of the keys that a block finds in a sample, where all words do not fit; steps of a thread in
// the sample, and elements of a block from which on that pays.
inline constexpr unsigned cacheBits = 14, cacheEntries = 1u << cacheBits;
inline constexpr unsigned cacheSamples = 4;
inline constexpr std::size_t minCachedElements = 1 << 16;

// Lanes of a warp with four neighbours of one bin, from which on reduceBy joins those of neighbouring lanes.
inline constexpr int minCombinedLanes = 24;

// How often reduceBy may read its input, by groups of blocks that combine some of the bins each; and where an update is
// a loop. Integers in 2^18 bins take five readings 590 to 800 us, atomics in global memory 310 for runs, 6640 for
// Zipf's distribution; floats with FastSums five readings 3160 if uniform, atomics 1390.
inline constexpr std::size_t maxReduceByGroups = 5;
inline constexpr std::size_t maxLoopingGroups = 3;

// Up to these numbers of values and bins, one cluster of blocks adds in fixed point; a block alone up to fewer values,
// and where there are no clusters.
inline constexpr std::size_t maxClusterValues = 1 << 16, maxOneBlockValues = 1 << 13, maxLoneValues = 1 << 11;
inline constexpr std::size_t maxClusterBins = 4096;
inline constexpr unsigned clusterSumThreads = 1024;
// Blocks of a cluster up to this number of values, and where the GPU has no larger ones. Of 16 blocks 512 threads each
// take 3.64 us for 2^16 values, 1024 threads 3.82, and of 8 blocks 4.59 and 4.20 (H200, 2026-11-28, a trial program).
inline constexpr unsigned fewClusterBlocks = 8, manyBlocksThreads = 512;
inline constexpr std::size_t maxFewClusterValues = 1 << 14;
// Threads are halved where they had fewer values than this, down to 256 of a cluster's block and 512 of a block alone.
inline constexpr std::size_t minClusterItems = 4, minLoneItems = 8;
inline constexpr unsigned minClusterThreads = 256, minLoneThreads = 512;

// Sizes of passes.
struct KeyedTuning {
  // Values that reduceBy looks at for the largest magnitude before it adds, in fixed point.
  std::size_t sampledValues = std::size_t{1} << 20;
  // Elements that the partition sorts at a time, which limits the scratch memory to 512 MiB and what the last chunks
  // take.
  std::size_t partitionRound = std::size_t{1} << 28;
  std::size_t clusterValues = maxClusterValues;
};

}  // namespace detail

GPUOPT_NAMESPACE_END
