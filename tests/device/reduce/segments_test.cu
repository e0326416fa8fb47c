/// Segments of all lengths, alone and mixed, against serial oracles, on both sides of every boundary of
/// ReduceSegmentsPolicy.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/matrix_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace segments_test {

using namespace gpuopt::test;
using gpuopt::reduceSegments;

// As many warps as the data of these tests needs: thousands of blocks without work take the emulated device long.
struct EnoughWarps : gpuopt::detail::ReduceSegmentsPolicy {
  static constexpr std::size_t warps = 512;
};

// Smaller shares, so that little data makes many warps share segments.
struct ManyWarps : gpuopt::detail::ReduceSegmentsPolicy {
  static constexpr std::size_t warps = 64;
  static constexpr std::size_t minWarpShare = 32;
};

std::vector<std::size_t> offsetsOf(const std::vector<std::size_t>& sizes, std::size_t first) {
  std::vector<std::size_t> offsets{first};
  for (const std::size_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

template <class A, class T, class Op>
std::vector<A> segmentsOf(const std::vector<T>& values, const std::vector<std::size_t>& offsets, Op op, A empty) {
  std::vector<A> results;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    results.push_back(offsets[s] == offsets[s + 1] ? empty : foldSerially<A>(values, offsets[s], offsets[s + 1], op));
  return results;
}

template <class T, class Policy = EnoughWarps, class Offset = std::size_t, class Op = gpuopt::Plus>
void checkSegments(const std::vector<std::size_t>& sizes, std::size_t first = 0, std::size_t offset = 0, Op op = {}) {
  static Series cases;
  if (!cases.runsNext()) return;
  using A = gpuopt::Reduced<gpuopt::DefaultAccumulator, Op, const T*>;
  const auto offsets = offsetsOf(sizes, first);
  CAPTURE(sizes.size(), offsets.back(), first, offset, sizeof(T), sizeof(Offset));
  const auto values = Elements<T>::make(offsets.back(), 7);
  const DeviceArray<T> in(values, offset);
  const DeviceArray<Offset> deviceOffsets(std::vector<Offset>(offsets.begin(), offsets.end()));
  DeviceArray<A> out(sizes.size());
  reduceSegments<gpuopt::DefaultAccumulator, Policy>(in.data(), deviceOffsets.data(), sizes.size(), out.data(), op);
  CHECK(out.toHost() == segmentsOf<A>(values, offsets, op, A{}));
}

std::vector<std::size_t> randomSizes(std::size_t count, std::size_t longest, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::size_t> sizes(count);
  for (std::size_t& size : sizes) size = generator() % (longest + 1);
  return sizes;
}

// Segments of all sizes next to each other, runs of empty ones among them.
std::vector<std::size_t> mixedSizes() {
  std::vector<std::size_t> sizes(300, 0);
  for (const std::size_t size : {1, 5000, 0, 3, 64, 65, 1024, 1025, 0, 0, 20000, 2, 1023, 33, 32, 31})
    for (std::size_t copies = 0; copies < 3; ++copies) sizes.push_back(size);
  sizes.insert(sizes.end(), 700, 1);
  sizes.insert(sizes.end(), 700, 0);
  sizes.push_back(9999);
  return sizes;
}

TEST_CASE("reduceSegments sums segments of one length") {
  for (const std::size_t size :
       {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 383, 384, 385, 511, 1000, 1023, 1024, 1025, 1027, 5000})
    for (const std::size_t first : {0, 1})
      checkSegments<float>(std::vector<std::size_t>(size < 40 ? 900 : 20, size), first);
}

TEST_CASE("reduceSegments sums segments of random lengths") {
  for (const std::size_t longest : {1, 3, 10, 40, 100, 300, 3000}) {
    checkSegments<float>(randomSizes(20000 / longest + 10, longest, 1));
    checkSegments<float, ManyWarps>(randomSizes(9000 / longest + 10, longest, 2), 5, 1);
  }
}

TEST_CASE("reduceSegments sums segments of very different lengths") {
  checkSegments<float>(mixedSizes());
  checkSegments<float, gpuopt::detail::ReduceSegmentsPolicy>(mixedSizes());
  checkSegments<float, ManyWarps>(mixedSizes(), 3, 2);
}

TEST_CASE("reduceSegments divides giant segments among warps") {
  for (const std::size_t size : {1024, 2047, 2048, 40000}) {
    checkSegments<float, ManyWarps>({size});
    checkSegments<float, ManyWarps>({1, size, 0, 0, 2, size, size});
    checkSegments<int, ManyWarps>({1, size, 0, 0, 2, size, size}, 0, 0);
  }
}

TEST_CASE("reduceSegments gives segments of few elements to lanes") {
  for (const std::size_t longest : {1, 4, 5, 9, 12, 13, 14, 15}) {
    checkSegments<float>(randomSizes(5000, longest, 6), 3, 1);
    checkSegments<double, ManyWarps>(randomSizes(700, longest, 7));
    checkSegments<Words5, ManyWarps>(randomSizes(300, longest, 8), 1);
  }
  for (const std::size_t size : {32, 33, 500}) {  // the last one that a lane takes, and longer ones
    std::vector<std::size_t> sizes = randomSizes(900, 8, 9);
    for (const std::size_t i : {0, 255, 256, 600, 899}) sizes[i] = size;
    checkSegments<int>(sizes);
  }
}

TEST_CASE("reduceSegments gives long segments to blocks") {
  for (const std::size_t mean : {2030, 2040, 2041, 2100, 9000}) {
    std::vector<std::size_t> sizes = randomSizes(40, mean / 2, 5);
    for (std::size_t& size : sizes) size += mean - mean / 4;
    for (const std::size_t first : {0, 1, 31}) {
      checkSegments<float>(sizes, first, 1);
      checkSegments<int, ManyWarps>(sizes, first);
    }
  }
  checkSegments<Words25>({700, 0, 90, 3000});
  checkSegments<float, ManyWarps>({0, 0, 30000, 1, 0, 0, 60000, 0, 0, 2, 0});
}

TEST_CASE("reduceSegments takes empty segments wherever they are") {
  for (const std::size_t count : {1, 31, 255, 256, 257, 5000}) {
    std::vector<std::size_t> sizes(count, 0);
    checkSegments<float>(sizes, 3);
    sizes.front() = 100;
    checkSegments<float, ManyWarps>(sizes);
    sizes.back() = 3000;
    checkSegments<float, ManyWarps>(sizes);
    std::reverse(sizes.begin(), sizes.end());
    checkSegments<float, ManyWarps>(sizes);
  }
}

TEST_CASE("reduceSegments takes offsets of any integer type") {
  checkSegments<float, ManyWarps, int>(mixedSizes());
  checkSegments<float, ManyWarps, unsigned>(mixedSizes());
  checkSegments<float, ManyWarps, std::int64_t>(mixedSizes());
  checkSegments<float, ManyWarps, std::uint16_t>(randomSizes(900, 60, 3));
}

TEMPLATE_TEST_CASE("reduceSegments takes elements of any size", "", signed char, unsigned short, double, std::int64_t,
                   Bytes3, Float3, Words5, Words25, __half) {
  checkSegments<TestType>(mixedSizes(), 0, 1);
  checkSegments<TestType, ManyWarps>(randomSizes(100, 90, 4), 1, 2);
}

TEST_CASE("reduceSegments needs no neutral element") {
  checkSegments<int, ManyWarps>(mixedSizes(), 1, 1, UnknownPlus{});
  checkSegments<int>(randomSizes(3000, 20, 9), 0, 0, UnknownPlus{});
}

TEST_CASE("reduceSegments gives the neutral element or the initial value for empty segments") {
  const DeviceArray<float> in(std::vector<float>{3, 1, 2});
  const DeviceArray<int> offsets(std::vector<int>{0, 0, 2, 2, 3, 3});
  DeviceArray<float> out(5);
  const float infinity = std::numeric_limits<float>::infinity();
  reduceSegments(in.data(), offsets.data(), 5, out.data(), gpuopt::Minimum{});
  CHECK(out.toHost() == std::vector<float>{infinity, 1, infinity, 2, infinity});
  reduceSegments(in.data(), offsets.data(), 5, out.data(), UnknownPlus{}, 10.0F);
  CHECK(out.toHost() == std::vector<float>{10, 14, 10, 12, 10});
}

TEST_CASE("reduceSegments combines the initial value once with a segment that warps share") {
  const std::size_t n = 5000;
  const DeviceArray<int> in(std::vector<int>(n, 1));
  const DeviceArray<int> offsets(std::vector<int>{0, 4999, 5000});
  DeviceArray<int> out(2);
  reduceSegments<int, ManyWarps>(in.data(), offsets.data(), 2, out.data(), gpuopt::Plus{}, 7);
  CHECK(out.toHost() == std::vector<int>{5006, 8});
}

TEST_CASE("reduceSegments leaves the workspace as it was") {
  gpuopt::Workspace workspace;
  const auto offsets = offsetsOf({40000, 1, 40000}, 0);
  const auto values = smallIntegers<int>(offsets.back(), 3);
  const DeviceArray<int> in(values);
  const DeviceArray<std::size_t> deviceOffsets(offsets);
  for (int run = 0; run < 3; ++run) {
    DeviceArray<int> out(3);
    reduceSegments<int, ManyWarps>(in.data(), deviceOffsets.data(), 3, out.data(), gpuopt::Plus{}, nullptr, &workspace);
    CHECK(out.toHost() == segmentsOf<int>(values, offsets, gpuopt::Plus{}, 0));
  }
}

TEST_CASE("reduceSegments reads iterators") {
  const auto offsets = offsetsOf(mixedSizes(), 0);
  const DeviceArray<std::size_t> deviceOffsets(offsets);
  DeviceArray<std::int64_t> out(offsets.size() - 1);
  reduceSegments<gpuopt::DefaultAccumulator, ManyWarps>(Squares{}, deviceOffsets.data(), out.size(), out.data());
  std::vector<std::int64_t> expected(out.size(), 0);
  for (std::size_t s = 0; s < out.size(); ++s)
    for (std::size_t i = offsets[s]; i < offsets[s + 1]; ++i) expected[s] += Squares{}[static_cast<std::ptrdiff_t>(i)];
  CHECK(out.toHost() == expected);
}

TEST_CASE("reduceSegments gives the same bits on every run, with any workspace") {
  gpuopt::Workspace workspace;
  const auto offsets = offsetsOf(mixedSizes(), 0);
  const DeviceArray<float> in(randomVector<float>(offsets.back(), 5));
  const DeviceArray<std::size_t> deviceOffsets(offsets);
  DeviceArray<float> first(offsets.size() - 1);
  DeviceArray<float> second(offsets.size() - 1);
  reduceSegments<float, ManyWarps>(in.data(), deviceOffsets.data(), first.size(), first.data());
  reduceSegments<float, ManyWarps>(in.data(), deviceOffsets.data(), first.size(), second.data(), gpuopt::Plus{},
                                   nullptr, &workspace);
  CHECK(first.toHost() == second.toHost());
}

TEST_CASE("reduceSegments rejects null pointers and has nothing to do without segments") {
  DeviceArray<float> in(12);
  DeviceArray<float> out(3);
  const DeviceArray<int> offsets(std::vector<int>{0, 1, 2, 3});
  const int* null = nullptr;
  CHECK_THROWS_AS(reduceSegments(in.data(), null, 3, out.data()), std::invalid_argument);
  CHECK_THROWS_AS(reduceSegments(in.data(), offsets.data(), 3, static_cast<float*>(nullptr)), std::invalid_argument);
  reduceSegments(in.data(), null, 0, static_cast<float*>(nullptr));
}

TEST_CASE("reduceSegments: outputs that are inputs throw before anything is written") {
  const std::vector<float> values{1, 2, 3, 4};
  const std::vector<int> bounds{0, 1, 2, 4};
  DeviceArray<float> in(values);
  DeviceArray<int> offsets(bounds);
  const auto message = [](auto call) { return messageOf<std::invalid_argument>(call); };
  CHECK(message([&] { reduceSegments(in.data(), offsets.data(), 3, in.data()); }) ==
        "gpuopt::reduceSegments: in and out are the same");
  CHECK(message([&] { reduceSegments(in.data(), offsets.data(), 3, reinterpret_cast<float*>(offsets.data() + 1)); }) ==
        "gpuopt::reduceSegments: offsets and out overlap: out begins at byte 4 of the 16 of offsets");
  CHECK(in.toHost() == values);
  CHECK(offsets.toHost() == bounds);
}

}  // namespace segments_test
