/// \file
/// Which kernel reduces the rows of a matrix, and in which grid: the only place that decides. Pure host code. A plan
/// follows from shape, types and alignment, never from the device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

struct ReduceRowsRequest {
  MatrixShape matrix{};
  std::size_t elementBytes = 1;
  std::size_t stepElements = 1;  // of a vector
  std::size_t partialBytes = 1;
  std::size_t resultBytes = 0;
  bool areAligned = false;   // whether all rows consist of full vectors
  bool canBeStaged = false;  // whether elements are trivially copyable
  bool readsGaps = false;    // whether the memory between rows may be read
  bool combinesSlowly = false;
};
template <>
inline constexpr bool isPlan<ReduceRowsRequest> = true;

enum class ReduceRowsAlgorithm {
  nothing,
  lanes,   // a group of lanes takes a row
  staged,  // the same of rows in shared memory
  warp,    // a warp takes a row
  block,   // one or several blocks take a row
};

struct ReduceRowsPlan {
  ReduceRowsAlgorithm algorithm = ReduceRowsAlgorithm::nothing;
  const char* reason = "no rows";
  ReduceRowsRequest request{};
  ReduceGrid grid{};
  unsigned lanes = 0;            // that take a row
  unsigned perGroup = 0;         // rows that a group of lanes takes, one after another
  std::size_t stepElements = 1;  // that a lane reads at once
  std::size_t tileRows = 0;      // that a block stages
  std::size_t splits = 1;        // blocks of a row
  std::size_t splitCols = 0;     // columns of each of them
};
template <>
inline constexpr bool isPlan<ReduceRowsPlan> = true;

template <class Policy>
class ReduceRowsPlanner {
  using Algorithm = ReduceRowsAlgorithm;

 public:
  explicit ReduceRowsPlanner(const ReduceRowsRequest& request) : r_(request), matrix_(request.matrix) {
    plan_.request = request;
  }

  ReduceRowsPlan plan() {
    if (matrix_.rows == 0) return plan_;
    const std::size_t bytes = matrix_.cols * r_.elementBytes;
    if (bytes >= blockBytes())
      planBlocks();
    else if (bytes >= warpBytes())
      choose(Algorithm::warp, "rows are of medium length", Policy::BLOCK, Policy::BLOCK / 32);
    else if (r_.areAligned)
      planLanes(r_.stepElements, "rows are short, and consist of vectors");
    else if (r_.canBeStaged && matrix_.cols > 0 && matrix_.ld <= (r_.readsGaps ? 2 : 1) * matrix_.cols)
      planStaged();
    else
      planLanes(1, "rows are short, and cannot be staged with the gaps between them");
    return plan_;
  }

 private:
  // The lengths from which a warp, and from which a block takes a row.
  std::size_t warpBytes() const {
    return r_.combinesSlowly && r_.areAligned ? Policy::slowWarpRowBytes : Policy::warpRowBytes;
  }
  std::size_t blockBytes() const {
    return r_.combinesSlowly && matrix_.rows >= Policy::slowWarpRows ? Policy::slowBlockRowBytes
                                                                     : Policy::blockRowBytes;
  }

  void choose(Algorithm algorithm, const char* reason, std::size_t threads, std::size_t blockRows) {
    plan_.algorithm = algorithm;
    plan_.reason = reason;
    plan_.grid = {threads, ceilDivide(matrix_.rows, blockRows), false};
  }

  void planLanes(std::size_t stepElements, const char* reason) {
    const std::size_t rowSteps = matrix_.cols / stepElements;
    const std::size_t items =
        clampTo(Policy::VECTORS * 16 / (stepElements * r_.elementBytes), std::size_t{1}, std::size_t{16});
    plan_.stepElements = stepElements;
    plan_.lanes = Policy::rowLanes(rowSteps);
    const std::size_t sets = largerOf(ceilDivide(rowSteps, plan_.lanes), std::size_t{1});
    plan_.perGroup = static_cast<unsigned>(largerOf(items / sets, std::size_t{1}));
    choose(Algorithm::lanes, reason, Policy::SHORT_BLOCK,
           std::size_t{Policy::SHORT_BLOCK} / plan_.lanes * plan_.perGroup);
  }

  void planStaged() {
    plan_.tileRows = Policy::stagedBytes / r_.elementBytes / matrix_.ld;
    if (plan_.tileRows > 64) plan_.tileRows -= plan_.tileRows % 8;  // results in full sectors
    plan_.lanes = Policy::stagedLanes(plan_.tileRows);
    choose(Algorithm::staged, "rows are short, and do not consist of vectors", Policy::SHORT_BLOCK, plan_.tileRows);
  }

  // Several blocks take a row only if rows are few and long.
  void planBlocks() {
    constexpr std::size_t LINE_BYTES = 128;
    const std::size_t line = largerOf(std::size_t{1}, LINE_BYTES / r_.elementBytes);
    plan_.splitCols = roundUp(ceilDivide(matrix_.cols, wantedSplits()), line);
    plan_.splits = ceilDivide(matrix_.cols, plan_.splitCols);
    choose(Algorithm::block, plan_.splits > 1 ? "rows are long and few" : "rows are long", Policy::BLOCK, 1);
    plan_.grid.blocks *= plan_.splits;
    plan_.grid.combines = plan_.splits > 1;
  }

  std::size_t wantedSplits() const {
    const std::size_t max = smallerOf(Workspace::capacity / r_.partialBytes, Policy::splitBlocks);
    if (matrix_.rows > max / 2 || matrix_.rows > Workspace::counterCount) return 1;
    const std::size_t shares = matrix_.cols * r_.elementBytes / Policy::splitBytes;
    return largerOf(smallerOf(max / matrix_.rows, shares), std::size_t{1});
  }

  const ReduceRowsRequest& r_;
  const MatrixShape& matrix_;
  ReduceRowsPlan plan_;
};

template <class Policy>
ReduceRowsPlan planReduceRows(const ReduceRowsRequest& request) {
  return ReduceRowsPlanner<Policy>(request).plan();
}

inline std::string kernelInWords(const ReduceRowsPlan& plan) {
  const char* const lanes = plan.lanes == 1 ? " lane a row" : " lanes a row";
  switch (plan.algorithm) {
    case ReduceRowsAlgorithm::lanes:
      return message({plan.lanes, lanes, plan.stepElements > 1 ? ", by vectors" : ", by elements"});
    case ReduceRowsAlgorithm::staged:
      return message({"tiles of ", plan.tileRows, " rows in shared memory, ", plan.lanes, lanes});
    case ReduceRowsAlgorithm::warp:
      return "a warp a row";
    default:
      return plan.splits == 1 ? "a block a row" : message({plan.splits, " blocks a row"});
  }
}

inline std::string planInWords(const ReduceRowsPlan& plan) {
  const ReduceRowsRequest& r = plan.request;
  return inWords({kernelInWords(plan), plan.reason, plan.grid.blocks, plan.grid.threads,
                  r.matrix.rows * r.matrix.cols * r.elementBytes, r.matrix.rows * r.resultBytes});
}

GPUOPT_DETAIL_END
