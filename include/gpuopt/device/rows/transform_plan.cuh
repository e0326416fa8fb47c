/// \file
/// Which kernel transforms the rows of a matrix, and why: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/transform_tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class TransformAlgorithm {
  nothing,  // no elements
  lanes,    // a group of lanes, or a warp, takes a row
  staged,   // the same of rows that a warp copies to shared memory together
  block,    // a block takes a row, kept in registers
  cluster,  // the same of several blocks
  reread,   // a block or a cluster reads the row again for each pass
};

struct TransformRequest {
  std::size_t rows = 0;  // or parts of rows
  std::size_t cols = 0;  // of a part
  std::size_t inBytes = 0;
  std::size_t outBytes = 0;
  bool isShifted = false;  // a row may begin between two vectors
  bool isWhole = true;     // rows of both matrices begin and end with vectors
  bool areJoined = false;  // rows follow one another, begin alike in both matrices, and are of one type
  bool hasClusters = false;
  std::size_t multiprocessors = 1;
  bool hasLargeClusters = false;  // of largeCluster blocks
  bool loadsNumbers = false;      // of columns: the map does
};
template <>
inline constexpr bool isPlan<TransformRequest> = true;

struct TransformPlan {
  TransformAlgorithm algorithm = TransformAlgorithm::nothing;
  const char* reason = "no elements";
  TransformRequest request{};
  bool hasEnds = false;        // threads take the ends of a row by elements
  std::size_t rowVectors = 0;  // at most, without the ends
  unsigned lanes = 0;          // that take a row, of a warp
  unsigned vectors = 0;        // that a thread keeps of a row
  unsigned elements = 0;       // that a lane keeps of a staged row, at most
  unsigned spanRows = 0;       // that a warp stages together
  unsigned cluster = 1;        // blocks of a row
  unsigned ahead = 0;          // rows from one to that which its cluster lets L2 fetch
  unsigned threads = 0;        // of a block
  std::size_t blocks = 0;
};
template <>
inline constexpr bool isPlan<TransformPlan> = true;

inline unsigned powerOfTwoFrom(std::size_t n) {
  unsigned power = 1;
  while (power < n) power *= 2;
  return power;
}

class TransformPlanner {
  using Algorithm = TransformAlgorithm;

 public:
  TransformPlanner(const TransformRequest& request, const TransformTuning& tuning) : tuning_(tuning) {
    plan_.request = request;
  }

  TransformPlan plan() {
    const TransformRequest& r = plan_.request;
    if (r.rows == 0 || r.cols == 0) return plan_;
    const std::size_t count = 16 / r.inBytes;
    const std::size_t touched = ceilDivide(r.cols + (r.isShifted ? count - 1 : 0), count);
    plan_.hasEnds = !r.isWhole && touched > tuning_.vectorsWithoutEnds;
    plan_.rowVectors = plan_.hasEnds ? touched - 4 : touched;
    if (isStaged())
      planStaged();
    else if (plan_.rowVectors <= (areFewVectors() ? 32 : tuning_.warpVectors))
      planLanes();
    else
      planBlocks();
    return plan_;
  }

 private:
  // Small matrices: as many threads as there are vectors, since latency counts.
  bool areFewVectors() const { return plan_.request.rows * plan_.rowVectors <= tuning_.fewVectors; }

  bool isStaged() const {
    const TransformRequest& r = plan_.request;
    return !r.isWhole && r.areJoined && !areFewVectors() && r.inBytes <= stagedElementBytes &&
           r.cols >= tuning_.minStagedCols && r.cols <= tuning_.stagedCols;
  }

  void planStaged() {
    const TransformRequest& r = plan_.request;
    plan_.algorithm = Algorithm::staged;
    plan_.reason = "unaligned rows, which a warp copies to shared memory together";
    plan_.hasEnds = false;
    planStagedLanes();
    plan_.spanRows = r.loadsNumbers ? spanRows() : static_cast<unsigned>(plan_.lanes < 32 ? 16 : 8);
    plan_.threads = static_cast<unsigned>(tuning_.laneThreads);
    const std::size_t warpSpans = r.loadsNumbers && fillsWarps() ? tuning_.warpSpans : 1;
    plan_.blocks = ceilDivide(ceilDivide(r.rows, std::size_t{plan_.spanRows}), plan_.threads / 32 * warpSpans);
  }

  // Whether there are enough rows for all multiprocessors if each warp takes as many as it may.
  bool fillsWarps() const {
    const TransformRequest& r = plan_.request;
    const std::size_t ofWarp = tuning_.warpSpans * tuning_.spanBytes;
    return r.rows * r.cols * r.inBytes >= r.multiprocessors * tuning_.stagedWarps * ofWarp;
  }

  // Spans of few bytes cost their copies' latency, large ones leave room for few warps.
  unsigned spanRows() const {
    unsigned rows = fillsWarps() ? 32 : 16;
    while (rows > 8 && rows * plan_.request.cols * plan_.request.inBytes > tuning_.spanBytes) rows /= 2;
    return rows;
  }

  // As few lanes a row as there is a kernel for: every step of combining lanes costs as much as two elements.
  void planStagedLanes() {
    const TransformRequest& r = plan_.request;
    const unsigned most = r.loadsNumbers ? stagedNumbersLanes : 32;
    plan_.lanes = stagedLanes;
    while (plan_.lanes < most && r.cols > plan_.lanes * stagedElements) plan_.lanes *= 2;
    plan_.elements = stagedNumbers;
    while (r.cols <= plan_.lanes * (plan_.elements - stagedSlack)) plan_.elements -= stagedSlack;
  }

  // Short rows. Several vectors a lane, since every step of combining lanes costs as much as an element.
  void planLanes() {
    plan_.algorithm = Algorithm::lanes;
    const bool areShort = plan_.rowVectors <= tuning_.twoVectors;
    plan_.vectors = areFewVectors() ? 1 : areShort ? 2 : 4;
    plan_.lanes = powerOfTwoFrom(ceilDivide(plan_.rowVectors, plan_.vectors));
    if (plan_.hasEnds) planEnds();
    plan_.reason = plan_.lanes < 32 ? "a part of a warp holds a row" : "a warp holds a row";
    const std::size_t warps = ceilDivide(plan_.request.rows, std::size_t{32} / plan_.lanes);
    std::size_t blockWarps = tuning_.laneThreads / 32;
    while (blockWarps > 1 && warps < blockWarps * plan_.request.multiprocessors) blockWarps /= 2;
    plan_.threads = static_cast<unsigned>(32 * blockWarps);
    plan_.blocks = ceilDivide(warps, blockWarps);
  }

  // Half a warp a row, if its lanes have few vectors: they share the work of the ends and of combining lanes.
  void planEnds() {
    plan_.lanes = plan_.rowVectors <= tuning_.halfWarpVectors ? 16 : 32;
    plan_.vectors = static_cast<unsigned>(ceilDivide(plan_.rowVectors, std::size_t{plan_.lanes}));
    if (plan_.lanes == 32) plan_.vectors = plan_.vectors <= 2 ? 2 : 4;
  }

  // Long rows.
  void planBlocks() {
    const TransformRequest& r = plan_.request;
    const bool areFew = r.rows <= r.multiprocessors / 2 && plan_.rowVectors >= tuning_.fewRowsVectors;
    const bool takesCluster = r.hasClusters && (areFew || plan_.rowVectors > tuning_.blockThreads * MAX_VECTORS);
    const bool takesOne = areFewVectors() && plan_.rowVectors <= tuning_.blockThreads;
    plan_.vectors = takesOne ? 1 : plan_.rowVectors <= tuning_.fourVectors ? 4 : MAX_VECTORS;
    if (takesCluster) chooseCluster(areFew);
    const std::size_t ofBlock = ceilDivide(plan_.rowVectors, plan_.cluster);
    if (ofBlock > plan_.vectors * tuning_.blockThreads) return planReread(tuning_.blockThreads);
    plan_.algorithm = takesCluster ? Algorithm::cluster : Algorithm::block;
    if (takesCluster && !areFew) plan_.ahead = static_cast<unsigned>(tuning_.aheadBytes / (r.cols * r.inBytes));
    plan_.reason = !takesCluster ? "the registers of a block hold a row"
                   : areFew      ? "few rows, each held by the registers of several blocks"
                                 : "the registers of several blocks hold a row";
    setBlocks(roundUp(ceilDivide(ofBlock, plan_.vectors), 32));
  }

  static constexpr unsigned MAX_VECTORS = 8;  // that a thread keeps

  void chooseCluster(bool areFew) {
    const std::size_t needed = ceilDivide(plan_.rowVectors, tuning_.blockThreads * plan_.vectors);
    const std::size_t most = takesLargeCluster() ? std::size_t{largeCluster} : tuning_.clusterBlocks;
    plan_.cluster = static_cast<unsigned>(smallerOf(areFew ? most : powerOfTwoFrom(needed), most));
    for (const unsigned vectors : {4u, 2u, 1u})
      if (areFew && plan_.rowVectors <= plan_.cluster * tuning_.blockThreads * vectors) plan_.vectors = vectors;
  }

  // Where threads of smaller clusters would keep several vectors, and all blocks find room at once.
  bool takesLargeCluster() const {
    const TransformRequest& r = plan_.request;
    return r.hasLargeClusters && plan_.rowVectors > tuning_.clusterBlocks * tuning_.blockThreads &&
           r.rows <= r.multiprocessors / largeCluster;
  }

  void planReread(std::size_t threads) {
    plan_.algorithm = Algorithm::reread;
    plan_.reason = "a row exceeds the registers";
    plan_.vectors = 4;
    setBlocks(threads);
  }

  void setBlocks(std::size_t threads) {
    plan_.threads = static_cast<unsigned>(threads);
    plan_.blocks = plan_.request.rows * plan_.cluster;
  }

  TransformPlan plan_;
  const TransformTuning& tuning_;
};

inline TransformPlan planTransformRows(const TransformRequest& request, const TransformTuning& tuning) {
  return TransformPlanner(request, tuning).plan();
}

inline const char* nameOf(TransformAlgorithm algorithm) {
  constexpr const char* names[] = {"nothing to launch",     "lanes", "staged", "block", "cluster",
                                   "block that reads again"};
  static_assert(std::size(names) == static_cast<std::size_t>(TransformAlgorithm::reread) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

// The kernel, its launch, the reason, and the bytes that must move.
inline std::string planInWords(const TransformPlan& plan) {
  const TransformRequest& r = plan.request;
  if (plan.algorithm == TransformAlgorithm::nothing) return inWords({"", plan.reason});
  const std::string rows =
      plan.lanes > 0 ? message({plan.lanes, " lanes a row"}) : message({plan.cluster, " blocks a row"});
  const bool isStaged = plan.algorithm == TransformAlgorithm::staged;
  const std::string held = isStaged ? message({plan.elements, " elements a lane, ", plan.spanRows, " rows a warp"})
                                    : message({plan.vectors, " vectors a thread"});
  const std::string ahead = plan.ahead > 0 ? message({", L2 fetches ", plan.ahead, " rows ahead"}) : std::string{};
  return inWords({message({nameOf(plan.algorithm), ", ", rows, ", ", held, ahead}), plan.reason, plan.blocks,
                  plan.threads, r.rows * r.cols * r.inBytes, r.rows * r.cols * r.outBytes});
}

GPUOPT_DETAIL_END
