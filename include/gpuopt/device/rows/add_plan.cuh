/// \file
/// How rows are added by index: in numbers, and in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/rows_types.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t maxGridY = 65535;  // blocks of any grid along y

// n rows of cols elements, added to some of `rows` rows.
struct AddRowsRequest {
  CombineRowsRequest matrices;
  std::size_t n;
  std::size_t indexBytes;
  RowAddition addition;
  RowIndices policy;
};
template <>
inline constexpr bool isPlan<AddRowsRequest> = true;

enum class AddRowsAlgorithm {
  nothing,
  selected,  // each block looks for the indices of its rows
  grouped,   // by buckets of rows
  atomic,
  slots,  // positions are listed in slots of their rows, the rest is added atomically, or is grouped
};

struct AddRowsPlan {
  AddRowsAlgorithm algorithm = AddRowsAlgorithm::nothing;
  const char* reason = "no rows";
  CombineRowsPlan packs = {};
  std::size_t indices = 0;    // that are grouped at a time
  std::size_t readBytes = 0;  // with each row of the output that can be named
  std::size_t writtenBytes = 0;
  unsigned divisor = 1;  // the remainders by which are buckets of rows
  unsigned buckets = 0;  // that occur
  unsigned panels = 0;   // of packs, for which blocks select the same indices
  unsigned region = 0;   // indices that a block counts and moves
  unsigned regions = 0;
  unsigned passes = 0;  // of the sort of a bucket
  unsigned digitBits = 0;
  unsigned longList = 0;    // positions from which on a block sums a list
  unsigned longBlocks = 0;  // which do so
  unsigned slots = 0;       // of each row of the output
  unsigned bucketBits = 0;  // of the rows of a bucket that is listed in slots
  unsigned slotBuckets = 0;
  unsigned restBlocks = 0;  // which add rows without a slot
  std::size_t lists = 0;    // at most, of grouped indices
  std::size_t slotBlocks = 0;
  std::size_t slotBytes = 0;  // of scratch memory for slots, before that for grouped indices
  std::size_t scratchBytes = 0;
};
template <>
inline constexpr bool isPlan<AddRowsPlan> = true;

// Lists; for each index two bucketed rows and a position; a counter for each bucket and region, and one more; the
// numbers of lists and of long ones, and which those are.
constexpr std::size_t addRowsScratch(std::size_t n, std::size_t lists, std::size_t counters, std::size_t longLists) {
  return 16 * lists + sizeof(unsigned) * (5 * n + counters + 3 + longLists);
}

inline unsigned bitWidth(std::size_t number) {
  unsigned bits = 0;
  while (number >> bits != 0) ++bits;
  return bits;
}

// Whether one launch does it: few indices, and so few to each row that no block is bound to get long lists.
inline bool areSelected(const AddRowsPlan& plan, const AddRowsRequest& r, const AddRowsTuning& tuning) {
  const std::size_t packs = smallerOf(plan.packs.cols, tuning.fewPacks);
  return r.n <= tuning.fewIndices && r.n * packs / r.matrices.rows < tuning.fewAddedPacks;
}

inline void planSelectedRows(AddRowsPlan& plan, const AddRowsRequest& r, const AddRowsTuning& tuning) {
  plan.algorithm = AddRowsAlgorithm::selected;
  plan.reason = "few indices, among which each block looks for those of its rows";
  plan.indices = r.n;
  plan.divisor = addFewRowsBuckets;
  plan.buckets = static_cast<unsigned>(smallerOf(r.matrices.rows, std::size_t{plan.divisor}));
  plan.panels = static_cast<unsigned>(
      smallerOf(ceilDivide(plan.packs.cols, smallerOf(tuning.fewPacks, std::size_t{addFewRowsBlock})), maxGridY));
  plan.packs.blocks = std::size_t{plan.buckets} * plan.panels;
}

// The indices that are grouped at a time, in buckets and regions.
inline void planBuckets(AddRowsPlan& plan, std::size_t rows, const AddRowsTuning& tuning) {
  plan.divisor = plan.indices < tuning.manyIndices ? groupRowsBuckets : groupRowsManyBuckets;
  plan.buckets = static_cast<unsigned>(smallerOf(rows, std::size_t{plan.divisor}));
  const std::size_t share = ceilDivide(plan.indices, std::size_t{groupRowsRegions});
  plan.region = static_cast<unsigned>(roundUp(share, groupRowsMinRegion));
  plan.regions = static_cast<unsigned>(ceilDivide(plan.indices, std::size_t{plan.region}));
  const unsigned bits = bitWidth((rows - 1) / plan.divisor);
  plan.passes = ceilDivide32(bits, sortBucketsDigitBits);
  plan.digitBits = plan.passes == 0 ? 0 : ceilDivide32(bits, plan.passes);
}

// Adds the part of the plan for grouped indices, of `lists` rows at most.
inline void planGroupedRows(AddRowsPlan& plan, const AddRowsRequest& r, std::size_t lists,
                            const AddRowsTuning& tuning) {
  planBuckets(plan, r.matrices.rows, tuning);
  plan.lists = lists;
  plan.longList = static_cast<unsigned>(largerOf(
      tuning.longList, smallerOf<std::size_t>(plan.indices * plan.packs.cols / tuning.longListShare, 1u << 30)));
  const std::size_t longLists = plan.indices / plan.longList;
  plan.scratchBytes =
      plan.slotBytes + addRowsScratch(plan.indices, lists, std::size_t{plan.buckets} * plan.regions, longLists);
  plan.longBlocks = static_cast<unsigned>(smallerOf(cappedProduct(longLists, plan.packs.cols), tuning.longBlocks));
  plan.packs.blocks = ceilDivide(lists * plan.packs.cols, std::size_t{combineRowsBlock});
}

// Slots of each row for twice the average, in any order: a power of two. The sort in registers has its own number.
inline std::size_t slotsOfRow(const AddRowsRequest& r, std::size_t indices) {
  if (r.addition == RowAddition::deterministic) return orderedSlots;
  std::size_t slots = orderedSlots;
  while (slots * r.matrices.rows < 2 * indices) slots *= 2;
  return slots;
}

// Counters of buckets, of the rest and of all rows, slots, the rest, and what the buckets hold.
constexpr std::size_t addSlotsScratch(std::size_t rows, std::size_t slots, std::size_t buckets, std::size_t rest) {
  return sizeof(unsigned) *
             (slotBuckets + 4 + roundUp(rows, std::size_t{4}) + rows * slots + roundUp(rest, std::size_t{4})) +
         8 * buckets * bucketSlots;
}

// Whether listing pays: many rows, of which several go to each row of the output, and few enough buckets.
inline bool areListedInSlots(const AddRowsRequest& r, std::size_t indices, const AddRowsTuning& tuning) {
  const CombineRowsRequest& m = r.matrices;
  const std::size_t rowBytes = m.cols * m.inBytes;
  const bool inOrder = r.addition == RowAddition::deterministic;
  const std::size_t maxShare = inOrder ? tuning.orderedMaxShare : tuning.slotsMaxShare;
  if (inOrder && rowBytes > tuning.orderedRowBytes) return false;
  return rowBytes >= tuning.slotsRowBytes && cappedProduct(r.n, rowBytes) >= tuning.slotsBytes &&
         m.rows <= indices / tuning.slotsMinShare && m.rows >= ceilDivide(indices, maxShare) &&
         m.rows * slotsOfRow(r, indices) <= std::size_t{bucketSlots} * slotBuckets;
}

inline void planSlots(AddRowsPlan& plan, const AddRowsRequest& r, const AddRowsTuning& tuning) {
  const std::size_t rows = r.matrices.rows;
  const bool inOrder = r.addition == RowAddition::deterministic;
  plan.algorithm = AddRowsAlgorithm::slots;
  plan.reason = "many rows, of which several go to each row of out";
  plan.slots = static_cast<unsigned>(slotsOfRow(r, plan.indices));
  plan.bucketBits = bitWidth(bucketSlots / plan.slots) - 1;
  plan.slotBuckets = static_cast<unsigned>(ceilDivide(rows, std::size_t{1} << plan.bucketBits));
  plan.slotBlocks = ceilDivide(rows * plan.packs.cols, std::size_t{addSlotsBlock});
  plan.scratchBytes = plan.slotBytes = addSlotsScratch(rows, plan.slots, plan.slotBuckets, inOrder ? 0 : plan.indices);
  if (inOrder)
    planGroupedRows(plan, r, smallerOf(rows, plan.indices / (orderedSlots + 1)), tuning);
  else
    plan.restBlocks = static_cast<unsigned>(tuning.restBlocks);
}

inline AddRowsPlan planAddRows(const AddRowsRequest& r, const AddRowsTuning& tuning = {}) {
  const CombineRowsRequest& m = r.matrices;
  AddRowsPlan plan;
  if (r.n == 0 || m.rows == 0 || m.cols == 0) return plan;
  plan.packs = planCombineRows(m);
  plan.writtenBytes = smallerOf(r.n, m.rows) * m.cols * m.outBytes;
  plan.readBytes = r.n * (m.cols * m.inBytes + r.indexBytes) + plan.writtenBytes;
  const std::size_t together = smallerOf(r.n, tuning.maxIndices);
  if (const std::size_t listed = smallerOf(together, tuning.maxListed); areListedInSlots(r, listed, tuning)) {
    plan.indices = listed;
    planSlots(plan, r, tuning);
  } else if (r.addition == RowAddition::atomic) {
    plan.algorithm = AddRowsAlgorithm::atomic;
    plan.reason = "additions in any order";
    plan.packs.blocks = ceilDivide(r.n * plan.packs.cols, std::size_t{addRowsBlock} * addRowsLoads);
  } else if (areSelected(plan, r, tuning)) {
    planSelectedRows(plan, r, tuning);
  } else {
    plan.algorithm = AddRowsAlgorithm::grouped;
    plan.reason = "many indices, or many to each row, in the order of which rows are added";
    plan.indices = together;
    planGroupedRows(plan, r, smallerOf(together, m.rows), tuning);
  }
  return plan;
}

// The passes that group indices.
inline std::string groupedInWords(const AddRowsPlan& plan) {
  const std::string longLists =
      plan.longBlocks == 0 ? std::string{}
                           : message({", lists of ", plan.longList, " rows and more by ", plan.longBlocks, " blocks"});
  return message({"grouped in ", plan.buckets, " buckets by ", plan.regions, " blocks, each sorted by ", plan.passes,
                  " counting passes of ", plan.digitBits, " bits", longLists});
}

inline std::string slotsInWords(const AddRowsPlan& plan) {
  return message(
      {"listed in ", plan.slots, " slots of their rows by ", plan.slotBuckets, " buckets, others ",
       plan.restBlocks > 0 ? message({"added by atomics in ", plan.restBlocks, " blocks"}) : groupedInWords(plan)});
}

// What a plan says of its kernels, without the launch of the addition.
inline std::string algorithmInWords(const AddRowsPlan& plan) {
  const std::string indices = message({plan.indices, " indices at a time "});
  switch (plan.algorithm) {
    case AddRowsAlgorithm::atomic:
      return message({"atomics, up to ", addRowsLoads, " rows a thread"});
    case AddRowsAlgorithm::selected:
      return message({"indices selected by blocks, for one of ", plan.buckets, " buckets of rows each, ",
                      addFewRowsLoads, " rows at a time"});
    case AddRowsAlgorithm::grouped:
      return message({indices, groupedInWords(plan), ", ", addedRowsLoads, " rows at a time"});
    default:
      return message({indices, slotsInWords(plan), ", ", addSlotsLoads, " rows at a time"});
  }
}

// The launch is that of the addition: others before it group indices.
inline std::string planInWords(const AddRowsPlan& plan) {
  if (plan.algorithm == AddRowsAlgorithm::nothing) return inWords({"", plan.reason});
  const std::string scratch =
      plan.scratchBytes == 0 ? std::string{} : message({", ", plan.scratchBytes, " bytes of scratch memory"});
  const bool isListed = plan.algorithm == AddRowsAlgorithm::slots;
  const std::size_t threads = isListed                                       ? addSlotsBlock
                              : plan.algorithm == AddRowsAlgorithm::selected ? addFewRowsBlock
                              : plan.algorithm == AddRowsAlgorithm::atomic   ? addRowsBlock
                                                                             : combineRowsBlock;
  const char* const columns = plan.packs.elements == 1 ? " column a thread" : " columns a thread";
  return inWords({message({algorithmInWords(plan), ", ", plan.packs.elements, columns, scratch}),
                  message({plan.reason, "; ", plan.packs.reason}), isListed ? plan.slotBlocks : plan.packs.blocks,
                  threads, plan.readBytes, plan.writtenBytes});
}

GPUOPT_DETAIL_END
