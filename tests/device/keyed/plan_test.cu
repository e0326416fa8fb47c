/// Which kernel the plan of a histogram or of reduceBy chooses: both sides of every threshold, without a device; and
/// its words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_channels.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpuopt::test::keyed_plan_test {
namespace {

using Algorithm = detail::KeyedAlgorithm;
using Clearing = detail::KeyedClearing;
using detail::KeyedCell;
using detail::KeyedPlan;
using detail::KeyedRequest;
using detail::planKeyed;

// On a device of 132 multiprocessors with 227 KiB of shared memory for a block.
KeyedRequest requestOf(std::size_t n, std::size_t slots, std::size_t elementBytes, const KeyedCell& cell) {
  KeyedRequest request;
  request.n = n;
  request.slots = slots;
  request.elementBytes = elementBytes;
  request.stepElements = 4;
  request.readsVectors = true;
  request.cell = cell;
  request.sharedBytes = 227 << 10;
  request.multiprocessors = 132;
  return request;
}

// Counts of 4-byte elements.
struct Count : KeyedRequest {
  Count(std::size_t elements, std::size_t counters)
      : KeyedRequest(requestOf(elements, counters, 4, detail::countCell<unsigned>())) {}

  Count bytes(std::size_t element, std::size_t count = 1) const {
    Count request = *this;
    request.elementBytes = element;
    request.channels = count;
    request.stepElements = 16;
    request.byteValues = element == count ? 256 * count : 0;
    return request;
  }
  Count table(std::size_t bytesOfTable) const {
    Count request = *this;
    request.tableBytes = bytesOfTable;
    return request;
  }
  Count on(std::size_t bytesOfBlock) const {
    Count request = *this;
    request.sharedBytes = bytesOfBlock;
    return request;
  }
  Count added() const {
    Count request = *this;
    request.adds = true;
    return request;
  }
};

// Values of 4 bytes by keys of 4.
template <class Update, class A>
KeyedRequest reduceBy(std::size_t n, std::size_t bins) {
  return requestOf(n, bins, 8, detail::wordCell<Update, A>());
}

KeyedRequest sumsOfIntegers(std::size_t n, std::size_t bins) { return reduceBy<detail::DirectSum<int>, int>(n, bins); }
KeyedRequest sumsOfLongs(std::size_t n, std::size_t bins) {
  return reduceBy<detail::DirectSum<long long>, long long>(n, bins);
}
KeyedRequest fixedPoint(std::size_t n, std::size_t bins) {
  return reduceBy<detail::FixedPointSum<float>, float>(n, bins);
}
KeyedRequest fastSums(std::size_t n, std::size_t bins) { return reduceBy<detail::DirectSum<float>, float>(n, bins); }
KeyedRequest minima(std::size_t n, std::size_t bins) {
  return reduceBy<detail::KeyedExtreme<false, float>, float>(n, bins);
}
KeyedRequest products(std::size_t n, std::size_t bins) {
  return reduceBy<detail::OperationUpdate<Multiplies, double>, double>(n, bins);
}

void expect(Algorithm algorithm, const KeyedRequest& request, std::size_t groups = 1) {
  CAPTURE(request.n, request.slots, request.elementBytes, request.channels, request.sharedBytes);
  const KeyedPlan plan = planKeyed(request);
  CAPTURE(plan.reason);
  CHECK(nameOf(plan.algorithm) == std::string(nameOf(algorithm)));
  CHECK(plan.groups == groups);
  CHECK((request.n == 0 || plan.blocks > 0));
  CHECK(plan.blocks % plan.groups == 0);
  CHECK((request.n == 0 || plan.groups * plan.groupSlots * (plan.ranges > 0 ? plan.ranges : 1) >= request.slots));
  CHECK(plan.sharedBytes <= request.sharedBytes);
}

constexpr std::size_t MANY = std::size_t{1} << 28;

struct LastDigit {
  __host__ __device__ int operator()(float value) const { return static_cast<int>(value) % 10; }
};

}  // namespace

TEST_CASE("histogram plan: both sides of every threshold", "[host]") {
  expect(Algorithm::nothing, Count(0, 100));
  expect(Algorithm::oneBlock, Count(16384, 57600));
  expect(Algorithm::shared, Count(16385, 57600));
  expect(Algorithm::shared, Count(MANY, 1));
  expect(Algorithm::shared, Count(MANY, 57600));
  expect(Algorithm::packed, Count(MANY, 57601));
  expect(Algorithm::packed, Count(65537, 57601));
  expect(Algorithm::global, Count(65536, 57601));
  expect(Algorithm::packed, Count(MANY, 115200));
  expect(Algorithm::packed, Count(MANY, 115201), 2);
  expect(Algorithm::packed, Count(MANY, 230401), 3);
  expect(Algorithm::packed, Count(MANY, 345600), 3);
  expect(Algorithm::partition, Count(MANY, 345601));
  expect(Algorithm::partition, Count(264 * 16 * 512, 345601));
  expect(Algorithm::global, Count(264 * 16 * 512 - 1, 345601));
  expect(Algorithm::partition, Count(MANY, std::size_t{1} << 24));
  expect(Algorithm::global, Count(MANY, (std::size_t{1} << 24) + 1));
  expect(Algorithm::global, Count(MANY, 100000).bytes(6, 3));
  expect(Algorithm::shared, Count(MANY, 5000).on(48 << 10));
  expect(Algorithm::global, Count(MANY, 100000).on(48 << 10));
}

TEST_CASE("histogram plan: bytes are counted by their values, however many bins there are", "[host]") {
  expect(Algorithm::bytes, Count(65537, 256).bytes(1));
  expect(Algorithm::oneBlock, Count(65536, 256).bytes(1));
  expect(Algorithm::bytes, Count(MANY, 1).bytes(1));
  expect(Algorithm::bytes, Count(MANY, 1 << 24).bytes(1));
  expect(Algorithm::bytes, Count(MANY, 768).bytes(3, 3));
  expect(Algorithm::shared, Count(MANY, 256).bytes(2));
  CHECK(planKeyed(Count(MANY, 256).bytes(1)).sharedBytes == 32 << 10);
  expect(Algorithm::bytes, Count(MANY, 256).bytes(1).on(48 << 10));
  expect(Algorithm::shared, Count(MANY, 768).bytes(3, 3).on(64 << 10));
}

TEST_CASE("histogram plan: as many blocks as there is work, more where counters might overflow", "[host]") {
  CHECK(planKeyed(Count(16384, 256)).blocks == 1);
  CHECK(planKeyed(Count(16385, 256)).blocks == 5);
  CHECK(planKeyed(Count(MANY, 256)).blocks == 132);
  CHECK(planKeyed(Count(MANY, 115201)).blocks == 132);
  CHECK(planKeyed(Count(std::size_t{1} << 40, 256)).blocks == 512);
  CHECK(planKeyed(Count(std::size_t{1} << 40, 100000)).blocks == 512);
}

TEST_CASE("histogram plan: a table of edges is in shared memory if it fits beside the counters", "[host]") {
  const KeyedPlan plan = planKeyed(Count(MANY, 1000).table(4016));
  CHECK(plan.sharesTable);
  CHECK(plan.sharedBytes == 4128 + 4016);  // and 32 words for elements in no bin
  CHECK(planKeyed(Count(MANY, 56563).table(4016)).sharesTable);
  CHECK_FALSE(planKeyed(Count(MANY, 56565).table(4016)).sharesTable);
}

TEST_CASE("histogram plan: who clears the counters", "[host]") {
  const auto clearing = [](const KeyedRequest& request) { return static_cast<int>(planKeyed(request).clearing); };
  CHECK(clearing(Count(0, 100)) == static_cast<int>(Clearing::memory));
  CHECK(clearing(Count(100, 100)) == static_cast<int>(Clearing::none));
  CHECK(clearing(Count(MANY, 100)) == static_cast<int>(Clearing::kernel));
  CHECK(clearing(Count(MANY, 100).bytes(1)) == static_cast<int>(Clearing::kernel));
  CHECK(clearing(Count(MANY, 100000)) == static_cast<int>(Clearing::memory));
  CHECK(clearing(Count(MANY, 400000)) == static_cast<int>(Clearing::memory));
  for (const std::size_t slots : {100u, 100000u, 400000u})
    CHECK(clearing(Count(MANY, slots).added()) == static_cast<int>(Clearing::none));
  CHECK(clearing(Count(0, 100).added()) == static_cast<int>(Clearing::none));
}

TEST_CASE("reduceBy plan: both sides of every threshold", "[host]") {
  expect(Algorithm::nothing, sumsOfIntegers(0, 100));
  expect(Algorithm::shared, sumsOfIntegers(1, 57600));
  expect(Algorithm::global, sumsOfIntegers(65536, 57601));
  expect(Algorithm::shared, sumsOfIntegers(65537, 57601), 2);
  expect(Algorithm::shared, sumsOfIntegers(MANY, 5 * 57600), 5);
  expect(Algorithm::global, sumsOfIntegers(MANY, 5 * 57600 + 1));
  expect(Algorithm::shared, minima(MANY, 57601), 2);
  expect(Algorithm::shared, sumsOfLongs(MANY, 28800));
  expect(Algorithm::packed, sumsOfLongs(MANY, 28801));
  expect(Algorithm::packed, sumsOfLongs(MANY, 38400));
  expect(Algorithm::packed, sumsOfLongs(MANY, 38401), 2);
  expect(Algorithm::packed, fixedPoint(MANY, 5 * 38400), 5);
  expect(Algorithm::global, fixedPoint(MANY, 5 * 38400 + 1));
  expect(Algorithm::global, fixedPoint(65536, 28801));
  expect(Algorithm::shared, fastSums(MANY, 3 * 57600), 3);
  expect(Algorithm::global, fastSums(MANY, 3 * 57600 + 1));
  expect(Algorithm::shared, products(MANY, 28800));
  expect(Algorithm::shared, products(MANY, 28801), 2);
}

TEST_CASE("reduceBy plan: copies of bins are as many as fit and as pay", "[host]") {
  const auto copies = [](std::size_t n, std::size_t bins) {
    KeyedRequest request = fastSums(n, bins);
    request.sharedBytes = 200 << 10;
    const KeyedPlan plan = planKeyed(request);
    CHECK(plan.sharedBytes <= request.sharedBytes);
    return plan.copies;
  };
  CHECK(copies(1 << 27, 1) == 32);
  CHECK(copies(1 << 27, 1024) == 32);
  CHECK(copies(1 << 27, 4190) == 8);  // of 132 KiB
  CHECK(copies(1 << 27, 4194) == 7);
  CHECK(copies(1 << 27, 30000) == 1);
  CHECK(copies(5 * 100 * 8 * 132, 100) == 5);
  CHECK(copies(5 * 100 * 8 * 132, 101) == 4);
  CHECK(copies(132 * 2048, 1024) == 4);  // half an element for a word
  CHECK(copies(132 * 2048, 1025) == 3);
  CHECK(copies(132 * 2048, 2049) == 1);
  CHECK(planKeyed(sumsOfIntegers(1 << 27, 100)).copies == 1);
  CHECK(planKeyed(products(1 << 27, 100)).copies == 32);
}

TEST_CASE("reduceBy plan: few sums that an instruction adds in global memory are made there", "[host]") {
  const KeyedPlan few = planKeyed(fastSums(detail::maxGlobalSums, 100));
  CHECK(few.algorithm == Algorithm::global);
  CHECK(few.threads == detail::globalSumThreads);
  CHECK(few.blocks == detail::maxGlobalSums / (2 * detail::globalSumThreads));
  CHECK(few.sharedBytes == 0);
  expect(Algorithm::shared, fastSums(detail::maxGlobalSums + 1, 100));
  expect(Algorithm::shared, sumsOfIntegers(detail::maxGlobalSums, 100));
  expect(Algorithm::shared, products(detail::maxGlobalSums, 100));
}

TEST_CASE("reduceBy plan: samples of fixed point, and what sets the first values", "[host]") {
  const std::size_t sample = std::size_t{1} << 20;
  CHECK(planKeyed(sumsOfIntegers(MANY, 100)).sampleEvery == 0);
  CHECK(planKeyed(fixedPoint(0, 100)).sampleEvery == 0);
  CHECK(planKeyed(fixedPoint(2 * sample - 1, 100)).sampleEvery == 1);
  CHECK(planKeyed(fixedPoint(2 * sample, 100)).sampleEvery == 2);
  CHECK(planKeyed(fixedPoint(MANY, 100)).sampleEvery == 256);
  CHECK(planKeyed(fixedPoint(MANY, 100)).sampleBlocks == 132);
  CHECK(planKeyed(fixedPoint(2049, 5000)).sampleBlocks == 2);
  CHECK(planKeyed(fixedPoint(2049, 100)).sampleEvery == 0);  // one cluster
  const auto clearing = [](KeyedRequest request, bool adds) {
    request.adds = adds;
    return static_cast<int>(planKeyed(request).clearing);
  };
  for (const std::size_t bins : {100u, 1000000u}) {
    CHECK(clearing(sumsOfIntegers(MANY, bins), false) == static_cast<int>(Clearing::kernel));
    CHECK(clearing(sumsOfIntegers(MANY, bins), true) == static_cast<int>(Clearing::none));
    CHECK(clearing(minima(MANY, bins), true) == static_cast<int>(Clearing::kernel));
    CHECK(clearing(fixedPoint(MANY, bins), true) == static_cast<int>(Clearing::memory));
  }
}

TEST_CASE("explainHistogram: the plan in words", "[device]") {
  const auto words = [](const KeyedRequest& request) { return detail::planInWords(planKeyed(request)); };
  CHECK(explainHistogram<float>(0, 10) == "nothing to launch: no elements");
  CHECK(explainHistogram<float>(100, 10) ==
        "shared memory, stored, by vectors, 1 block of 1024 threads: the input is small; reads 400 bytes, writes 40");
  CHECK(explainHistogram<float, unsigned long long>(100, 10).find("writes 80") != std::string::npos);
  CHECK(words(Count(MANY, 256).bytes(1)) ==
        "values of bytes, by vectors, 132 blocks of 1024 threads: each lane counts the values of bytes, which go to "
        "their bins in "
        "the end; reads 268435456 bytes, writes 1024");
  CHECK(words(Count(MANY, 131072)) ==
        "packed in shared memory, by vectors, 2 groups of blocks that read the input once each, 132 blocks of 1024 "
        "threads: all "
        "bins fit into the shared memory of a few blocks; reads 2147483648 bytes, writes 524288");
  CHECK(words(Count(MANY, std::size_t{1} << 20)) ==
        "partition, by vectors, 32 ranges of bins, 264 blocks of 512 threads: elements are sorted by ranges of bins "
        "that fit into "
        "shared memory; reads 1610612736 bytes, writes 541065216");
  CHECK(words(Count(MANY, 1000).table(4016)) ==
        "shared memory, by vectors, edges in shared memory, 132 blocks of 1024 threads: all bins fit into shared "
        "memory; reads "
        "1073741824 bytes, writes 4000");
}

TEST_CASE("explainReduceBy: the plan in words", "[device]") {
  const auto words = [](const KeyedRequest& request) { return detail::planInWords(planKeyed(request)); };
  CHECK(words(fixedPoint(MANY, 100)) ==
        "fixed point, shared memory, by vectors, 132 blocks of 1024 threads: all bins fit into shared memory; reads "
        "2155872256 "
        "bytes, all of them again if the sample missed larger values, writes 400");
  CHECK(words(fastSums(MANY, 1000)) ==
        "shared memory, by vectors, 32 copies of each bin, floats as integers if a sample suits, 132 blocks of 1024 "
        "threads: all bins fit into shared memory; reads 2147483648 bytes, writes 4000");
  const DeviceArray<float> values(100);
  const DeviceArray<int> keys(100);
  DeviceArray<float> sums(10);
  CHECK(explainReduceBy(values.data(), 0, keys.data(), 10, sums.data()) == "nothing to launch: no elements");
  CHECK(explainReduceBy(values.data(), 100, keys.data(), 10, sums.data()) ==
        "fixed point, one cluster, by vectors, 1 block of 512 threads: few values: one launch does everything; reads "
        "800 bytes, writes 40");
  CHECK(explainReduceBy(values.data(), 100, keys.data(), 10, sums.data(), Maximum{}) ==
        "shared memory, by vectors, 1 block of 1024 threads: all bins fit into shared memory; reads 800 bytes, writes "
        "40");
  CHECK(explainReduceBy(values.data() + 1, 99, keys.data(), 10, sums.data(), Maximum{})
            .find("shared memory, by elements, 1 block") == 0);
  CHECK(
      explainReduceBy(values.data(), 100, LastDigit{}, 10, sums.data(), Minimum{}).find("reads 400 bytes, writes 40") !=
      std::string::npos);
  DeviceArray<double> many(60000);
  CHECK(explainReduceBy<FastSums>(values.data(), 100, keys.data(), many.size(), many.data()) ==
        "global memory, by vectors, 1 block of 128 threads: few sums: an instruction adds in global memory, a loop in "
        "shared memory; reads 800 bytes, writes 480000");
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(explainReduceBy(values.data(), 100, keys.data(), 0, sums.data()));
        }) == "gpuopt::explainReduceBy: bins is 0");
}

TEST_CASE("rows plan: rows are split if they are few, and stored if a block has one for itself", "[host]") {
  const auto plan = [](std::size_t rows, std::size_t cols, std::size_t bins) {
    return detail::planKeyedRows({Count(cols, bins), rows});
  };
  CHECK(plan(10000, 512, 64).parts == 1);
  CHECK(plan(10000, 512, 64).threads == 128);
  CHECK(plan(10000, 512, 64).blocks == 132 * 16);
  CHECK(plan(10000, 512, 64).clearing == Clearing::none);
  CHECK(plan(66, 1 << 20, 64).parts == 2);
  CHECK(plan(66, 1 << 20, 64).clearing == Clearing::memory);
  CHECK(plan(132, 1 << 20, 64).parts == 1);
  CHECK(plan(132, 1 << 20, 57600).isShared);
  CHECK_FALSE(plan(132, 1 << 20, 57601).isShared);
  CHECK(plan(132, 1 << 20, 57601).clearing == Clearing::memory);
  CHECK(plan(10, 0, 64).blocks == 0);
  CHECK(plan(10, 0, 64).clearing == Clearing::memory);
  CHECK(detail::planInWords(plan(66, 1 << 20, 64)) ==
        "shared memory, by vectors, 2 blocks a row, 132 blocks of 1024 threads: the bins of a row fit into shared "
        "memory; reads "
        "276824064 bytes, writes 16896");
}

}  // namespace gpuopt::test::keyed_plan_test
