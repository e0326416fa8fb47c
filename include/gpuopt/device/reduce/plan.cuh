/// \file
/// Which kernel reduces an array or segments, and in which grid: the only place that decides. Pure host code. A plan
/// follows from sizes, never from the device, so that results are the same everywhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

struct MatrixShape {
  std::size_t rows;
  std::size_t cols;
  std::size_t ld;  // elements from row to row
};

struct ReduceGrid {
  std::size_t threads;  // of a block
  std::size_t blocks;
  bool combines;  // whether blocks combine their results, for which they need scratch memory
};

// n elements, read by steps.
struct ReduceRequest {
  std::size_t n = 0;
  std::size_t head = 0;  // elements before the first step
  std::size_t stepElements = 1;
  std::size_t stepBytes = 1;
  std::size_t tileItems = 1;    // steps of a thread that takes one tile
  std::size_t loopItems = 1;    // and of one that loops
  std::size_t orderedRows = 1;  // at most
  std::size_t maxBlocks = 1;    // whose results can be combined
  std::size_t resultBytes = 0;
  bool readsVectors = false;
};
template <>
inline constexpr bool isPlan<ReduceRequest> = true;

enum class ReduceAlgorithm {
  oneTile,  // one block
  tiles,    // blocks of one tile each
  loop,     // blocks that loop over tiles
  ordered,  // warps that keep the order of the input
};

struct ReducePlan {
  ReduceAlgorithm algorithm;
  const char* reason;
  ReduceRequest request;
  ReduceGrid grid;
  std::size_t steps;  // full steps of the input
  unsigned edges;     // elements outside full steps
  std::size_t rows;   // of a warp in the ordered kernel
  bool streams;       // whether loads bypass L1

  std::size_t warps() const { return grid.blocks * grid.threads / 32; }
};
template <>
inline constexpr bool isPlan<ReducePlan> = true;

template <class Policy>
class ReducePlanner {
 public:
  explicit ReducePlanner(const ReduceRequest& request) : r_(request) {
    plan_.request = request;
    plan_.steps = (r_.n - r_.head) / r_.stepElements;
    plan_.edges = static_cast<unsigned>(r_.n - plan_.steps * r_.stepElements);
    bytes_ = plan_.steps * r_.stepBytes;
    plan_.streams = bytes_ <= Policy::streamedBytes;
  }

  ReducePlan plan() {
    if constexpr (Policy::IN_ORDER)
      planOrdered();
    else
      planTiles();
    return plan_;
  }

 private:
  static constexpr std::size_t BLOCK = Policy::BLOCK;

  // Threads of a block if one tile of the input is work for `wanted` threads: a single block if they are few.
  std::size_t blockThreads(std::size_t wanted) const {
    if (wanted <= BLOCK) return clampTo(roundUp(wanted, 32), std::size_t{128}, BLOCK);
    return bytes_ <= Policy::tileBytes ? smallerOf(static_cast<std::size_t>(Policy::tileThreads(bytes_)), BLOCK)
                                       : BLOCK;
  }

  void planOrdered() {
    const int rows = Policy::orderedRows(bytes_);
    plan_.algorithm = ReduceAlgorithm::ordered;
    plan_.reason = "the policy keeps the order of the input";
    plan_.rows = rows >= 8 ? r_.orderedRows : smallerOf(std::size_t{rows >= 4 ? 4u : 2u}, r_.orderedRows);
    const std::size_t groups = ceilDivide(plan_.steps, 32 * plan_.rows);
    const std::size_t threads = blockThreads(32 * groups);
    const std::size_t max = smallerOf(std::size_t{Policy::loopBlocks(bytes_)}, r_.maxBlocks);
    const std::size_t blocks = clampTo(ceilDivide(groups, threads / 32), std::size_t{1}, max);
    plan_.grid = {threads, blocks, blocks > 1};
  }

  void planTiles() {
    const std::size_t elements = plan_.steps * r_.stepElements;
    const std::size_t few = smallerOf(ceilDivide(elements, Policy::oneBlockElements), std::size_t{256});
    const std::size_t wanted = largerOf(ceilDivide(plan_.steps, r_.tileItems), few);
    // The last block needs a thread for each edge element.
    const std::size_t threads = largerOf(blockThreads(wanted), roundUp(plan_.edges, 32));
    const std::size_t blocks = largerOf(ceilDivide(plan_.steps, r_.tileItems * threads), std::size_t{1});
    const bool isSmall = bytes_ <= Policy::tileBytes;
    if (isSmall && blocks <= smallerOf(BLOCK, r_.maxBlocks)) {
      plan_.algorithm = blocks == 1 ? ReduceAlgorithm::oneTile : ReduceAlgorithm::tiles;
      plan_.reason = blocks == 1 ? "one block takes the input at once" : "few enough blocks take the input at once";
      plan_.grid = {threads, blocks, blocks > 1};
    } else {
      plan_.algorithm = ReduceAlgorithm::loop;
      plan_.reason = isSmall ? "more blocks than can combine their results" : "the input is large";
      plan_.grid = {BLOCK, loopBlocks(), true};
    }
  }

  std::size_t loopBlocks() const {
    const std::size_t wanted = Policy::loopBlocks(bytes_), wave = Policy::waveBlocks;
    return wanted <= r_.maxBlocks || r_.maxBlocks < wave ? smallerOf(wanted, r_.maxBlocks) : r_.maxBlocks / wave * wave;
  }

  const ReduceRequest& r_;
  ReducePlan plan_{};
  std::size_t bytes_ = 0;  // of full steps
};

template <class Policy>
ReducePlan planReduce(const ReduceRequest& request) {
  static_assert(Policy::BLOCK % 32 == 0 && Policy::BLOCK >= 160 && Policy::BLOCK <= 1024,
                "gpuopt::ReducePolicy: BLOCK must be a multiple of 32 from 160 to 1024 (up to 142 elements "
                "belong to no step)");
  return ReducePlanner<Policy>(request).plan();
}

inline const char* nameOf(ReduceAlgorithm algorithm) {
  constexpr const char* names[] = {"one tile", "a tile a block", "loop over tiles", "warps in order"};
  static_assert(std::size(names) == static_cast<std::size_t>(ReduceAlgorithm::ordered) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

inline std::string planInWords(const ReducePlan& plan) {
  const ReduceRequest& r = plan.request;
  return inWords({message({nameOf(plan.algorithm), r.readsVectors ? ", by vectors" : ", by elements"}), plan.reason,
                  plan.grid.blocks, plan.grid.threads, r.n * r.stepBytes / r.stepElements, r.resultBytes});
}

GPUOPT_DETAIL_END
