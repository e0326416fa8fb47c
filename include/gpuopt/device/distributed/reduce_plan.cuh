/// \file
/// How the partial results of a team's ranks come together: the only place that decides. Pure host code, without NCCL.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/distributed/tuning.cuh>
#include <gpuopt/grid/peer_words.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

// One partial result of each rank, sent as words.
struct TeamReduceRequest {
  int ranks = 1;
  bool usesPeers = false;  // all ranks reach each other's memory
  unsigned words = 0;      // of a rank's contribution
};
template <>
inline constexpr bool isPlan<TeamReduceRequest> = true;

enum class TeamReduceAlgorithm {
  peers,     // one kernel writes the words to the other ranks' slots, waits for theirs, and combines
  gathered,  // NCCL gathers the words, then a kernel combines
};

struct TeamReducePlan {
  TeamReduceAlgorithm algorithm = TeamReduceAlgorithm::gathered;
  const char* reason = "";
  TeamReduceRequest request{};
  unsigned threads = 1;           // of the kernel that combines: one block
  std::size_t gatheredBytes = 0;  // scratch memory for all contributions
};
template <>
inline constexpr bool isPlan<TeamReducePlan> = true;

// A thread for each word of all ranks, or as many as there may be.
constexpr unsigned exchangeBlock(unsigned words, int ranks) {
  const std::size_t threads = roundUp(std::size_t{words} * static_cast<unsigned>(ranks), 32);
  return static_cast<unsigned>(smallerOf(threads, std::size_t{exchangeThreads}));
}

inline TeamReducePlan planTeamReduce(const TeamReduceRequest& r) {
  if (r.usesPeers && r.words <= maxPeerWords)
    return {TeamReduceAlgorithm::peers, "the ranks reach each other's memory", r, exchangeBlock(r.words, r.ranks), 0};
  return {TeamReduceAlgorithm::gathered,
          r.usesPeers ? "a partial result has more words than a slot" : "the ranks do not reach each other's memory", r,
          1, std::size_t{r.words} * sizeof(unsigned) * static_cast<unsigned>(r.ranks)};
}

inline std::string planInWords(const TeamReducePlan& plan) {
  const TeamReduceRequest& r = plan.request;
  const bool isByPeers = plan.algorithm == TeamReduceAlgorithm::peers;
  const std::size_t ownBytes = std::size_t{r.words} * sizeof(unsigned);
  const std::size_t allBytes = ownBytes * static_cast<unsigned>(r.ranks);
  return inWords(
      {message({isByPeers ? "one kernel exchanges " : "NCCL gathers ", r.words, " words of each of ", r.ranks,
                r.ranks == 1 ? " rank" : " ranks", isByPeers ? " and combines them" : ", a kernel combines them"}),
       plan.reason, 1, plan.threads, allBytes, allBytes});
}

// One partial result for each column, of each rank.
struct TeamColumnsRequest {
  int ranks = 1;
  std::size_t cols = 0;
  std::size_t partialBytes = 1;
  std::size_t resultBytes = 0;
};
template <>
inline constexpr bool isPlan<TeamColumnsRequest> = true;

struct TeamColumnsPlan {
  const char* reason = "no columns";
  TeamColumnsRequest request{};
  std::size_t ownBytes = 0;  // the partial results of a rank
  std::size_t gatheredBytes = 0;
  std::size_t blocks = 0;  // of the kernel that combines
};
template <>
inline constexpr bool isPlan<TeamColumnsPlan> = true;

inline TeamColumnsPlan planTeamColumns(const TeamColumnsRequest& r) {
  if (r.cols == 0) return {"no columns", r};
  const std::size_t own = r.cols * r.partialBytes;
  return {"all ranks need the partial results of all columns", r, own, own * static_cast<unsigned>(r.ranks),
          ceilDivide(r.cols, combineColumnsThreads)};
}

inline std::string planInWords(const TeamColumnsPlan& plan) {
  const TeamColumnsRequest& r = plan.request;
  if (plan.blocks == 0) return inWords({"", plan.reason});
  return inWords({message({"NCCL gathers ", plan.ownBytes, " bytes of each of ", r.ranks,
                           r.ranks == 1 ? " rank" : " ranks", ", a kernel combines them"}),
                  plan.reason, plan.blocks, combineColumnsThreads, plan.gatheredBytes, r.cols * r.resultBytes});
}

GPUOPT_DETAIL_END
