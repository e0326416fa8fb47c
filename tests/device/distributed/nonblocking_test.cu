/// Non-blocking communicators: NCCL's calls return before it has queued anything, and the results are the same.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace distributed_nonblocking_test {

using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::test::allRight;
using gpuopt::test::CommMode;
using gpuopt::test::DeferredWork;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::someRanks;

// Row r of a matrix of n x n elements, on rank r.
std::vector<int> rowOf(int rank, int n) {
  std::vector<int> row;
  for (int i = 0; i < n; ++i) row.push_back(rank * 100 + i * i);
  return row;
}

std::vector<int> columnOf(int column, int n) {
  std::vector<int> values;
  for (int rank = 0; rank < n; ++rank) values.push_back(rowOf(rank, n)[static_cast<std::size_t>(column)]);
  return values;
}

bool reducesRight(Team& team, Rank& rank) {
  const int ranks = rank.count;
  const DeviceArray<int> row(rowOf(rank.number, ranks));
  const auto n = static_cast<std::size_t>(ranks);
  DeviceArray<int> largest(1), sums(n);
  int sum = 0;
  std::vector<int> columns(n, 0);
  for (int r = 0; r < ranks; ++r)
    for (std::size_t c = 0; c < n; ++c) {
      sum += rowOf(r, ranks)[c];
      columns[c] += rowOf(r, ranks)[c];
    }
  gpuopt::distributed::reduceInto(team, row.data(), n, largest.data(), gpuopt::Maximum{}, rank.stream);
  gpuopt::distributed::reduceColumns(team, row.data(), 1, n, sums.data(), rank.stream);
  team.barrier(rank.stream);
  const int reduced = gpuopt::distributed::reduce(team, row.data(), n, rank.stream);
  rank.wait();
  team.check();
  return reduced == sum && largest.toHost()[0] == rowOf(ranks - 1, ranks).back() && sums.toHost() == columns;
}

bool transposesRight(Team& team, Rank& rank) {
  const auto n = static_cast<std::size_t>(rank.count);
  const std::vector<int> values = rowOf(rank.number, rank.count), expected = columnOf(rank.number, rank.count);
  const DeviceArray<int> row(values);
  DeviceArray<int> column(n);
  SymmetricVector<int> symmetric(team, n);
  gpuopt::test::checkCuda(cudaMemcpy(symmetric.data(), values.data(), n * sizeof(int), cudaMemcpyHostToDevice),
                          "cudaMemcpy");
  for (int call = 0; call < 3; ++call) {
    gpuopt::distributed::transpose(team, row.data(), column.data(), n, n, rank.stream);
    rank.wait();
    if (column.toHost() != expected) return false;
  }
  gpuopt::distributed::transpose(team, symmetric, column.data(), n, n, rank.stream);
  rank.wait();
  team.check();
  return column.toHost() == expected;
}

TEST_CASE("every call is right on a non-blocking communicator, at once and deferred") {
  const int ranks = someRanks(4);
  for (const bool isDeferred : {false, true})
    for (const bool usesPeers : {true, false}) {
      CAPTURE(isDeferred, usesPeers);
      std::optional<DeferredWork> deferred;
      if (isDeferred) deferred.emplace();
      const auto work = [usesPeers](Rank& rank) {
        Team team(rank.comm, {usesPeers});
        return reducesRight(team, rank) && transposesRight(team, rank);
      };
      CHECK(onRanks(ranks, work, CommMode::nonBlocking) == allRight(ranks));
    }
}

TEST_CASE("a rank that refuses its arguments is an error of all on a non-blocking communicator") {
  const int ranks = someRanks(), last = ranks - 1;
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    const auto work = [=](Rank& rank) {
      Team team(rank.comm, {usesPeers});
      const DeviceArray<int> part(std::vector<int>{rank.number});
      int failures = 0;
      try {
        const int* const in = rank.number == last ? nullptr : part.data();
        static_cast<void>(gpuopt::distributed::reduce(team, in, 1, rank.stream));
      } catch (const TeamError& error) {
        failures += error.rank() == last ? 1 : 0;
      } catch (const std::invalid_argument&) {
        failures += rank.number == last ? 1 : 0;
      }
      return failures == 1 && gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) == ranks * (ranks - 1) / 2;
    };
    CHECK(onRanks(ranks, work, CommMode::nonBlocking) == allRight(ranks));
  }
}

TEST_CASE("a team waits for a communicator that NCCL is still making") {
  const int ranks = someRanks();
#if GPUOPT_EMULATION
  gpuopt::emulation::setDeviceCount(ranks);
#endif
  ncclUniqueId id{};
  gpuopt::test::checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<int> sums(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks; ++number)
    threads.emplace_back([&, number] {
      gpuopt::test::checkCuda(cudaSetDevice(number), "cudaSetDevice");
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * number));
      const ncclComm_t comm = gpuopt::test::startComm(id, number, ranks);
      {
        Team team(comm);
        const DeviceArray<int> part(std::vector<int>{number + 1});
        sums[static_cast<std::size_t>(number)] = gpuopt::distributed::reduce(team, part.data(), 1);
      }
      gpuopt::test::checkNccl(ncclCommDestroy(comm), "ncclCommDestroy");
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(sums == std::vector<int>(static_cast<std::size_t>(ranks), ranks * (ranks + 1) / 2));
}

}  // namespace distributed_nonblocking_test
