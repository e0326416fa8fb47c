/// \file
/// How the partial results of ranks come together: plans without a device, and what the calls explain.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace distributed_plan_test {

using gpuopt::detail::planInWords;
using gpuopt::detail::planTeamColumns;
using gpuopt::detail::planTeamReduce;
using gpuopt::detail::SlabAlgorithm;
using gpuopt::detail::SlabPlan;
using gpuopt::detail::SlabRequest;
using gpuopt::detail::TeamColumnsPlan;
using gpuopt::detail::TeamColumnsRequest;
using gpuopt::detail::TeamReduceAlgorithm;
using gpuopt::detail::TeamReducePlan;
using gpuopt::detail::TeamReduceRequest;
using gpuopt::distributed::Team;
using gpuopt::test::allRight;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;

TEST_CASE("Plans of distributed reductions") {
  constexpr auto PEERS = TeamReduceAlgorithm::peers, GATHERED = TeamReduceAlgorithm::gathered;
  const char *const reach = "the ranks reach each other's memory",
                    *const large = "a partial result has more words than a slot",
                    *const alone = "the ranks do not reach each other's memory";
  const TeamReducePlan plans[] = {
      {PEERS, reach, {1, true, 4}, 32, 0},         {PEERS, reach, {2, true, 4}, 32, 0},
      {PEERS, reach, {8, true, 5}, 64, 0},         {PEERS, reach, {8, true, 16}, 128, 0},
      {PEERS, reach, {8, true, 17}, 128, 0},       {PEERS, reach, {2, true, 64}, 128, 0},
      {GATHERED, large, {2, true, 65}, 1, 520},    {GATHERED, alone, {2, false, 4}, 1, 32},
      {GATHERED, alone, {16, false, 65}, 1, 4160},
  };
  for (const TeamReducePlan& plan : plans) {
    INFO(planInWords(plan));
    CHECK(planTeamReduce(plan.request) == plan);
  }
  CHECK(planTeamReduce({2, true, 4}) != planTeamReduce({2, true, 5}));
  CHECK(
      planInWords(plans[1]) ==
      "one kernel exchanges 4 words of each of 2 ranks and combines them, 1 block of 32 threads: the ranks reach each "
      "other's memory; reads 32 bytes, writes 32");
  CHECK(planInWords(plans[7]) ==
        "NCCL gathers 4 words of each of 2 ranks, a kernel combines them, 1 block of 1 thread: the ranks do not reach "
        "each "
        "other's memory; reads 32 bytes, writes 32");
}

TEST_CASE("Plans of distributed reductions of columns") {
  const char* const all = "all ranks need the partial results of all columns";
  const TeamColumnsPlan plans[] = {{"no columns", {4, 0, 8, 4}, 0, 0, 0},
                                   {all, {1, 1, 8, 4}, 8, 8, 1},
                                   {all, {4, 256, 8, 4}, 2048, 8192, 1},
                                   {all, {4, 257, 8, 4}, 2056, 8224, 2}};
  for (const TeamColumnsPlan& plan : plans) {
    INFO(planInWords(plan));
    CHECK(planTeamColumns(plan.request) == plan);
  }
  CHECK(planInWords(plans[0]) == "nothing to launch: no columns");
  CHECK(
      planInWords(plans[3]) ==
      "NCCL gathers 2056 bytes of each of 4 ranks, a kernel combines them, 2 blocks of 256 threads: all ranks need the "
      "partial results of all columns; reads 8224 bytes, writes 1028");
}

TEST_CASE("Whole plans of slabs") {
  constexpr std::size_t MIB = std::size_t{1} << 20;
  struct Row {
    SlabRequest request;
    SlabPlan plan;
  };
  const Row rows[] = {
      {{2, true, true, true, false, true, true, true, 0, 0, 1}, {SlabAlgorithm::nothing, 0, "there are no elements"}},
      {{1, true, true, true, false, true, true, false, MIB, 64, 1}, {SlabAlgorithm::local, 1, "there is one rank"}},
      {{2, true, true, false, true, true, true, false, MIB, 64, 1},
       {SlabAlgorithm::tiles, 1, "in is in symmetric memory"}},
      {{2, true, false, true, true, true, true, false, MIB, 64, 1},
       {SlabAlgorithm::tiles, 1, "out is in symmetric memory", false, true}},
      {{4, false, false, true, true, true, true, false, 512 * MIB, 64, 1},
       {SlabAlgorithm::messages, 4, "the ranks do not reach each other's memory"}},
      {{2, true, true, true, false, true, true, false, 256 * MIB, 64, 1},
       {SlabAlgorithm::copies, 2, "slabs of 268435456 bytes reach 134217728"}},
  };
  for (const Row& row : rows) {
    SlabRequest request = row.request;
    request.nodes = request.usesPeers ? 1 : request.ranks;
    const SlabPlan plan = planSlabs(request, gpuopt::detail::SlabTuning{});
    INFO(planInWords(plan));
    CHECK(plan == row.plan);
  }
}

// What rank 0 of two explains.
std::vector<std::string> explained(bool usesPeers) {
  std::vector<std::string> texts;
  CHECK(onRanks(2, [&](Rank& rank) {
          Team team(rank.comm, {usesPeers});
          DeviceArray<float> data(100), out(100);
          const std::vector<std::string> own = {explainReduce(team, data.data(), rank.number == 0 ? 0 : 100),
                                                explainReduce(team, data.data(), 100, gpuopt::Maximum{}),
                                                explainReduceColumns(team, data.data(), 10, 10, 10),
                                                explainRedistribute(team, data.data(), out.data(), 4, 8),
                                                explainRedistributeToRows(team, data.data(), out.data(), 4, 8)};
          if (rank.number == 0) texts = own;
          return true;
        }) == allRight(2));
  return texts;
}

TEST_CASE("explainReduce of ranks names the local kernel and the exchange") {
  if (gpuopt::test::maxRanks() < 2) return;
  const std::vector<std::string> byNccl = explained(false), byPeers = explained(true);
  REQUIRE(byNccl.size() == 5);
  REQUIRE(byPeers.size() == 5);
  const std::string exchange = "; then one kernel exchanges ", gather = "; then NCCL gathers ";
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(byPeers[i].find("one tile, by vectors, 1 block of 128 threads: one block takes the input at once") == 0);
    CHECK(byPeers[i].find(exchange) != std::string::npos);
    CHECK(byNccl[i].find(gather) != std::string::npos);
  }
  CHECK(
      byPeers[1] ==
      "one tile, by vectors, 1 block of 128 threads: one block takes the input at once; reads 400 bytes, writes 4; "
      "then "
      "one kernel exchanges 4 words of each of 2 ranks and combines them, 1 block of 32 threads: the ranks reach each "
      "other's memory; reads 32 bytes, writes 32");
  CHECK(byPeers[2] == byNccl[2]);
  CHECK(byPeers[2].find(gather) != std::string::npos);
  CHECK(byPeers[3] == "NCCL sends and receives: in is not in symmetric memory");
  CHECK(byPeers[4] == byPeers[3]);
  CHECK(byNccl[3] == "NCCL sends and receives: the ranks do not reach each other's memory");
}

}  // namespace distributed_plan_test
