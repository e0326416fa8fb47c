/// Teams whose ranks are on several nodes: who sends what, what is explained, and what happens if a rank does not come.
/// tests/device/distributed/transpose_test.cu has the matrices. Nodes need several GPUs each: on the emulated device
/// alone.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#ifdef GPUOPT_EMULATION

#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>
#include <gpuopt/launch.cuh>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace distributed_nodes_test {

using gpuopt::detail::RankNodes;
using gpuopt::distributed::explainTranspose;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::test::allRight;
using gpuopt::test::DeferredWork;
using gpuopt::test::DeviceArray;
using gpuopt::test::NodeScope;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;

TEST_CASE("a node sends one message to each rank of another, with the blocks of all of its ranks") {
  const RankNodes nodes({7, 4, 7, 4, 4, 9});  // ranks 0 and 2, ranks 1, 3 and 4, rank 5
  CHECK(nodes.count() == 3);
  CHECK(nodes.ranks(3) == std::vector<int>{1, 3, 4});
  CHECK(nodes.indexOf(4) == 2);
  CHECK(nodes.areTogether(0, 2));
  CHECK_FALSE(nodes.areTogether(0, 5));
  using Layout = gpuopt::detail::SlabLayout<float, float, gpuopt::detail::SlabMove::transpose>;
  const Layout layout{Slabs::even(60, 6), Slabs::even(30, 6), 1, 30, 0, 60, 0};
  std::set<std::tuple<int, int>> blocks;
  for (int rank = 0; rank < 6; ++rank) {
    std::size_t sent = 0;
    std::set<int> receivers;
    for (const auto& message : messagesOf(layout, {nodes, rank, 6, true}, true, 0, 1, sent)) {
      CHECK(receivers.insert(message.peer).second);
      CHECK(message.pieces.size() == nodes.ranks(rank).size());
      for (const auto& piece : message.pieces) CHECK(blocks.insert({piece.from, piece.to}).second);
    }
  }
  CHECK(blocks.size() == 2 * 4 + 3 * 3 + 1 * 5);  // those between nodes, each once
}

TEST_CASE("the ranks of a node share its messages") {
  const RankNodes nodes({0, 0, 1, 1, 1});
  std::vector<int> senders;
  for (const int to : {2, 3, 4}) senders.push_back(nodes.sender(0, to));
  CHECK(senders == std::vector<int>{0, 1, 0});
  CHECK(nodes.sender(4, 1) == 3);
}

TEST_CASE("short blocks are gathered") {
  const auto plan = [](std::size_t slabBytes, int nodes) {
    gpuopt::detail::SlabRequest shape{16, false, true, false, true, true, true, false, slabBytes, 4096, 1};
    shape.nodes = nodes;
    return planSlabs(shape, gpuopt::detail::SlabTuning{});
  };
  using Algorithm = gpuopt::detail::SlabAlgorithm;
  const std::size_t limit = 16 * 240000;
  CHECK(plan(limit, 2).algorithm == Algorithm::levels);
  CHECK(plan(limit, 2).gathers);
  CHECK_FALSE(plan(limit + 16, 2).gathers);
  CHECK(plan(limit, 16).algorithm == Algorithm::messages);
  CHECK(planInWords(plan(16 << 20, 2)) ==
        "kernels read the ranks' memory within nodes, NCCL sends between them: in is in symmetric memory, 16 ranks are "
        "on 2 nodes, and blocks of about 1048576 bytes need not be gathered");
}

TEST_CASE("ranks that do not all reach each other are no node") {
  CHECK(RankNodes::alone(3).count() == 3);
  const NodeScope scope(2);
  CHECK(onRanks(5, [](Rank& rank) {
          return Team(rank.comm).nodes() == 3 && !Team(rank.comm).usesPeerAccess() &&
                 Team(rank.comm, {false}).nodes() == 5;
        }) == allRight(5));
  const NodeScope all(gpuopt::emulation::MAX_DEVICES);
  CHECK(onRanks(3, [](Rank& rank) { return Team(rank.comm).nodes() == 1 && Team(rank.comm).usesPeerAccess(); }) ==
        allRight(3));
}

TEST_CASE("explainTranspose tells of nodes") {
  const NodeScope scope(2);
  std::vector<std::string> texts(2);
  CHECK(onRanks(4, [&](Rank& rank) {
          Team team(rank.comm);
          const SymmetricVector<float> in(team, 100);
          DeviceArray<float> out(200);
          if (rank.number > 0) return true;
          texts = {explainTranspose(team, in, out.data(), 8, 8),
                   explainTranspose(team, out.data() + 100, out.data(), 8, 8)};
          return true;
        }) == allRight(4));
  CHECK(texts ==
        std::vector<std::string>{"kernels read the ranks' memory within nodes, NCCL sends between them: in is in "
                                 "symmetric memory, 4 ranks are on 2 nodes, and blocks of about 16 bytes are gathered "
                                 "in each",
                                 "NCCL sends and receives: in is not in symmetric memory"});
}

__global__ void fillRows(int* in, int first, int n, int call) {
  for (int i = 0; i < n; ++i) in[i] = (first + i) * 7 + call * 100003;
}
__global__ void countWrong(const int* out, int firstCol, int n, int rows, int cols, int call, int* wrong) {
  for (int i = 0; i < n; ++i)
    if (out[i] != (i % rows * cols + firstCol + i / rows) * 7 + call * 100003) ++*wrong;
}
__global__ void sleepLong() {
  const long long start = clock64();
  while (clock64() - start < 10000000) __nanosleep(100000);
}

// Fills, transposes and compares in the same memory. The last rank is late to fill, in each second call.
bool isRightInARow(Rank& rank, int calls) {
  constexpr int ROWS = 21, COLS = 35;
  Team team(rank.comm);
  const Slabs rows = Slabs::even(ROWS, rank.count), cols = Slabs::even(COLS, rank.count);
  SymmetricVector<int> in(team, rows.largest() * COLS);
  DeviceArray<int> out(cols.largest() * ROWS), wrong(std::vector<int>{0});
  gpuopt::LaunchConfig config;
  config.stream = rank.stream;
  for (int call = 0; call < calls; ++call) {
    if (rank.number == rank.count - 1 && call % 2 == 1) gpuopt::launch(sleepLong, config);
    gpuopt::launch(fillRows, config, in.data(), static_cast<int>(rows.first(rank.number)) * COLS,
                   static_cast<int>(rows.size(rank.number)) * COLS, call);
    gpuopt::distributed::transpose(team, in, out.data(), ROWS, COLS, rank.stream);
    gpuopt::launch(countWrong, config, out.data(), static_cast<int>(cols.first(rank.number)),
                   static_cast<int>(cols.size(rank.number)) * ROWS, ROWS, COLS, call, wrong.data());
  }
  rank.wait();
  team.check();
  return wrong.toHost()[0] == 0;
}

TEST_CASE("transpositions between nodes in a row, with a late rank and without a wait of the host") {
  const NodeScope scope(2);
  CHECK(onRanks(4, [](Rank& rank) { return isRightInARow(rank, 30); }) == allRight(4));
  const DeferredWork deferred;
  CHECK(onRanks(4, [](Rank& rank) { return isRightInARow(rank, 6); }) == allRight(4));
}

TEST_CASE("sums and barriers of teams on several nodes go by NCCL") {
  const NodeScope scope(2);
  CHECK(onRanks(5, [](Rank& rank) {
          Team team(rank.comm);
          const DeviceArray<int> part(std::vector<int>{rank.number});
          DeviceArray<int> sums(1);
          team.barrier(rank.stream);
          gpuopt::distributed::reduceColumns(team, part.data(), 1, 1, sums.data(), rank.stream);
          rank.wait();
          return gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) == 10 && sums.toHost()[0] == 10;
        }) == allRight(5));
}

TEST_CASE("a rank that does not come to a barrier of its node is named by its number in the team", "[sweep]") {
  const NodeScope scope(2);
  const auto outcomes = onRanks(4, [](Rank& rank) {
    Team team(rank.comm, {true, std::chrono::milliseconds(200)});
    auto& state = gpuopt::detail::TeamAccess::of(team);
    if (rank.number != 3) state.meet(1, rank.stream);
    if (rank.number == 3) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    rank.wait();
    team.check();
    return true;
  });
  CHECK(outcomes ==
        std::vector<std::string>{"right", "right", "gpuopt::distributed::Team: rank 3 did not come in time", "right"});
}

}  // namespace distributed_nodes_test

#endif
