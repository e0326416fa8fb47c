/// \file
/// Which way a matrix takes from slabs of its ranks to other slabs: decided from numbers that all ranks know.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/distributed/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <climits>
#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class SlabAlgorithm : unsigned {
  nothing,   // no elements
  local,     // one rank
  tiles,     // one kernel reads the memory of all ranks, or writes it
  blocks,    // the local kernels do, one rank after the other
  copies,    // copy engines write to the memory of the other ranks
  messages,  // NCCL sends and receives
  levels,    // kernels within nodes, NCCL between them
};

// What all ranks know of a call.
struct SlabRequest {
  int ranks;
  bool usesPeers;
  bool reachesIn;          // all ranks: the input is in symmetric memory
  bool reachesOut;         // the same of the output
  bool transposes;         // or else copies
  bool fillsVectors;       // all rows begin at 16-byte boundaries, in every slab, and elements fill vectors
  bool fillsLines;         // elements fill lines, wherever rows begin
  bool isEmpty;            // no rank has elements
  std::size_t slabBytes;   // of the longest slab of the input
  std::size_t pitchBytes;  // of the output
  std::size_t batch;
  int nodes = 0;  // of ranks that reach each other
};
template <>
inline constexpr bool isPlan<SlabRequest> = true;

struct SlabPlan {
  SlabAlgorithm algorithm;
  unsigned chunks;
  std::string reason;
  bool gathers = false;  // messages between nodes: the blocks of all ranks of a node
  bool writes = false;   // kernels: write to the other ranks' memory, and read their own

  // Whether ranks agree on the host before they queue anything: what they queue then could not be left out.
  bool agrees() const { return algorithm >= SlabAlgorithm::blocks; }
};
template <>
inline constexpr bool isPlan<SlabPlan> = true;

// Whether copy engines can, and are the fastest way.
inline bool prefersCopies(const SlabRequest& request, const SlabTuning& tuning) {
  const int maxRanks = request.transposes ? tuning.maxTransposingCopyRanks : tuning.maxCopyRanks;
  return request.reachesOut && request.ranks <= maxRanks && request.batch == 1 && request.pitchBytes <= INT_MAX &&
         (!request.reachesIn || request.slabBytes >= tuning.minCopyBytes);
}

// Chunks of about chunkBytes.
inline unsigned chunksOf(const SlabRequest& request, const SlabTuning& tuning) {
  const std::size_t chunks = request.slabBytes / largerOf<std::size_t>(tuning.chunkBytes, 1);
  return static_cast<unsigned>(clampTo<std::size_t>(chunks, 1, tuning.maxChunks));
}

// Short blocks of a node for a rank are gathered: one message instead of one for each rank of the node.
inline SlabPlan planLevels(const SlabRequest& request, const SlabTuning& tuning) {
  const std::size_t block = request.slabBytes / static_cast<unsigned>(request.ranks);
  const bool gathers = block <= tuning.maxGatheredBytes;
  return {SlabAlgorithm::levels, chunksOf(request, tuning),
          message({"in is in symmetric memory, ", request.ranks, " ranks are on ", request.nodes,
                   " nodes, and blocks of about ", block, " bytes ",
                   gathers ? "are gathered in each" : "need not be gathered"}),
          gathers};
}

// Kernels that write to the other ranks' memory are faster than those that read it: four GPUs 45 us for 16 MiB of
// floats, and 51.
inline SlabPlan planWrites(const SlabRequest& request) {
  if (request.fillsVectors || request.fillsLines)
    return {SlabAlgorithm::tiles, 1, "out is in symmetric memory", false, true};
  return {SlabAlgorithm::blocks, 1,
          "out is in symmetric memory; rows do not begin at 16-byte boundaries, or elements do not fill vectors", false,
          true};
}

inline SlabPlan planSlabs(const SlabRequest& request, const SlabTuning& tuning) {
  using Algorithm = SlabAlgorithm;
  if (request.isEmpty) return {Algorithm::nothing, 0, "there are no elements"};
  if (request.ranks == 1) return {Algorithm::local, 1, "there is one rank"};
  if (!request.usesPeers && request.nodes < request.ranks && request.reachesIn) return planLevels(request, tuning);
  if (!request.usesPeers && request.nodes < request.ranks)
    return {Algorithm::messages, chunksOf(request, tuning), "in is not in symmetric memory"};
  if (!request.usesPeers)
    return {Algorithm::messages, chunksOf(request, tuning), "the ranks do not reach each other's memory"};
  if (prefersCopies(request, tuning)) {
    const std::string size = message({"slabs of ", request.slabBytes, " bytes"});
    return {Algorithm::copies, chunksOf(request, tuning),
            request.reachesIn ? message({size, " reach ", tuning.minCopyBytes}) : "only out is in symmetric memory"};
  }
  if (request.transposes && request.reachesOut) return planWrites(request);
  if (!request.reachesIn) return {Algorithm::messages, chunksOf(request, tuning), "in is not in symmetric memory"};
  // Rows of floats at any alignment: two GPUs 656 us for 252 MiB. Tiles would read such rows element by element.
  if (request.transposes && !request.fillsVectors)
    return {Algorithm::blocks, 1, "rows do not begin at 16-byte boundaries, or elements do not fill vectors"};
  return {Algorithm::tiles, 1, "in is in symmetric memory"};
}

inline const char* nameOf(SlabAlgorithm algorithm, bool writes) {
  switch (algorithm) {
    case SlabAlgorithm::nothing:
      return "nothing to do";
    case SlabAlgorithm::local:
      return "local kernel";
    case SlabAlgorithm::tiles:
      return writes ? "one kernel writes to the ranks' memory, tile by tile"
                    : "one kernel reads the ranks' memory, tile by tile";
    case SlabAlgorithm::blocks:
      return writes ? "local kernels write to the ranks' memory, rank by rank"
                    : "local kernels read the ranks' memory, rank by rank";
    case SlabAlgorithm::copies:
      return "copy engines write to the ranks' memory";
    case SlabAlgorithm::levels:
      return "kernels read the ranks' memory within nodes, NCCL sends between them";
    default:
      return "NCCL sends and receives";
  }
}

inline std::string planInWords(const SlabPlan& plan) {
  const std::string name = nameOf(plan.algorithm, plan.writes);
  const std::string chunks = plan.chunks > 1 ? message({", in ", plan.chunks, " chunks"}) : "";
  Explanation words{name + chunks, plan.reason};
  words.hasLength = false;  // each rank moves other bytes
  return inWords(words);
}

GPUOPT_DETAIL_END
