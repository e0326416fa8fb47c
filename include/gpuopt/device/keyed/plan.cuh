/// \file
/// Which kernel counts elements, or combines values by keys, with which sizes, and why: the only place that decides.
/// Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/keyed/tuning.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class KeyedAlgorithm {
  nothing,    // no elements
  oneBlock,   // a block combines in shared memory, and stores
  shared,     // blocks combine in shared memory, and then with the result
  bytes,      // the same for each value of a byte
  packed,     // the same with fewer bytes a cell
  partition,  // elements are sorted by ranges of slots first
  global,     // atomics in global memory
  cluster,    // few values in fixed point: one cluster of blocks does everything
};

// How the result gets its first values.
enum class KeyedClearing {
  none,    // it has them, or is stored at once
  kernel,  // by a kernel that overlaps the next one
  memory,  // by cudaMemsetAsync
};

// What a slot has: a counter, or the word of the values of a bin.
struct KeyedCell {
  std::size_t bytes;        // in shared memory
  std::size_t packedBytes;  // of its packed form there; the same if it has none
  std::size_t resultBytes;
  std::size_t maxGroups;       // of blocks that read the input once each
  bool isCount = true;         // of elements: one block can store it, and a partition can count
  bool addsInLoops = false;    // an update of shared memory is a loop
  bool addsGlobally = false;   // one of global memory is none
  bool isSampled = false;      // a sample of the values is read first: sums in fixed point
  bool isEncoded = false;      // the result has other bits until the end
  bool isScaled = false;       // sums of floats, which blocks can add as integers
  std::size_t hotBytes = 0;    // shared memory for a block's frequent keys; 0 if there is no use for it
  std::size_t cacheBytes = 0;  // the same where other keys are in global memory
};

struct KeyedRequest {
  std::size_t n = 0;
  std::size_t slots = 1;         // of bins, channels and elements outside
  std::size_t elementBytes = 1;  // of memory read for an element
  std::size_t stepElements = 1;  // that a thread takes with one set of loads
  bool readsVectors = false;
  KeyedCell cell{};
  std::size_t sharedBytes = 0;  // of a block, at most
  unsigned multiprocessors = 1;
  std::size_t channels = 1;       // counts of an element
  std::size_t byteValues = 0;     // of an element that consists of bytes, 256 for each; else 0
  std::size_t tableBytes = 0;     // shared memory for a table of edges, if it fits
  std::size_t stageBytes = 0;     // shared memory for structures on their way, if it fits; else 0
  bool adds = false;              // to what the result has
  bool hasClusters = false;       // of several blocks
  bool hasLargeClusters = false;  // of largeCluster blocks
};
template <>
inline constexpr bool isPlan<KeyedRequest> = true;

struct KeyedPlan {
  KeyedAlgorithm algorithm = KeyedAlgorithm::nothing;
  const char* reason = "no elements";
  KeyedRequest request{};
  KeyedClearing clearing = KeyedClearing::none;
  unsigned threads = 0;
  std::size_t blocks = 0;
  std::size_t groups = 1;       // groups of blocks that read the input once each, and combine some of the slots
  std::size_t groupSlots = 0;   // slots of a group
  std::size_t copies = 1;       // of a block's cells, which its warps have in turn
  std::size_t sharedBytes = 0;  // dynamic shared memory of a block
  bool sharesTable = false;     // whether the table of edges is in shared memory, after the cells
  bool stages = false;          // whether structures are read through shared memory, at its end
  bool findsHot = false;        // whether frequent keys have words for each lane, at its end
  std::size_t scaledBytes = 0;  // of an integer that stands for a float, if a sample says that these suffice; else 0
  bool caches = false;          // whether a block has words for some keys of a result in global memory
  bool followsRuns = false;     // a kernel that counts first if a sample of the input consists of runs
  std::size_t ranges = 0;       // of the partition
  std::size_t round = 0;        // elements that it sorts at a time
  std::size_t sampleEvery = 0;  // steps of which one is in the sample
  std::size_t sampleBlocks = 0;
};
template <>
inline constexpr bool isPlan<KeyedPlan> = true;

// Shared memory for cells.
inline std::size_t cellMemory(const KeyedRequest& request) {
  return request.sharedBytes > keyedReservedBytes ? (request.sharedBytes - keyedReservedBytes) / 4 * 4 : 0;
}

// Shared memory of cells and of one for each lane's elements in no slot.
inline std::size_t cellsBytes(std::size_t slots, std::size_t bytes) {
  return roundUp(roundUp(slots, 2) * bytes + 32 * largerOf(bytes, std::size_t{4}), 16);
}

// Blocks of a kernel that loops over tiles: one for each multiprocessor; fewer if there is little to do, more where a
// counter of 32 bits might overflow.
inline std::size_t loopingBlocks(const KeyedRequest& request, std::size_t n, std::size_t threads) {
  const std::size_t needed = ceilDivide(n * request.elementBytes, threads * 16);
  const std::size_t min = ceilDivide(n, maxBlockElements);
  return largerOf(clampTo(needed, std::size_t{1}, std::size_t{request.multiprocessors}), min);
}

class KeyedPlanner {
  using Algorithm = KeyedAlgorithm;

 public:
  KeyedPlanner(const KeyedRequest& request, const KeyedTuning& tuning) : r_(request), tuning_(tuning) {
    plan_.request = request;
  }

  KeyedPlan plan() {
    if (r_.n > 0) choose();
    if (r_.n > 0 && r_.cell.isSampled && plan_.algorithm != Algorithm::cluster) planSample();
    plan_.clearing = clearing();
    return plan_;
  }

 private:
  bool isSmall() const { return r_.n * r_.elementBytes <= oneBlockBytes; }

  void choose() {
    const std::size_t bytes = cellMemory(r_);
    const KeyedCell& cell = r_.cell;
    if (r_.byteValues > 0 && r_.byteValues * byteCopies * 4 <= bytes && !isSmall()) return planBytes();
    if (cell.isSampled && isForCluster()) return planCluster();
    if (cell.addsInLoops && cell.addsGlobally && r_.n <= maxGlobalSums) return planFewSums();
    if (r_.slots * cell.bytes <= bytes) return planShared();
    if (r_.n <= fewElements) return planGlobal("few elements, and bins exceed shared memory");
    const std::size_t groups = bytes == 0 ? r_.slots : ceilDivide(r_.slots * cell.packedBytes, bytes);
    if (groups <= cell.maxGroups && canPack()) return planGroups(groups);
    if (const char* const reason = whyNoPartition()) return planGlobal(reason);
    planPartition();
  }

  // Blocks that loop over tiles, and have all slots.
  void planLooping(Algorithm algorithm, const char* reason) {
    plan_.algorithm = algorithm;
    plan_.reason = reason;
    plan_.threads = keyedThreads;
    plan_.groupSlots = r_.slots;
    plan_.blocks = loopingBlocks(r_, r_.n, plan_.threads);
  }

  // Whether blocks have enough elements for `bytes` of shared memory for some keys to pay, and room for these.
  bool pays(std::size_t elements, std::size_t bytes, std::size_t used) const {
    return bytes > 0 && r_.n / plan_.blocks >= elements && used + bytes <= cellMemory(r_);
  }

  void planGlobal(const char* reason) {
    planLooping(Algorithm::global, reason);
    plan_.caches = !r_.cell.isCount && pays(minCachedElements, r_.cell.cacheBytes, 0);
    if (plan_.caches) plan_.sharedBytes = r_.cell.cacheBytes;
  }

  void planFewSums() {
    planLooping(Algorithm::global, "few sums: an instruction adds in global memory, a loop in shared memory");
    plan_.threads = globalSumThreads;
    plan_.blocks = loopingBlocks(r_, r_.n, plan_.threads);
  }

  bool isForCluster() const {
    const std::size_t max = smallerOf(tuning_.clusterValues, r_.hasClusters ? maxClusterValues : maxOneBlockValues);
    return r_.n <= max && r_.slots <= maxClusterBins;
  }

  void planCluster() {
    planLooping(Algorithm::cluster, "few values: one launch does everything");
    const bool isOne = r_.n <= (r_.hasClusters ? maxLoneValues : maxOneBlockValues);
    const bool isLarge = r_.hasLargeClusters && r_.n > maxFewClusterValues;
    plan_.blocks = isOne ? 1 : isLarge ? largeCluster : fewClusterBlocks;
    plan_.threads = isLarge ? manyBlocksThreads : clusterSumThreads;
    const unsigned min = isOne ? minLoneThreads : minClusterThreads;
    const std::size_t items = isOne ? minLoneItems : minClusterItems;
    while (plan_.threads > min && r_.n / plan_.blocks < plan_.threads * items) plan_.threads /= 2;
    plan_.sharedBytes = cellsBytes(r_.slots, r_.cell.bytes) + r_.slots * sizeof(unsigned);
    if (!isOne) plan_.sharedBytes += roundUp(r_.slots, plan_.blocks) * r_.cell.bytes;
  }

  // A slot has 16 bits in the tables of frequent ones.
  void planHot() {
    plan_.findsHot = !plan_.stages && plan_.copies < maxCellCopies && plan_.groupSlots < 0xff00 &&
                     pays(minHotElements, r_.cell.hotBytes, plan_.sharedBytes);
    if (plan_.findsHot) plan_.sharedBytes += r_.cell.hotBytes;
  }

  void planBytes() {
    planLooping(Algorithm::bytes, "each lane counts the values of bytes, which go to their bins in the end");
    plan_.sharedBytes = r_.byteValues * byteCopies * 4;
  }

  void planShared() {
    planLooping(Algorithm::shared, "all bins fit into shared memory");
    if (r_.cell.isCount && isSmall()) {
      plan_.algorithm = Algorithm::oneBlock;
      plan_.reason = "the input is small";
      plan_.blocks = 1;
    }
    plan_.sharedBytes = cellsBytes(r_.slots, r_.cell.bytes);
    plan_.sharesTable = r_.tableBytes > 0 && plan_.sharedBytes + r_.tableBytes <= cellMemory(r_);
    if (plan_.sharesTable) plan_.sharedBytes += r_.tableBytes;
    planStage();
    if (r_.cell.isScaled && !plan_.stages) planScaled();
    if (r_.cell.addsInLoops) planCopies();
    planHot();
    plan_.sharedBytes = largerOf(plan_.sharedBytes, cellsBytes(r_.slots, plan_.scaledBytes));
    if (plan_.stages) plan_.sharedBytes += r_.stageBytes;
  }

  // Integers in place of floats, if they fit, and blocks have as many values as bins: 2^17 in 2^14 bins would take 8.3
  // us instead of 7.0 (H200, 2026-11-28, a trial program).
  void planScaled() {
    if (r_.n / plan_.blocks < r_.slots) return;
    const auto fits = [this](std::size_t bytes) { return r_.slots * bytes <= cellMemory(r_); };
    const bool isLong = fits(longSumBytes) && r_.n / plan_.blocks < maxLongSums;
    plan_.scaledBytes = isLong ? longSumBytes : fits(shortSumBytes) ? shortSumBytes : 0;
    if (plan_.scaledBytes == 0 || r_.n / plan_.blocks >= minScaledElements) return;
    plan_.threads /= 2;
    plan_.blocks = loopingBlocks(r_, r_.n, plan_.threads);
  }

  // As many as fit, if the block has enough elements for them.
  void planCopies() {
    const std::size_t room = smallerOf(cellMemory(r_) - (plan_.stages ? r_.stageBytes : 0), maxCopiedBytes);
    const std::size_t fitting = room / plan_.sharedBytes;
    const std::size_t elements = r_.n / plan_.blocks;
    const std::size_t few = smallerOf(elements * copiesPerElement / r_.slots, maxWordCopies);
    const std::size_t useful = largerOf(elements / (r_.slots * elementsPerCopiedCell), few);
    plan_.copies = clampTo(smallerOf(fitting, useful), std::size_t{1}, std::size_t{maxCellCopies});
    plan_.sharedBytes *= plan_.copies;
  }

  bool canPack() const { return !r_.cell.isCount || r_.stepElements * r_.channels <= maxPackedStep; }

  void planGroups(std::size_t groups) {
    const bool isPacked = r_.cell.packedBytes < r_.cell.bytes;
    planLooping(isPacked ? Algorithm::packed : Algorithm::shared,
                groups == 1 ? "all bins fit into shared memory in fewer bytes"
                            : "all bins fit into the shared memory of a few blocks");
    plan_.groups = groups;
    plan_.groupSlots = ceilDivide(r_.slots, groups);
    plan_.blocks = groups * largerOf(plan_.blocks / groups, std::size_t{1});
    plan_.sharedBytes = cellsBytes(plan_.groupSlots, r_.cell.packedBytes);
    if (groups == 1 && !r_.cell.isCount) planStage();
    if (!isPacked) planHot();
    plan_.followsRuns = groups > 1 && r_.cell.isCount && pays(minCachedElements, r_.cell.cacheBytes, 0);
    if (plan_.stages) plan_.sharedBytes += r_.stageBytes;
  }

  void planStage() {
    plan_.stages = !isSmall() && r_.stageBytes > 0 && plan_.sharedBytes + r_.stageBytes <= cellMemory(r_);
  }

  // A power of two.
  static std::size_t rangesOf(std::size_t slots) {
    std::size_t ranges = 1;
    while (ranges << partitionRangeBits < slots) ranges *= 2;
    return ranges;
  }

  const char* whyNoPartition() const {
    constexpr std::size_t RANGE = std::size_t{1} << partitionRangeBits;
    const std::size_t blocks = std::size_t{r_.multiprocessors} * partitionBlocksPerSm;
    const std::size_t ranges = rangesOf(r_.slots);
    if (!r_.cell.isCount) return "bins exceed the shared memory of a few blocks";
    if (ranges > maxPartitionRanges) return "bins are too many for a partition";
    if (r_.channels > 1) return "the bins of all channels exceed shared memory";
    if (RANGE * 4 > cellMemory(r_)) return "shared memory is too small for a partition";
    return r_.n / partitionChunk < blocks * ranges ? "elements are too few for a partition" : nullptr;
  }

  void planPartition() {
    plan_.algorithm = Algorithm::partition;
    plan_.reason = "elements are sorted by ranges of bins that fit into shared memory";
    plan_.threads = partitionThreads;
    plan_.groupSlots = std::size_t{1} << partitionRangeBits;
    plan_.ranges = rangesOf(r_.slots);
    plan_.round = tuning_.partitionRound;
    plan_.blocks = r_.multiprocessors;
    plan_.followsRuns = pays(minCachedElements, r_.cell.cacheBytes, 0);
    plan_.blocks *= partitionBlocksPerSm;
    plan_.sharedBytes = plan_.groupSlots * 4;
  }

  void planSample() {
    plan_.sampleEvery = largerOf(r_.n / tuning_.sampledValues, std::size_t{1});
    plan_.sampleBlocks = loopingBlocks(r_, ceilDivide(r_.n, plan_.sampleEvery), keyedThreads);
  }

  KeyedClearing clearing() const {
    if (plan_.algorithm == Algorithm::cluster) return KeyedClearing::none;
    if (r_.cell.isSampled) return KeyedClearing::memory;
    if (r_.cell.isEncoded) return KeyedClearing::kernel;
    if (r_.adds || plan_.algorithm == Algorithm::oneBlock) return KeyedClearing::none;
    const bool follows = plan_.algorithm == Algorithm::shared || plan_.algorithm == Algorithm::bytes;
    return follows || !r_.cell.isCount ? KeyedClearing::kernel : KeyedClearing::memory;
  }

  const KeyedRequest& r_;
  const KeyedTuning& tuning_;
  KeyedPlan plan_{};
};

inline KeyedPlan planKeyed(const KeyedRequest& request, const KeyedTuning& tuning = {}) {
  return KeyedPlanner(request, tuning).plan();
}

inline const char* nameOf(KeyedAlgorithm algorithm) {
  constexpr const char* names[] = {
      "nothing",   "shared memory, stored", "shared memory", "values of bytes", "packed in shared memory",
      "partition", "global memory",         "one cluster"};
  static_assert(std::size(names) == static_cast<std::size_t>(KeyedAlgorithm::cluster) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

inline std::string kernelInWords(const KeyedPlan& plan) {
  std::string text = message({plan.request.cell.isSampled ? "fixed point, " : "", nameOf(plan.algorithm),
                              plan.request.readsVectors ? ", by vectors" : ", by elements"});
  if (plan.groups > 1) text += message({", ", plan.groups, " groups of blocks that read the input once each"});
  if (plan.copies > 1) text += message({", ", plan.copies, " copies of each bin"});
  if (plan.ranges > 0) text += message({", ", plan.ranges, " ranges of bins"});
  if (plan.scaledBytes > 0) text += ", floats as integers if a sample suits";
  if (plan.findsHot) text += ", frequent keys apart";
  if (plan.caches) text += ", some keys in shared memory first";
  if (plan.followsRuns) text += ", unless elements come in runs";
  if (plan.sharesTable) text += ", edges in shared memory";
  if (plan.stages) text += ", structures read through shared memory";
  return text;
}

// A partition writes two bytes for each element, and reads them again.
inline std::string planInWords(const KeyedPlan& plan) {
  const KeyedRequest& r = plan.request;
  const std::size_t input = r.n * r.elementBytes, entries = plan.ranges > 0 ? 2 * r.n : 0;
  const std::size_t sample = plan.sampleEvery > 0 ? input / plan.sampleEvery : 0;
  const char* const again = plan.sampleEvery > 1 ? ", all of them again if the sample missed larger values" : "";
  return inWords({kernelInWords(plan), plan.reason, plan.blocks, plan.threads, plan.groups * input + sample + entries,
                  r.slots * r.cell.resultBytes + entries, again});
}

// A histogram of each row.
struct KeyedRowsRequest {
  KeyedRequest row;  // n: the columns
  std::size_t rows;
};
template <>
inline constexpr bool isPlan<KeyedRowsRequest> = true;

struct KeyedRowsPlan {
  const char* reason = "no elements";
  KeyedRowsRequest request{};
  KeyedClearing clearing = KeyedClearing::none;
  unsigned threads = 0;
  std::size_t blocks = 0;
  std::size_t sharedBytes = 0;
  bool isShared = false;  // whether cells are in shared memory; else every element is added to the result
  unsigned parts = 1;     // blocks of a row
};
template <>
inline constexpr bool isPlan<KeyedRowsPlan> = true;

// A thread for each step of a row. Rows are split if there are fewer of them than multiprocessors.
inline KeyedRowsPlan planKeyedRows(const KeyedRowsRequest& request) {
  const KeyedRequest& row = request.row;
  KeyedRowsPlan plan;
  plan.request = request;
  plan.clearing = row.adds ? KeyedClearing::none : KeyedClearing::memory;
  if (row.n == 0 || request.rows == 0) return plan;
  const std::size_t steps = ceilDivide(row.n, row.stepElements);
  plan.threads = static_cast<unsigned>(clampTo(roundUp(steps, 32), std::size_t{64}, std::size_t{keyedThreads}));
  const std::size_t wanted = ceilDivide(row.multiprocessors, request.rows);
  const std::size_t useful = ceilDivide(steps, plan.threads);
  const std::size_t parts = largerOf(smallerOf(wanted, useful), ceilDivide(row.n, maxBlockElements));
  plan.parts = static_cast<unsigned>(parts);
  plan.isShared = row.slots * row.cell.bytes <= cellMemory(row);
  plan.reason = plan.isShared ? "the bins of a row fit into shared memory" : "the bins of a row exceed shared memory";
  plan.sharedBytes = plan.isShared ? cellsBytes(row.slots, row.cell.bytes) : 0;
  if (plan.isShared && parts == 1) plan.clearing = KeyedClearing::none;
  const std::size_t resident = largerOf(std::size_t{2048} / plan.threads, std::size_t{1});
  plan.blocks = smallerOf(request.rows * parts, row.multiprocessors * resident);
  return plan;
}

inline std::string planInWords(const KeyedRowsPlan& plan) {
  const KeyedRequest& row = plan.request.row;
  const std::string loads = row.readsVectors ? ", by vectors" : ", by elements";
  const std::string share =
      plan.parts == 1 ? ", a row for each block in turn" : message({", ", plan.parts, " blocks a row"});
  return inWords({(plan.isShared ? "shared memory" : "global memory") + loads + share, plan.reason, plan.blocks,
                  plan.threads, plan.request.rows * row.n * row.elementBytes,
                  plan.request.rows * row.slots * row.cell.resultBytes});
}

GPUOPT_DETAIL_END
