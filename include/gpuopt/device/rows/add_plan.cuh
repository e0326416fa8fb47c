/// \file
/// How rows are added by index: in numbers, and in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/tuning.cuh>

#include <cstddef>
#include <string>

GPUOPT_TYPES_BEGIN

/// How addRows adds rows that go to one row.
enum class RowAddition {
  deterministic,  ///< grouped by their row, in the order of the indices: the same bits each time
  atomic,         ///< in any order, by atomic additions: other bits each time, without scratch memory
};

GPUOPT_TYPES_END

GPUOPT_DETAIL_BEGIN

// n rows of cols elements, added to some of `rows` rows.
struct AddRowsRequest {
  CombineRowsRequest matrices;
  std::size_t n;
  std::size_t indexBytes;
  RowAddition addition;
  RowIndices policy;
};

enum class AddRowsAlgorithm {
  nothing,
  groupedFew,  // in one block
  grouped,
  atomic,
};

struct AddRowsPlan {
  AddRowsAlgorithm algorithm = AddRowsAlgorithm::nothing;
  CombineRowsPlan packs = {};
  std::size_t indices = 0;  // that are grouped at a time
  unsigned passes = 0;
  unsigned digitBits = 0;
  std::size_t tiles = 0;
  std::size_t scratchBytes = 0;
  std::size_t bytes = 0;  // to be read and written, with each row of the output that can be named
};

// Of 4 bytes each: two arrays of rows, two of positions, the last one longer; a counter for each digit and tile; the
// number of lists.
constexpr std::size_t addRowsScratch(std::size_t n, std::size_t digits, std::size_t tiles) {
  return sizeof(unsigned) * (4 * n + 1 + digits * tiles + 1);
}

inline unsigned bitsOf(std::size_t number) {
  unsigned bits = 1;
  while (number >> bits != 0) ++bits;
  return bits;
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
    return plan;
  }
  plan.indices = smallerOf(r.n, tuning.mostIndices);
  plan.algorithm = plan.indices <= groupRowsTile ? AddRowsAlgorithm::groupedFew : AddRowsAlgorithm::grouped;
  const unsigned bits = bitsOf(r.policy == RowIndices::padded ? m.rows : m.rows - 1);
  plan.passes = ceilDivide32(bits, groupRowsDigitBits);
  plan.digitBits = ceilDivide32(bits, plan.passes);
  plan.tiles = ceilDivide(plan.indices, groupRowsTile);
  plan.scratchBytes = addRowsScratch(plan.indices, std::size_t{1} << plan.digitBits, plan.tiles);
  plan.packs.blocks = ceilDivide(smallerOf(plan.indices, m.rows) * plan.packs.cols, std::size_t{combineRowsBlock});
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
  return message({plan.indices, " indices at a time are sorted by ", plan.passes,
                  plan.passes == 1 ? " counting pass of " : " counting passes of ", plan.digitBits, " bits in ",
                  plan.algorithm == AddRowsAlgorithm::groupedFew ? "one block" : message({plan.tiles, " blocks"}),
                  ", then each thread adds ", columns, ", ", combineRowsLoads, " rows at a time, in ",
                  plan.packs.blocks, " blocks of ", combineRowsBlock, "; ", plan.scratchBytes,
                  " bytes of scratch memory", bytes});
}

GPUOPT_DETAIL_END
