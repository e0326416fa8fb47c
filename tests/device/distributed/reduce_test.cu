/// Reductions over the parts of several ranks: results, their bits, and their order, by both paths.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <cstdint>
#include <numeric>
#include <vector>

namespace distributed_reduce_test {

using gpuopt::distributed::Team;
using gpuopt::test::allRight;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::rankCounts;

// Elements of a rank: some have none, and their numbers are on both sides of the boundaries of warps and tiles.
std::size_t sizeOf(int rank) {
  constexpr std::size_t SIZES[] = {1000, 0, 1, 4097, 33, 0, 70001, 257};
  return SIZES[rank % 8];
}

template <class T>
std::vector<T> partOf(int rank, unsigned salt = 0) {
  std::vector<T> values;
  std::uint32_t state = 12345u + static_cast<unsigned>(rank) * 7919u + salt * 104729u;
  for (std::size_t i = 0; i < sizeOf(rank); ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<T>(static_cast<int>(state >> 16) - 32768));
  }
  return values;
}

template <class T>
std::vector<T> allParts(int ranks, unsigned salt = 0) {
  std::vector<T> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<T> part = partOf<T>(rank, salt);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

long long sumOf(int ranks, unsigned salt = 0) {
  const std::vector<int> all = allParts<int>(ranks, salt);
  return std::accumulate(all.begin(), all.end(), 0LL);
}

// A function x -> a * x + b of integers that wrap around; applied one after the other, which does not commute.
struct Affine {
  unsigned a, b;
};
struct Then {
  __host__ __device__ Affine operator()(const Affine& first, const Affine& second) const {
    return {first.a * second.a, first.b * second.a + second.b};
  }
};

// Larger than what ranks write to each other's memory.
struct Large {
  int values[72];
};
struct AddLarge {
  __host__ __device__ Large operator()(const Large& a, const Large& b) const {
    Large sum{};
    for (int i = 0; i < 72; ++i) sum.values[i] = a.values[i] + b.values[i];
    return sum;
  }
};
struct ToLarge {
  __host__ __device__ Large operator()(int x) const {
    Large large{};
    for (int i = 0; i < 72; ++i) large.values[i] = x * i;
    return large;
  }
};

struct Square {
  __host__ __device__ double operator()(float x) const { return static_cast<double>(x) * static_cast<double>(x); }
};

TEST_CASE("ranks find their way to each other") {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      CAPTURE(ranks, usesPeers);
      REQUIRE(onRanks(ranks, [=](Rank& rank) {
                const Team team(rank.comm, {usesPeers});
                return team.rank() == rank.number && team.size() == ranks && team.communicator() == rank.comm &&
                       team.usesPeerAccess() == usesPeers;
              }) == allRight(ranks));
    }
}

TEST_CASE("every rank gets the sum of all parts, of uneven ones and none") {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      CAPTURE(ranks, usesPeers);
      const long long expected = sumOf(ranks);
      REQUIRE(onRanks(ranks, [=](Rank& rank) {
                Team team(rank.comm, {usesPeers});
                const DeviceArray<int> part(partOf<int>(rank.number), 1);
                DeviceArray<long long> out(1);
                gpuopt::distributed::reduceInto<long long>(team, part.data(), part.size(), out.data(), rank.stream);
                const auto returned =
                    gpuopt::distributed::reduce<long long>(team, part.data(), part.size(), rank.stream);
                const auto withInit = gpuopt::distributed::reduce<long long>(team, part.data(), part.size(),
                                                                             gpuopt::Plus{}, 1000LL, rank.stream);
                rank.wait();
                team.check();
                return returned == expected && withInit == expected + 1000 && out.toHost()[0] == expected;
              }) == allRight(ranks));
    }
}

TEST_CASE("sums of floats have the same bits on every rank, in every run and by both paths") {
  for (const int ranks : rankCounts()) {
    std::vector<float> sums(static_cast<std::size_t>(ranks) * 4);
    for (unsigned run = 0; run < 4; ++run)
      REQUIRE(onRanks(ranks, [&, run](Rank& rank) {
                Team team(rank.comm, {run % 2 == 0});
                const DeviceArray<float> part(partOf<float>(rank.number));
                sums[run * static_cast<unsigned>(ranks) + static_cast<unsigned>(rank.number)] =
                    gpuopt::distributed::reduce(team, part.data(), part.size(), rank.stream);
                return true;
              }) == allRight(ranks));
    for (const float sum : sums) REQUIRE(std::memcmp(&sum, sums.data(), sizeof sum) == 0);
  }
}

TEST_CASE("an operation that is not commutative sees the ranks in their order") {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      std::vector<Affine> all;
      std::vector<std::vector<Affine>> parts;
      for (int rank = 0; rank < ranks; ++rank) {
        parts.emplace_back();
        for (const int x : partOf<int>(rank))
          parts.back().push_back({static_cast<unsigned>(x) | 1, static_cast<unsigned>(x) * 7 + 3});
        all.insert(all.end(), parts.back().begin(), parts.back().end());
      }
      const Affine expected = std::accumulate(all.begin() + 1, all.end(), all.front(), Then{});
      REQUIRE(onRanks(ranks, [&](Rank& rank) {
                Team team(rank.comm, {usesPeers});
                const DeviceArray<Affine> part(parts[static_cast<std::size_t>(rank.number)]);
                const Affine result = gpuopt::distributed::reduce<gpuopt::DefaultAccumulator, gpuopt::InOrder>(
                    team, part.data(), part.size(), Then{}, rank.stream);
                return result.a == expected.a && result.b == expected.b;
              }) == allRight(ranks));
    }
}

TEST_CASE("results that are too large for the ranks' words go through NCCL") {
  const int ranks = rankCounts().back();
  const auto expected = static_cast<int>(sumOf(ranks)) * 71;
  REQUIRE(onRanks(ranks, [=](Rank& rank) {
            Team team(rank.comm);
            const DeviceArray<int> part(partOf<int>(rank.number));
            const Large sum = gpuopt::distributed::transformReduce(team, part.data(), part.size(), ToLarge{},
                                                                   AddLarge{}, rank.stream);
            return sum.values[0] == 0 && sum.values[71] == expected;
          }) == allRight(ranks));
}

TEST_CASE("functions of elements, products, containers and initial values of the device") {
  const int ranks = rankCounts().back();
  const std::vector<float> all = allParts<float>(ranks);
  double squares = 0;
  for (const float x : all) squares += Square{}(x);
  REQUIRE(onRanks(ranks, [=](Rank& rank) {
            Team team(rank.comm);
            const DeviceArray<float> part(partOf<float>(rank.number));
            const DeviceArray<double> start(std::vector<double>{0.5});
            DeviceArray<double> out(3);
            gpuopt::distributed::transformReduceInto(team, part.data(), part.size(), out.data(), Square{},
                                                     gpuopt::Plus{}, rank.stream);
            gpuopt::distributed::dotInto<double>(team, part.data(), part.data(), part.size(), out.data() + 1,
                                                 rank.stream);
            gpuopt::distributed::reduceInto<double>(team, part, out.data() + 2, gpuopt::Maximum{},
                                                    gpuopt::deviceValue(start.data()), rank.stream);
            rank.wait();
            const double product = gpuopt::distributed::dot<double>(team, part.data(), part.data(), part.size());
            const float largest = gpuopt::distributed::reduce(team, part, gpuopt::Maximum{}, rank.stream);
            const std::vector<double> values = out.toHost();
            return values[0] == squares && values[1] == squares && product == squares &&
                   values[2] == static_cast<double>(largest);
          }) == allRight(ranks));
}

// Sums of other data in each call, one after the other, once `others` are here; memory is freed once they are
// done.
bool sumsInARow(Rank& rank, bool usesPeers, unsigned calls, gpuopt::test::Meeting* others = nullptr) {
  Team team(rank.comm, {usesPeers});
  std::vector<long long> expected;
  std::vector<DeviceArray<int>> parts;
  DeviceArray<long long> out(calls);
  for (unsigned call = 0; call < calls; ++call) {
    const std::vector<int> value{static_cast<int>(call) * 100 + rank.number};
    parts.emplace_back(value);
    expected.push_back(static_cast<long long>(call) * 100 * rank.count + rank.count * (rank.count - 1) / 2);
  }
  if (others != nullptr) others[0].wait();
  for (unsigned call = 0; call < calls; ++call)
    gpuopt::distributed::reduceInto<long long>(team, parts[call].data(), 1, out.data() + call, rank.stream);
  rank.wait();
  if (others != nullptr) others[1].wait();
  team.check();
  return out.toHost() == expected;
}

TEST_CASE("hundreds of calls in a row, without a wait of the host", "[sweep]") {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      CAPTURE(ranks, usesPeers);
      REQUIRE(onRanks(ranks, [=](Rank& rank) { return sumsInARow(rank, usesPeers, 300); }) == allRight(ranks));
    }
}

TEST_CASE("two teams at once") {
  const int ranks = rankCounts().back();
  gpuopt::test::Meeting meetings[] = {gpuopt::test::Meeting(2 * ranks), gpuopt::test::Meeting(2 * ranks)};
  const auto sum = [&meetings](Rank& rank) { return sumsInARow(rank, true, 50, meetings); };
  std::vector<std::string> second;
  std::thread other([&] { second = onRanks(ranks, sum); });
  const auto first = onRanks(ranks, sum);
  other.join();
  REQUIRE(first == allRight(ranks));
  REQUIRE(second == allRight(ranks));
}

}  // namespace distributed_reduce_test
