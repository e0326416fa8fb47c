/// \file
/// Which kernel scans rows or columns, and why: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/scan_tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

// What is to be scanned, without types.
struct ScanRequest {
  std::uintptr_t in = 0, out = 0;
  std::size_t rows = 0, cols = 0;
  std::size_t inLd = 0, outLd = 0;
  std::size_t inBytes = 0, outBytes = 0, accumulatorBytes = 0;  // of an element
  unsigned items = 1;                                           // of a word, where words are aligned
  bool isReversed = false;
  unsigned processors = 1;
};
template <>
inline constexpr bool isPlan<ScanRequest> = true;

enum class ScanAlgorithm {
  nothing,       // no elements
  shortRows,     // some lanes a row
  rows,          // a block a row
  longRows,      // several blocks a row
  columns,       // tiles of rows and columns
  shortColumns,  // a block a few columns
};

// The slots of one launch: see ScanChain.
struct ScanChainPlan {
  unsigned tiles = 1, group = 1, ring = 1;
  std::size_t strips = 1;  // of a launch
  unsigned slotWords = 0;
  bool isZeroedBefore = false;  // the slots are in memory that is zeroed before the kernel

  unsigned groups() const { return (tiles + group - 1) / group; }
  std::size_t stripWords() const { return std::size_t{ring} * group * slotWords; }
  std::size_t words() const { return strips * stripWords(); }
  std::size_t counters() const { return groups() > ring && group > 1 ? strips * ring : 0; }
};

struct ScanPlan {
  ScanAlgorithm algorithm = ScanAlgorithm::nothing;
  const char* reason = "no elements";
  ScanRequest request{};
  unsigned items = 1;      // of a word
  bool isShifted = false;  // words begin at other elements than rows
  unsigned threads = 0;    // of a block
  unsigned lanes = 1;      // of a row, or of a tile of columns
  unsigned steps = 1;      // words of a lane
  std::size_t blocks = 0;  // of a launch
  std::size_t strips = 0;  // rows, or groups of columns that tiles divide
  std::size_t launches = 0;
  ScanChainPlan chain{};
};
template <>
inline constexpr bool isPlan<ScanPlan> = true;

// Whether words of both sides begin at the same elements of each row.
inline bool haveCommonWords(const ScanRequest& r) {
  if (r.items == 1 || r.in % r.inBytes != 0 || r.out % r.outBytes != 0) return false;
  const bool begin = r.in / r.inBytes % r.items == r.out / r.outBytes % r.items;
  return begin && (r.rows == 1 || r.inLd % r.items == r.outLd % r.items);
}

inline bool haveWordsAtStarts(const ScanRequest& r) {
  const std::size_t first = r.in / r.inBytes + (r.isReversed ? r.cols : 0);
  return first % r.items == 0 && (r.rows == 1 || r.inLd % r.items == 0);
}

// Slots for all groups, if the counters of a workspace have the words; else as many strips a launch as there is memory
// for, the same in all launches. With groups of one tile the only reader of a slot is the one that writes it next.
inline void planChain(ScanPlan& plan, unsigned slotValues) {
  constexpr unsigned MIN_RING = 3;
  ScanChainPlan& chain = plan.chain;
  chain.strips = plan.strips;
  chain.slotWords = slotValues * static_cast<unsigned>((plan.request.accumulatorBytes + 3) / 4);
  chain.ring = chain.group == 1 ? 1 : chain.groups();
  chain.isZeroedBefore = chain.tiles > 1 && chain.words() > scanFewSlotWords;
  if (chain.isZeroedBefore) {
    while (chain.group > 1 && MIN_RING * chain.group * chain.slotWords > scanManySlotWords) chain.group /= 2;
    const std::size_t share = largerOf<std::size_t>(scanManySlotWords / plan.strips, 1);
    const auto fitting = static_cast<unsigned>(share / (std::size_t{chain.group} * chain.slotWords));
    chain.ring = chain.group == 1 ? 1 : largerOf(MIN_RING, smallerOf(fitting, chain.groups()));
    std::size_t maxStrips = scanManySlotWords / chain.stripWords();
    if (chain.counters() > 0) maxStrips = smallerOf<std::size_t>(maxStrips, scanArrivals / chain.ring);
    plan.launches = ceilDivide(plan.strips, maxStrips);
    chain.strips = ceilDivide(plan.strips, plan.launches);
  }
  plan.blocks = chain.strips * chain.tiles;
}

inline void planShortRows(ScanPlan& plan, std::size_t words) {
  constexpr unsigned LANES = 8;
  plan.algorithm = ScanAlgorithm::shortRows;
  plan.threads = scanRowsThreads;
  plan.steps = words <= LANES ? 1 : scanFewSteps;
  for (plan.lanes = words <= LANES ? 1 : LANES; plan.lanes * plan.steps < words;) plan.lanes *= 2;
  plan.blocks = ceilDivide(plan.request.rows, std::size_t{plan.threads / plan.lanes});
  plan.reason = "the lanes of a row hold all of it";
}

inline void planBlocks(ScanPlan& plan, std::size_t words) {
  plan.algorithm = ScanAlgorithm::rows;
  plan.lanes = 32;
  plan.steps = words <= scanFewWords ? scanFewSteps : scanRowsSteps;
  for (plan.threads = 64; plan.threads < scanRowsThreads && plan.threads * plan.steps < words;) plan.threads *= 2;
  plan.blocks = plan.request.rows;
  plan.reason = "a block goes along its row";
}

inline void planLongRows(ScanPlan& plan, std::size_t words) {
  plan.algorithm = ScanAlgorithm::longRows;
  plan.steps = scanRowsSteps;
  plan.lanes = 32;
  plan.threads = scanRowsThreads;
  if (words > std::size_t{scanGroup} * plan.threads * plan.steps) plan.threads = scanLongRowsThreads;
  plan.chain.tiles = static_cast<unsigned>(ceilDivide(words, std::size_t{plan.threads} * plan.steps));
  plan.chain.group = smallerOf(plan.chain.tiles, scanGroup);
  planChain(plan, 1);
  plan.reason = "few long rows";
}

inline ScanPlan planScanRows(const ScanRequest& r, const ScanTuning& tuning = {}) {
  ScanPlan plan;
  plan.request = r;
  if (r.rows == 0 || r.cols == 0) return plan;
  plan.strips = r.rows;
  plan.launches = 1;
  plan.isShifted = !haveWordsAtStarts(r);
  const bool isVector = haveCommonWords(r) && r.cols >= (plan.isShifted ? tuning.shiftedWords : 1) * r.items;
  plan.items = isVector ? r.items : 1;
  if (!isVector) plan.isShifted = false;
  const std::size_t words = ceilDivide(r.cols, std::size_t{plan.items});
  const std::size_t tile = std::size_t{scanRowsThreads} * scanRowsSteps;
  const bool areFew = r.rows < std::size_t{tuning.fewPerProcessor} * r.processors;
  if (words <= 32 * scanFewSteps)
    planShortRows(plan, words);
  else if (areFew && words > tile * tuning.sharedFrom)
    planLongRows(plan, words);
  else
    planBlocks(plan, words);
  return plan;
}

// Whether blocks take all rows of a few columns each.
inline bool planShortColumns(ScanPlan& plan, std::size_t shift) {
  const unsigned lanes = plan.items > 1 ? scanShortColumnsLanes : scanShortColumnsScalarLanes;
  for (const ScanColumnsTile& tile : {scanShortColumns, scanTallColumns}) {
    plan.threads = static_cast<unsigned>(tile.threads);
    plan.steps = static_cast<unsigned>(tile.rows);
    if (plan.request.rows > std::size_t{plan.threads} / lanes * plan.steps) continue;
    plan.algorithm = ScanAlgorithm::shortColumns;
    plan.lanes = lanes;
    plan.strips = plan.blocks = ceilDivide(plan.request.cols + shift, std::size_t{lanes} * plan.items);
    plan.chain = {};
    plan.reason = "short columns: no block waits for another one";
    return true;
  }
  return false;
}

inline ScanPlan planScanColumns(const ScanRequest& r, const ScanTuning& tuning = {}) {
  ScanPlan plan;
  plan.request = r;
  if (r.rows == 0 || r.cols == 0) return plan;
  plan.algorithm = ScanAlgorithm::columns;
  const bool isVector = haveCommonWords(r) && (r.rows == 1 || (r.inLd % r.items == 0 && r.outLd % r.items == 0));
  plan.items = isVector ? r.items : 1;
  plan.lanes = isVector ? scanColumnsLanes : scanColumnsScalarLanes;
  const std::size_t shift = r.in / r.inBytes % plan.items;
  plan.isShifted = shift > 0;
  const std::size_t tileCols = std::size_t{plan.lanes} * plan.items;
  plan.strips = ceilDivide(r.cols + shift, tileCols);
  plan.launches = 1;
  const auto cut = [&](const ScanColumnsTile& tile) {
    plan.threads = static_cast<unsigned>(tile.threads);
    plan.steps = static_cast<unsigned>(tile.rows);
    const std::size_t rows = std::size_t{plan.threads} / plan.lanes * plan.steps;
    plan.chain.tiles = static_cast<unsigned>(ceilDivide(r.rows, rows));
    return plan.strips * plan.chain.tiles;
  };
  if (cut(scanColumnsTile) < r.processors * tuning.fewTiles) cut(scanSmallColumnsTile);
  const bool isSmall = cappedProduct(cappedProduct(r.rows, r.cols), r.inBytes + r.outBytes) <= tuning.shortBytes;
  if (isSmall && plan.chain.tiles > 1) {
    const ScanPlan tiles = plan;
    if (planShortColumns(plan, shift)) return plan;
    plan = tiles;
  }
  while (plan.strips < tuning.fewStrips && plan.strips * plan.chain.group < tuning.groupTiles &&
         plan.chain.group < smallerOf(plan.chain.tiles, scanGroup))
    plan.chain.group *= 2;
  planChain(plan, static_cast<unsigned>(tileCols));
  plan.reason = plan.chain.tiles == 1  ? "one tile has all rows"
                : plan.chain.group > 1 ? "few columns: tiles pass their totals to groups of them"
                                       : "each tile waits for the one above";
  return plan;
}

inline const char* nameOf(ScanAlgorithm algorithm) {
  constexpr const char* names[] = {"nothing to launch",    "several rows a warp", "a block a row",
                                   "several blocks a row", "tiles of columns",    "a block some columns"};
  static_assert(std::size(names) == static_cast<std::size_t>(ScanAlgorithm::shortColumns) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

inline std::string planInWords(const ScanPlan& plan) {
  const ScanRequest& r = plan.request;
  if (plan.algorithm == ScanAlgorithm::nothing) return inWords({"", plan.reason});
  std::string kernel =
      message({nameOf(plan.algorithm), ", ", plan.lanes, " lanes a row, words of ", plan.items,
               plan.items == 1 ? " element" : " elements", plan.isShifted ? " after unaligned heads" : ""});
  if (plan.chain.tiles > 1) kernel += message({", ", plan.chain.tiles, " tiles in groups of ", plan.chain.group});
  if (plan.launches > 1) kernel += message({", ", plan.launches, " launches, each"});
  const std::size_t elements = cappedProduct(r.rows, r.cols);
  return inWords({kernel, plan.reason, plan.blocks, plan.threads, cappedProduct(elements, r.inBytes),
                  cappedProduct(elements, r.outBytes)});
}

GPUOPT_DETAIL_END
