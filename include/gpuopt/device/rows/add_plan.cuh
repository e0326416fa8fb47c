/// \file
/// How rows are added by index: in numbers, and in words.
// SPDX-License-Identifier: MIT
#pragma once

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

inline constexpr std::size_t mostPanels = 65535;  // blocks along y

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
};

struct AddRowsPlan {
  AddRowsAlgorithm algorithm = AddRowsAlgorithm::nothing;
  CombineRowsPlan packs = {};
  std::size_t indices = 0;  // that are grouped at a time
  std::size_t bytes = 0;    // to be read and written, with each row of the output that can be named
  unsigned divisor = 1;     // the remainders by which are buckets of rows
  unsigned buckets = 0;     // that occur
  unsigned panels = 0;      // of packs, for which blocks select the same indices
  unsigned region = 0;      // indices that a block counts and moves
  unsigned regions = 0;
  unsigned passes = 0;  // of the sort of a bucket
  unsigned digitBits = 0;
  unsigned longList = 0;    // positions from which on a block sums a list
  unsigned longBlocks = 0;  // which do so
  std::size_t scratchBytes = 0;
};
template <>
inline constexpr bool isPlan<AddRowsPlan> = true;

// Lists; for each index two bucketed rows and a position; a counter for each bucket and region, and one more; the
// numbers of lists and of long ones, and which those are.
constexpr std::size_t addRowsScratch(std::size_t n, std::size_t lists, std::size_t counters, std::size_t longLists) {
  return 16 * lists + sizeof(unsigned) * (5 * n + counters + 3 + longLists);
}

inline unsigned bitsOf(std::size_t number) {
  unsigned bits = 0;
  while (number >> bits != 0) ++bits;
  return bits;
}

inline void planSelectedRows(AddRowsPlan& plan, const AddRowsRequest& r, const AddRowsTuning& tuning) {
  plan.algorithm = AddRowsAlgorithm::selected;
  plan.indices = r.n;
  plan.divisor = addFewRowsBuckets;
  plan.buckets = static_cast<unsigned>(smallerOf(r.matrices.rows, std::size_t{plan.divisor}));
  plan.panels = static_cast<unsigned>(
      smallerOf(ceilDivide(plan.packs.cols, smallerOf(tuning.fewPacks, std::size_t{addFewRowsBlock})), mostPanels));
  plan.packs.blocks = std::size_t{plan.buckets} * plan.panels;
}

inline void planGroupedRows(AddRowsPlan& plan, const AddRowsRequest& r, const AddRowsTuning& tuning) {
  const std::size_t rows = r.matrices.rows;
  plan.algorithm = AddRowsAlgorithm::grouped;
  plan.indices = smallerOf(r.n, tuning.mostIndices);
  plan.divisor = plan.indices < tuning.manyIndices ? groupRowsBuckets : groupRowsManyBuckets;
  plan.buckets = static_cast<unsigned>(smallerOf(rows, std::size_t{plan.divisor}));
  const std::size_t share = ceilDivide(plan.indices, std::size_t{groupRowsRegions});
  plan.region = static_cast<unsigned>(roundUp(share, groupRowsLeastRegion));
  plan.regions = static_cast<unsigned>(ceilDivide(plan.indices, std::size_t{plan.region}));
  const unsigned bits = bitsOf((rows - 1) / plan.divisor);
  plan.passes = ceilDivide32(bits, sortBucketsDigitBits);
  plan.digitBits = plan.passes == 0 ? 0 : ceilDivide32(bits, plan.passes);
  const std::size_t lists = smallerOf(plan.indices, rows);
  plan.longList = static_cast<unsigned>(largerOf(
      tuning.longList, smallerOf<std::size_t>(plan.indices * plan.packs.cols / tuning.longListShare, 1u << 30)));
  const std::size_t longLists = plan.indices / plan.longList;
  plan.scratchBytes = addRowsScratch(plan.indices, lists, std::size_t{plan.buckets} * plan.regions, longLists);
  plan.longBlocks = static_cast<unsigned>(smallerOf(cappedProduct(longLists, plan.packs.cols), tuning.longBlocks));
  plan.packs.blocks = ceilDivide(lists * plan.packs.cols, std::size_t{combineRowsBlock});
}

inline AddRowsPlan planAddRows(const AddRowsRequest& r, const AddRowsTuning& tuning = {}) {
  const CombineRowsRequest& m = r.matrices;
  AddRowsPlan plan;
  if (r.n == 0 || m.rows == 0 || m.cols == 0) return plan;
  plan.packs = planCombineRows(m);
  plan.bytes = r.n * (m.cols * m.inBytes + r.indexBytes) + 2 * smallerOf(r.n, m.rows) * m.cols * m.outBytes;
  if (r.addition == RowAddition::atomic) {
    plan.algorithm = AddRowsAlgorithm::atomic;
    plan.packs.blocks = ceilDivide(r.n * plan.packs.cols, std::size_t{addRowsBlock} * addRowsLoads);
  } else if (r.n <= tuning.fewIndices) {
    planSelectedRows(plan, r, tuning);
  } else {
    planGroupedRows(plan, r, tuning);
  }
  return plan;
}

inline std::string planInWords(const AddRowsPlan& plan) {
  if (plan.algorithm == AddRowsAlgorithm::nothing) return "nothing to launch";
  const std::string columns = message({plan.packs.elements, plan.packs.elements == 1 ? " column" : " columns"});
  const std::string bytes = message({"; ", plan.bytes,
                                     " bytes to move at most; 16 bytes at a time need addresses, rows and leading "
                                     "dimensions of multiples of 16"});
  if (plan.algorithm == AddRowsAlgorithm::atomic)
    return message({"each thread adds ", columns, " of up to ", addRowsLoads, " rows by atomics, in ",
                    plan.packs.blocks, " blocks of ", addRowsBlock, bytes});
  if (plan.algorithm == AddRowsAlgorithm::selected)
    return message({"each of ", plan.packs.blocks, " blocks of ", addFewRowsBlock,
                    " selects the indices of its rows, one of ", plan.buckets, ", then each thread adds ", columns,
                    ", ", addFewRowsLoads, " rows at a time", bytes});
  const std::string groups =
      message({plan.indices, " indices at a time are divided into ", plan.buckets, " buckets by ", plan.regions,
               " blocks, each bucket is sorted by ", plan.passes, " counting passes of ", plan.digitBits, " bits"});
  const std::string longLists =
      plan.longBlocks == 0 ? std::string{}
                           : message({", lists of ", plan.longList, " rows and more by ", plan.longBlocks, " others"});
  return message({groups, ", then each thread adds ", columns, ", ", addedRowsLoads, " rows at a time, in ",
                  plan.packs.blocks, " blocks of ", combineRowsBlock, longLists, "; ", plan.scratchBytes,
                  " bytes of scratch memory", bytes});
}

GPUOPT_DETAIL_END
