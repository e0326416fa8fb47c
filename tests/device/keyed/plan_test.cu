/// Which kernel the plan of a histogram chooses: both sides of every threshold, without a device; and its words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <string>

namespace gpuopt::test::histogram_plan_test {
namespace {

using Algorithm = detail::HistogramAlgorithm;
using detail::HistogramPlan;
using detail::HistogramShape;
using detail::planHistogram;

// 4-byte elements on a device of 132 multiprocessors with 227 KiB of shared memory for a block.
struct Shape : HistogramShape {
  Shape(std::size_t elements, std::size_t counters)
      : HistogramShape{elements, counters, 4, 1, 4, 0, 0, 227 << 10, 132, 0} {}

  Shape bytes(std::size_t element, std::size_t count = 1) const {
    Shape shape = *this;
    shape.elementBytes = element;
    shape.channels = count;
    shape.stepElements = 16;
    shape.byteValues = element == count ? 256 * count : 0;
    return shape;
  }
  Shape table(std::size_t bytesOfTable) const {
    Shape shape = *this;
    shape.tableBytes = bytesOfTable;
    return shape;
  }
  Shape on(std::size_t bytesOfBlock) const {
    Shape shape = *this;
    shape.sharedBytes = bytesOfBlock;
    return shape;
  }
};

void expect(Algorithm algorithm, const Shape& shape) {
  CAPTURE(shape.n, shape.slots, shape.elementBytes, shape.channels, shape.sharedBytes);
  const HistogramPlan plan = planHistogram(shape);
  CAPTURE(plan.reason);
  CHECK(static_cast<int>(plan.algorithm) == static_cast<int>(algorithm));
  CHECK(plan.blocks > 0);
  CHECK(plan.blocks % plan.groups == 0);
  CHECK(plan.groups * plan.groupSlots * (plan.ranges > 0 ? plan.ranges : 1) >= shape.slots);
  CHECK(plan.sharedBytes <= shape.sharedBytes);
}

constexpr std::size_t MANY = std::size_t{1} << 28;

}  // namespace

TEST_CASE("histogram plan: both sides of every threshold", "[host]") {
  expect(Algorithm::oneBlock, Shape(16384, 57600));
  expect(Algorithm::shared, Shape(16385, 57600));
  expect(Algorithm::shared, Shape(MANY, 1));
  expect(Algorithm::shared, Shape(MANY, 57600));
  expect(Algorithm::packed, Shape(MANY, 57601));
  expect(Algorithm::packed, Shape(65537, 57601));
  expect(Algorithm::global, Shape(65536, 57601));
  expect(Algorithm::packed, Shape(MANY, 345600));
  expect(Algorithm::partition, Shape(MANY, 345601));
  expect(Algorithm::partition, Shape(264 * 11 * 512, 345601));
  expect(Algorithm::global, Shape(264 * 11 * 512 - 1, 345601));
  expect(Algorithm::partition, Shape(MANY, std::size_t{1} << 24));
  expect(Algorithm::global, Shape(MANY, (std::size_t{1} << 24) + 1));
  expect(Algorithm::global, Shape(MANY, 100000).bytes(6, 3));
  expect(Algorithm::shared, Shape(MANY, 5000).on(48 << 10));
  expect(Algorithm::global, Shape(MANY, 100000).on(48 << 10));
}

TEST_CASE("histogram plan: groups of blocks read the input once each", "[host]") {
  CHECK(planHistogram(Shape(MANY, 115200)).groups == 1);
  const HistogramPlan plan = planHistogram(Shape(MANY, 115201));
  CHECK(plan.groups == 2);
  CHECK(plan.blocks == 132);
  CHECK(planHistogram(Shape(MANY, 230401)).groups == 3);
}

TEST_CASE("histogram plan: bytes are counted by their values, however many bins there are", "[host]") {
  expect(Algorithm::bytes, Shape(65537, 256).bytes(1));
  expect(Algorithm::oneBlock, Shape(65536, 256).bytes(1));
  expect(Algorithm::bytes, Shape(MANY, 1).bytes(1));
  expect(Algorithm::bytes, Shape(MANY, 1 << 24).bytes(1));
  expect(Algorithm::bytes, Shape(MANY, 768).bytes(3, 3));
  expect(Algorithm::shared, Shape(MANY, 256).bytes(2));
  CHECK(planHistogram(Shape(MANY, 256).bytes(1)).sharedBytes == 32 << 10);
  expect(Algorithm::bytes, Shape(MANY, 256).bytes(1).on(48 << 10));
  expect(Algorithm::shared, Shape(MANY, 768).bytes(3, 3).on(64 << 10));
}

TEST_CASE("histogram plan: as many blocks as there is work, more where counters might overflow", "[host]") {
  CHECK(planHistogram(Shape(16385, 256)).blocks == 5);
  CHECK(planHistogram(Shape(MANY, 256)).blocks == 132);
  CHECK(planHistogram(Shape(std::size_t{1} << 40, 256)).blocks == 512);
  CHECK(planHistogram(Shape(std::size_t{1} << 40, 100000)).blocks == 512);
}

TEST_CASE("histogram plan: a table of edges is in shared memory if it fits beside the counters", "[host]") {
  const HistogramPlan plan = planHistogram(Shape(MANY, 1000).table(4016));
  CHECK(plan.sharesTable);
  CHECK(plan.sharedBytes == 4016 + 4016);
  CHECK_FALSE(planHistogram(Shape(MANY, 40000).table(160016)).sharesTable);
}

TEST_CASE("explainHistogram: the plan in words", "[device]") {
  CHECK(explainHistogram<float>(0, 10) == "nothing to launch");
  CHECK(explainHistogram<float>(100, 10) == "shared memory, stored, 1 block of 1024 threads: the input is small");
  CHECK(detail::planInWords(planHistogram(Shape(MANY, 256).bytes(1))) ==
        "values of bytes, 132 blocks of 1024 threads: each lane counts the values of bytes, which go to their bins in "
        "the "
        "end");
  CHECK(detail::planInWords(planHistogram(Shape(MANY, 131072))) ==
        "packed counters, 132 blocks of 1024 threads, the input is read 2 times: counters of 16 bits fit into the "
        "shared memory of a few blocks");
  CHECK(detail::planInWords(planHistogram(Shape(MANY, std::size_t{1} << 20))) ==
        "partition, 264 blocks of 512 threads, 32 ranges of bins: elements are sorted by ranges of bins, whose "
        "counters fit into shared memory");
}

}  // namespace gpuopt::test::histogram_plan_test
