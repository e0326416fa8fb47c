/// \file
/// Which kernel counts, with which sizes, and why: planHistogram, plain host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/keyed/tuning.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class HistogramAlgorithm { oneBlock, shared, bytes, packed, partition, global };

// What the choice depends on.
struct HistogramShape {
  std::size_t n;             // elements
  std::size_t slots;         // counters: of bins, channels and elements outside
  std::size_t elementBytes;  // of memory read for an element
  std::size_t channels;      // counts of an element
  std::size_t stepElements;  // that a thread takes with one set of loads
  std::size_t byteValues;    // of an element that consists of bytes, 256 for each; else 0
  std::size_t tableBytes;    // shared memory for a table of edges, if it fits
  std::size_t sharedBytes;   // of a block, at most
  unsigned multiprocessors;
  std::size_t stageBytes;  // shared memory for structures on their way, if it fits; else 0
};

struct HistogramPlan {
  HistogramAlgorithm algorithm;
  const char* reason;
  unsigned threads;
  std::size_t blocks;
  std::size_t groups;       // groups of blocks that read the input once each, and count some of the slots
  std::size_t groupSlots;   // slots of a group
  std::size_t sharedBytes;  // dynamic shared memory of a block
  bool sharesTable;         // whether the table of edges is in shared memory, after the counters
  bool stages;              // whether structures are read through shared memory, at its end
  std::size_t ranges;       // of the partition
};

// Shared memory for counters, in words.
inline std::size_t counterWords(const HistogramShape& shape) {
  return shape.sharedBytes > histogramReservedBytes ? (shape.sharedBytes - histogramReservedBytes) / 4 : 0;
}

// Blocks of a kernel that loops over tiles: one for each multiprocessor; fewer if there is little to do, more where a
// counter of 32 bits might overflow.
inline std::size_t loopingBlocks(const HistogramShape& shape, std::size_t threads) {
  const std::size_t needed = ceilDivide(shape.n * shape.elementBytes, threads * 16);
  const std::size_t least = ceilDivide(shape.n, mostBlockElements);
  return largerOf(clampTo(needed, std::size_t{1}, std::size_t{shape.multiprocessors}), least);
}

// Whether one block counts the input, where it can.
inline bool isSmallHistogram(const HistogramShape& shape) {
  return shape.n * shape.elementBytes <= oneBlockHistogramBytes;
}

// Blocks that loop over tiles, and count all slots.
inline HistogramPlan planLooping(const HistogramShape& shape, HistogramAlgorithm algorithm, const char* reason) {
  HistogramPlan plan{};
  plan.algorithm = algorithm;
  plan.reason = reason;
  plan.threads = keyedThreads;
  plan.groups = 1;
  plan.groupSlots = shape.slots;
  plan.blocks = loopingBlocks(shape, plan.threads);
  return plan;
}

inline HistogramPlan planShared(const HistogramShape& shape) {
  const bool isSmall = isSmallHistogram(shape);
  HistogramPlan plan = isSmall ? planLooping(shape, HistogramAlgorithm::oneBlock, "the input is small")
                               : planLooping(shape, HistogramAlgorithm::shared, "the counters fit into shared memory");
  if (isSmall) plan.blocks = 1;
  const std::size_t counters = roundUp(sharedCounterWords(shape.slots) * 4, 16);
  plan.sharesTable = shape.tableBytes > 0 && counters + shape.tableBytes <= counterWords(shape) * 4;
  plan.sharedBytes = counters + (plan.sharesTable ? shape.tableBytes : 0);
  plan.stages = !isSmall && shape.stageBytes > 0 && plan.sharedBytes + shape.stageBytes <= counterWords(shape) * 4;
  if (plan.stages) plan.sharedBytes += shape.stageBytes;
  return plan;
}

inline HistogramPlan planBytes(const HistogramShape& shape) {
  HistogramPlan plan = planLooping(shape, HistogramAlgorithm::bytes,
                                   "each lane counts the values of bytes, which go to their bins in the end");
  plan.sharedBytes = shape.byteValues * byteCopies * 4;
  return plan;
}

inline HistogramPlan planPacked(const HistogramShape& shape, std::size_t groups) {
  HistogramPlan plan = planLooping(shape, HistogramAlgorithm::packed,
                                   groups == 1 ? "counters of 16 bits fit into shared memory"
                                               : "counters of 16 bits fit into the shared memory of a few blocks");
  plan.groups = groups;
  plan.groupSlots = ceilDivide(shape.slots, groups);
  plan.blocks = groups * largerOf(plan.blocks / groups, std::size_t{1});
  plan.sharedBytes = roundUp(packedCounterWords(plan.groupSlots) * 4, 16);
  return plan;
}

inline HistogramPlan planGlobal(const HistogramShape& shape, const char* reason) {
  return planLooping(shape, HistogramAlgorithm::global, reason);
}

inline HistogramPlan planPartition(const HistogramShape& shape) {
  HistogramPlan plan{};
  plan.algorithm = HistogramAlgorithm::partition;
  plan.reason = "elements are sorted by ranges of bins, whose counters fit into shared memory";
  plan.threads = partitionThreads;
  plan.groups = 1;
  plan.groupSlots = std::size_t{1} << partitionRangeBits;
  plan.ranges = ceilDivide(shape.slots, plan.groupSlots);
  plan.blocks = std::size_t{shape.multiprocessors} * partitionBlocksPerSm;
  plan.sharedBytes = plan.groupSlots * 4;
  return plan;
}

// Decides for n > 0 elements.
inline HistogramPlan planHistogram(const HistogramShape& shape) {
  const std::size_t words = counterWords(shape);
  const bool countsBytes = shape.byteValues > 0 && shape.byteValues * byteCopies <= words;
  if (countsBytes && !isSmallHistogram(shape)) return planBytes(shape);
  if (shape.slots <= words) return planShared(shape);
  if (shape.n <= fewElements) return planGlobal(shape, "elements are few, and counters do not fit into shared memory");
  const std::size_t groups = words == 0 ? shape.slots : ceilDivide(shape.slots, 2 * words);
  const bool canPack = keyedThreads * shape.stepElements * shape.channels <= packedLimit;
  if (groups <= mostPackedGroups && canPack) return planPacked(shape, groups);
  const HistogramPlan partition = planPartition(shape);
  if (partition.ranges > mostPartitionRanges) return planGlobal(shape, "bins are too many for a partition");
  if (shape.channels > 1) return planGlobal(shape, "the counters of all channels do not fit into shared memory");
  if (partition.sharedBytes > words * 4) return planGlobal(shape, "shared memory is too small for a partition");
  const bool fillsChunks = shape.n / partitionChunk >= partition.blocks * partition.ranges;
  return fillsChunks ? partition : planGlobal(shape, "elements are too few for a partition");
}

inline const char* nameOf(HistogramAlgorithm algorithm) {
  constexpr const char* names[] = {"shared memory, stored", "shared memory", "values of bytes",
                                   "packed counters",       "partition",     "global memory"};
  return names[static_cast<std::size_t>(algorithm)];
}

inline std::string planInWords(const HistogramPlan& plan) {
  std::string text = message({nameOf(plan.algorithm), ", ", plan.blocks,
                              plan.blocks == 1 ? " block of " : " blocks of ", plan.threads, " threads"});
  if (plan.groups > 1) text += message({", the input is read ", plan.groups, " times"});
  if (plan.ranges > 0) text += message({", ", plan.ranges, " ranges of bins"});
  if (plan.stages) text += ", which read structures through shared memory";
  return message({text, ": ", plan.reason});
}

GPUOPT_DETAIL_END
