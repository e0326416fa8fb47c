/// Columns of matrices whose rows are on several ranks.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <string>
#include <vector>

namespace distributed_columns_test {

using gpuopt::MatrixView;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::allRight;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::rankCounts;
using gpuopt::test::someRanks;

constexpr std::size_t COLS = 77, LD = 80;

std::size_t rowsOf(int rank) { return rank % 3 == 2 ? 0 : 19 + static_cast<std::size_t>(rank); }

// The rows of a rank, with gaps that are not read.
std::vector<int> rowsOfRank(int rank) {
  std::vector<int> values(rowsOf(rank) * LD, 1 << 20);
  for (std::size_t r = 0; r < rowsOf(rank); ++r)
    for (std::size_t c = 0; c < COLS; ++c)
      values[r * LD + c] = static_cast<int>((r * 37 + c * 11 + static_cast<std::size_t>(rank) * 5) % 1013);
  return values;
}

template <class Combine>
std::vector<int> expectedOf(int ranks, int start, Combine combine) {
  std::vector<int> results(COLS, start);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> values = rowsOfRank(rank);
    for (std::size_t r = 0; r < rowsOf(rank); ++r)
      for (std::size_t c = 0; c < COLS; ++c) results[c] = combine(results[c], values[r * LD + c]);
  }
  return results;
}

TeamOptions pathOf(bool usesPeers) { return {usesPeers, std::chrono::milliseconds(2000)}; }

struct Xor {
  __host__ __device__ int operator()(int a, int b) const { return a ^ b; }
};

TEST_CASE("columns of the rows of all ranks") {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      CAPTURE(ranks, usesPeers);
      const auto sums = expectedOf(ranks, 0, [](int a, int b) { return a + b; });
      const auto most = expectedOf(ranks, 500, [](int a, int b) { return a < b ? b : a; });
      const auto xors = expectedOf(ranks, 0, Xor{});
      REQUIRE(onRanks(ranks, [&](Rank& rank) {
                Team team(rank.comm, pathOf(usesPeers));
                const DeviceArray<int> in(rowsOfRank(rank.number));
                const std::size_t rows = rowsOf(rank.number);
                DeviceArray<int> first(COLS), second(COLS), third(COLS), fourth(COLS);
                gpuopt::distributed::reduceColumns(team, in.data(), rows, COLS, LD, first.data(), rank.stream);
                gpuopt::distributed::reduceColumns(team, in.data(), rows, COLS, LD, second.data(), gpuopt::Maximum{},
                                                   500, rank.stream);
                gpuopt::distributed::reduceColumns(team, in.data(), rows, COLS, LD, third.data(), Xor{}, rank.stream);
                gpuopt::distributed::reduceColumns(team, MatrixView<const int>{in.data(), rows, COLS, LD}, fourth,
                                                   gpuopt::Plus{}, rank.stream);
                rank.wait();
                team.check();
                return first.toHost() == sums && second.toHost() == most && third.toHost() == xors &&
                       fourth.toHost() == sums;
              }) == allRight(ranks));
    }
}

TEST_CASE("one rank with wrong columns, no rows at all") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  const std::string name = "gpuopt::distributed::reduceColumns: ";
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    std::vector<std::string> expected(static_cast<std::size_t>(ranks),
                                      name + "rank " + std::to_string(last) + " refused its arguments");
    expected.back() = name + "ld (3) is less than cols (77)";
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              Team team(rank.comm, pathOf(usesPeers));
              const DeviceArray<int> in(rowsOfRank(0));
              DeviceArray<int> out(COLS);
              gpuopt::distributed::reduceColumns(team, in.data(), 2, COLS, rank.number == last ? 3 : LD, out.data(),
                                                 rank.stream);
              return false;
            }) == expected);
    const std::string empty =
        "gpuopt::distributed::Team: no rank has elements, and the operation has no known identity: pass init";
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              Team team(rank.comm, pathOf(usesPeers));
              DeviceArray<int> out(COLS);
              const int* const none = nullptr;
              gpuopt::distributed::reduceColumns(team, none, 0, COLS, LD, out.data(), Xor{}, rank.stream);
              rank.wait();
              team.check();
              return false;
            }) == std::vector<std::string>(static_cast<std::size_t>(ranks), empty));
  }
}

}  // namespace distributed_columns_test
