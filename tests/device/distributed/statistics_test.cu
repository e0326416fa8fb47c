/// Extremes, their indices and moments over the parts of several ranks.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>
#include <gpuopt/reduce.cuh>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace distributed_statistics_test {

using gpuopt::distributed::Team;
using gpuopt::test::allRight;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::rankCounts;

// Parts of 500, 0, 500, 0, ... elements: the smallest value, -40, occurs in several, the largest, 41, too.
std::vector<float> partOf(int rank) {
  std::vector<float> values;
  for (int i = 0; rank % 2 == 0 && i < 500; ++i) values.push_back(static_cast<float>((i * 37 + rank) % 82 - 40));
  return values;
}

std::vector<float> allParts(int ranks) {
  std::vector<float> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<float> part = partOf(rank);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

template <class Check>
void onBothPaths(Check check) {
  for (const int ranks : rankCounts())
    for (const bool usesPeers : {true, false}) {
      CAPTURE(ranks, usesPeers);
      REQUIRE(onRanks(ranks, [&](Rank& rank) {
                Team team(rank.comm, {usesPeers});
                const DeviceArray<float> part(partOf(rank.number));
                return check(team, part, rank.stream, allParts(ranks));
              }) == allRight(ranks));
    }
}

TEST_CASE("extremes of all ranks, and the first index of all") {
  onBothPaths([](Team& team, const DeviceArray<float>& part, cudaStream_t stream, const std::vector<float>& all) {
    const auto least = std::min_element(all.begin(), all.end()), greatest = std::max_element(all.begin(), all.end());
    DeviceArray<gpuopt::ArgResult<float>> out(2);
    DeviceArray<gpuopt::MinMax<float>> both(1);
    gpuopt::distributed::argMinInto(team, part.data(), part.size(), out.data(), stream);
    gpuopt::distributed::argMaxInto(team, part.data(), part.size(), out.data() + 1, stream);
    gpuopt::distributed::minMaxInto(team, part.data(), part.size(), both.data(), stream);
    const auto first = gpuopt::distributed::argMin(team, part.data(), part.size(), stream);
    const auto last = gpuopt::distributed::argMax(team, part.data(), part.size(), stream);
    const auto range = gpuopt::distributed::minMax(team, part.data(), part.size(), stream);
    const auto stored = out.toHost();
    const auto index = [&](auto at) { return static_cast<std::size_t>(at - all.begin()); };
    return first.value == *least && first.index == index(least) && last.value == *greatest &&
           last.index == index(greatest) && range.minimum == *least && range.maximum == *greatest &&
           stored[0].index == first.index && stored[1].index == last.index && stored[1].value == *greatest &&
           both.toHost()[0].maximum == *greatest;
  });
}

TEST_CASE("number, mean and variance of all ranks") {
  onBothPaths([](Team& team, const DeviceArray<float>& part, cudaStream_t stream, const std::vector<float>& all) {
    double mean = 0, squares = 0;
    for (const float x : all) mean += static_cast<double>(x) / static_cast<double>(all.size());
    for (const float x : all) squares += (x - mean) * (x - mean);
    DeviceArray<gpuopt::MeanVariance<double>> out(1);
    gpuopt::distributed::meanVarianceInto<double>(team, part.data(), part.size(), out.data(), stream);
    const auto result = gpuopt::distributed::meanVariance<double>(team, part.data(), part.size(), stream);
    const double variance = squares / static_cast<double>(all.size());
    return result.count == all.size() && std::fabs(result.mean - mean) < 1e-9 &&
           std::fabs(result.variance - variance) < 1e-9 * variance && out.toHost()[0].count == all.size() &&
           out.toHost()[0].variance == result.variance;
  });
}

TEST_CASE("no elements on any rank") {
  const int ranks = rankCounts().back();
  REQUIRE(onRanks(ranks, [](Rank& rank) {
            Team team(rank.comm);
            const float* const none = nullptr;
            const auto range = gpuopt::distributed::minMax(team, none, 0, rank.stream);
            const auto least = gpuopt::distributed::argMin(team, none, 0, rank.stream);
            const auto moments = gpuopt::distributed::meanVariance(team, none, 0, rank.stream);
            return range.minimum == std::numeric_limits<float>::infinity() && least.index == least.none &&
                   moments.count == 0 && gpuopt::distributed::reduce(team, none, 0, rank.stream) == 0;
          }) == allRight(ranks));
}

}  // namespace distributed_statistics_test
