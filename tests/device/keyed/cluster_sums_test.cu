/// reduceBy of few floating-point numbers, by one cluster of blocks: the bits of sums of many, at every boundary.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

namespace gpuopt::test::cluster_sums_test {
namespace {

// Numbers of very different magnitudes, some of them not finite; keys from -1 to bins + 1.
template <class A>
struct Pairs {
  std::vector<A> values;
  std::vector<int> keys;

  Pairs(std::size_t n, std::size_t bins, bool hasInfinities) {
    constexpr A INFINITE = std::numeric_limits<A>::infinity();
    const std::vector<unsigned> numbers = numbersBelow(2 * n, 1u << 20, Distribution::uniform, 7);
    for (std::size_t i = 0; i < n; ++i) {
      const A value = (static_cast<A>(numbers[2 * i]) - 500000) / static_cast<A>(1u << numbers[2 * i + 1] % 31);
      const bool isSpecial = hasInfinities && i % 97 == 5;
      values.push_back(!isSpecial ? value : i % 3 == 0 ? INFINITE - INFINITE : i % 3 == 1 ? INFINITE : -INFINITE);
      keys.push_back(static_cast<int>(numbers[2 * i + 1] % (bins + 3)) - 1);
    }
  }
};

template <class A>
bool sameBits(const std::vector<A>& a, const std::vector<A>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(A)) == 0;
}

template <class A, class Policy>
void checkSums(std::size_t n, std::size_t bins, bool hasInfinities, std::size_t offset) {
  INFO(n << " values of " << sizeof(A) << " bytes, " << bins << " bins, offset " << offset);
  if (!runsNextCase()) return;
  const Pairs<A> pairs(n, bins, hasInfinities);
  const DeviceArray<A> values(pairs.values, offset);
  const DeviceArray<int> keys(pairs.keys, offset);
  std::vector<A> before;
  for (std::size_t b = 0; b < bins; ++b) before.push_back(static_cast<A>(b % 50) / 7);
  DeviceArray<A> out(before), expected(before);
  reduceBy<Policy>(values.data(), n, keys.data(), bins, out.data());
  const auto source = detail::sourceOf<false>("test", n, detail::KeyedByInput<A>{static_cast<unsigned>(bins)},
                                              values.data(), keys.data());
  const detail::ReduceByCall<A> call{"test", nullptr, n, static_cast<unsigned>(bins), expected.data()};
  detail::KeyedTuning withoutClusters;
  withoutClusters.clusterValues = 0;
  detail::reduceByUpdate<Policy>(call, source, detail::updateOf<Policy, A>(Plus{}), withoutClusters);
  CHECK(sameBits(out.toHost(), expected.toHost()));
}

template <class A>
void checkSums(std::size_t n, std::size_t bins) {
  checkSums<A, ReduceByPolicy>(n, bins, false, 0);
  checkSums<A, ReduceByPolicy>(n, bins, true, 1);
  checkSums<A, CombineWithOut>(n, bins, false, 2);
}

}  // namespace

TEST_CASE("reduceBy: sums of few values have the bits of the kernels for many", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 1000, 5001}) {
    checkSums<float>(n, 37);
    checkSums<double>(n, 1025);
  }
}

TEST_CASE("reduceBy: sums at the limits of one cluster", "[device][sweep]") {
  for (const std::size_t n :
       {detail::maxLoneValues, detail::maxLoneValues + 1, detail::maxOneBlockValues, detail::maxOneBlockValues + 1,
        std::size_t{30001}, detail::maxClusterValues, detail::maxClusterValues + 1})
    for (const std::size_t bins : {std::size_t{1}, detail::maxClusterBins, detail::maxClusterBins + 1}) {
      checkSums<float>(n, bins);
      checkSums<double>(n, bins);
    }
}

detail::KeyedPlan planned(std::size_t n, std::size_t bins, bool hasClusters, bool hasLargeClusters = true) {
  detail::KeyedRequest request;
  request.n = n;
  request.slots = bins;
  request.elementBytes = 8;
  request.cell = detail::wordCell<detail::FixedPointSum<float>, float>();
  request.sharedBytes = 227 << 10;
  request.multiprocessors = 132;
  request.hasClusters = hasClusters;
  request.hasLargeClusters = hasClusters && hasLargeClusters;
  return detail::planKeyed(request);
}

TEST_CASE("reduceBy: which sums one cluster makes, of how many blocks", "[host]") {
  constexpr std::size_t ALL = detail::maxClusterValues, BINS = detail::maxClusterBins;
  constexpr std::size_t FEW = detail::maxFewClusterValues;
  const auto blocks = [](std::size_t n, std::size_t bins, bool hasClusters, bool hasLargeClusters = true) {
    const detail::KeyedPlan plan = planned(n, bins, hasClusters, hasLargeClusters);
    return plan.algorithm == detail::KeyedAlgorithm::cluster ? plan.blocks : std::size_t{0};
  };
  for (const bool hasClusters : {false, true}) {
    const std::size_t one = hasClusters ? detail::maxLoneValues : detail::maxOneBlockValues;
    CHECK(blocks(0, 1, hasClusters) == 0);
    CHECK(blocks(one, BINS, hasClusters) == 1);
    CHECK(blocks(1, BINS + 1, hasClusters) == 0);
    CHECK(blocks(one + 1, 1, hasClusters) == (hasClusters ? detail::fewClusterBlocks : 0));
    CHECK(blocks(ALL, BINS, hasClusters) == (hasClusters ? detail::largeCluster : 0));
    CHECK(blocks(ALL + 1, 1, hasClusters) == 0);
  }
  CHECK(blocks(FEW, BINS, true) == detail::fewClusterBlocks);
  CHECK(blocks(FEW + 1, BINS, true) == detail::largeCluster);
  CHECK(blocks(ALL, BINS, true, false) == detail::fewClusterBlocks);
}

TEST_CASE("reduceBy: how many threads and how much memory a cluster's blocks have", "[host]") {
  constexpr unsigned THREADS = detail::clusterSumThreads;
  constexpr std::size_t ITEMS = detail::minClusterItems, LONE_ITEMS = detail::minLoneItems;
  constexpr std::size_t WORDS = 2 * detail::reduceByWords(37) + 37;  // and flags
  CHECK(planned(1, 1, true).threads == detail::minLoneThreads);
  CHECK(planned(detail::maxLoneValues, 37, true).sharedBytes >= WORDS * sizeof(unsigned));
  CHECK(planned(LONE_ITEMS * THREADS - 1, 1, false).threads == THREADS / 2);
  CHECK(planned(LONE_ITEMS * THREADS, 1, false).threads == THREADS);
  CHECK(planned(detail::maxLoneValues + 1, 1, true).threads == detail::minClusterThreads);
  const auto check = [&](unsigned threads, bool isLarge) {
    const std::size_t min = ITEMS * threads * (isLarge ? detail::largeCluster : detail::fewClusterBlocks);
    CHECK(planned(min - 1, 1, true, isLarge).threads == threads / 2);
    CHECK(planned(min, 1, true, isLarge).threads == threads);
  };
  check(THREADS / 2, false);
  check(THREADS, false);
  check(detail::manyBlocksThreads, true);
  CHECK(planned(detail::maxClusterValues, 1, true).threads == detail::manyBlocksThreads);
  CHECK(planned(detail::maxLoneValues + 1, 37, true).sharedBytes >= WORDS * sizeof(unsigned) + 40 * 8);
}

}  // namespace gpuopt::test::cluster_sums_test
