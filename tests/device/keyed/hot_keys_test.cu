/// reduceBy of frequent keys, where an update is a loop: sums of floating-point numbers in any order, other operations.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::test::hot_keys_test {
namespace {

enum class Keys { uniform, equal, runs, oneOften, manyOften, zipf, outsideOften };

const std::vector<Keys> allKeys = {Keys::uniform,   Keys::equal, Keys::runs,        Keys::oneOften,
                                   Keys::manyOften, Keys::zipf,  Keys::outsideOften};
// For types and operations beside the one that has all keys: what they share with it does not depend on them.
const std::vector<Keys> fewKeys = {Keys::manyOften, Keys::zipf};

// Keys from -1 to bins + 1.
std::vector<int> keysFor(std::size_t n, std::size_t bins, Keys kind) {
  const std::vector<unsigned> numbers = numbersBelow(n, 1u << 24, Distribution::uniform, 5);
  std::vector<int> keys;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t random = numbers[kind == Keys::runs ? i / 61 : i], number = random * (bins + 3) >> 24;
    std::uint64_t key = number;
    if (kind == Keys::equal) key = bins / 3;
    if (kind == Keys::oneOften && random % 3 == 0) key = bins;
    if (kind == Keys::manyOften && random % 8 != 0)
      key = 1 + random % 200 * (bins / 200);  // more than there is room for
    if (kind == Keys::zipf) {
      const double rank = std::exp(static_cast<double>(random) / (1 << 24) * std::log(static_cast<double>(bins)));
      key = static_cast<std::uint64_t>(rank) * 1000003 % (bins + 3);
    }
    if (kind == Keys::outsideOften && random % 2 == 0) key = random % 4 == 0 ? 0 : bins + 2;
    keys.push_back(static_cast<int>(key) - 1);
  }
  return keys;
}

template <class Policy, class A, class Op>
void check(std::size_t n, std::size_t bins, const std::vector<A>& values, Op op, const std::vector<Keys>& kinds) {
  for (const Keys kind : kinds) {
    if (!runsNextCase()) continue;
    INFO(n << " values of " << sizeof(A) << " bytes, " << bins << " bins, keys " << static_cast<int>(kind));
    const std::vector<int> keys = keysFor(n, bins, kind);
    std::vector<A> expected(bins, NeutralElement<Op, A>::value());
    for (std::size_t i = 0; i < n; ++i)
      if (keys[i] >= 0 && keys[i] < static_cast<int>(bins)) {
        A& result = expected[static_cast<std::size_t>(keys[i])];
        result = op(result, values[i]);
      }
    const DeviceArray<A> in(values);
    const DeviceArray<int> by(keys);
    DeviceArray<A> out(bins);
    reduceBy<Policy>(in.data(), n, by.data(), bins, out.data(), op);
    CHECK(out.toHost() == expected);
  }
}

// Whole numbers, whose sums are exact in any order.
template <class A>
std::vector<A> wholeNumbers(std::size_t n) {
  std::vector<A> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<A>(static_cast<int>(i * 7919 % 61) - 30));
  return values;
}

// The same of two magnitudes, one of which is no integer beside the other (device/keyed/scaled_sums.cuh).
std::vector<float> differentNumbers(std::size_t n) {
  std::vector<float> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(i % 251 == 77 ? 16384.0f : static_cast<float>(i % 3) - 1);
  return values;
}

std::vector<int> signs(std::size_t n) {
  std::vector<int> values;
  for (const unsigned number : numbersBelow(n, 2, Distribution::uniform, 9)) values.push_back(number == 0 ? 1 : -1);
  return values;
}

constexpr std::size_t manyValues = 4 * detail::minHotElements + 1003;  // the emulated device has four multiprocessors

}  // namespace

TEST_CASE("reduceBy: frequent keys, sums of floating-point numbers in any order", "[device]") {
  check<FastSums>(manyValues, 30011, wholeNumbers<float>(manyValues), Plus{}, allKeys);
  check<FastSums>(manyValues, 30011, differentNumbers(manyValues), Plus{}, fewKeys);
}

TEST_CASE("reduceBy: frequent keys, copies of words, groups of blocks, other types", "[device][sweep]") {
  for (const std::size_t n : {manyValues, manyValues - 2000}) {
    const std::vector<Keys>& kinds = n == manyValues ? allKeys : fewKeys;
    check<FastSums>(n, 3001, wholeNumbers<float>(n), Plus{}, kinds);
    check<FastSums>(n, 3001, differentNumbers(n), Plus{}, fewKeys);
    check<FastSums>(n, 60002, wholeNumbers<float>(n), Plus{}, kinds);
    check<FastSums>(n, 30003, wholeNumbers<double>(n), Plus{}, fewKeys);
    check<ReduceByPolicy>(n, 20002, signs(n), Multiplies{}, fewKeys);
  }
}

TEST_CASE("reduceBy: frequent keys in more bins than shared memory has room for", "[device][sweep]") {
  const std::size_t n = 4 * detail::minCachedElements + 1003, bins = 300007;
  check<FastSums>(n, bins, wholeNumbers<float>(n), Plus{}, allKeys);
  check<FastSums>(n, bins, wholeNumbers<double>(n), Plus{}, fewKeys);
  check<ReduceByPolicy>(n, bins, wholeNumbers<float>(n), Plus{}, allKeys);  // in fixed point
  check<ReduceByPolicy>(n, bins, wholeNumbers<int>(n), Plus{}, fewKeys);
  check<ReduceByPolicy>(n, bins, wholeNumbers<int>(n), Minimum{}, fewKeys);
  check<ReduceByPolicy>(n, bins, wholeNumbers<float>(n), Maximum{}, fewKeys);
  check<ReduceByPolicy>(n, bins, signs(n), Multiplies{}, fewKeys);
}

TEST_CASE("reduceBy: blocks look for frequent keys if that pays and there is room", "[host]") {
  const auto finds = [](std::size_t n, std::size_t bins, std::size_t bytes, const detail::KeyedCell& cell) {
    detail::KeyedRequest request;
    request.n = n;
    request.slots = bins;
    request.elementBytes = 8;
    request.cell = cell;
    request.sharedBytes = bytes + detail::keyedReservedBytes;
    request.multiprocessors = 132;
    return detail::planKeyed(request).findsHot;
  };
  const detail::KeyedCell sums = detail::wordCell<detail::DirectSum<float>, float>();
  const std::size_t n = 132 * detail::minHotElements, room = detail::cellsBytes(10000, 4) + sums.hotBytes;
  CHECK(finds(n, 10000, room, sums));
  CHECK_FALSE(finds(n, 10000, room - 4, sums));
  CHECK_FALSE(finds(n - 132, 10000, room, sums));
  CHECK(finds(n, 0xfeff, 400 << 10, sums));
  CHECK_FALSE(finds(n, 0xff00, 400 << 10, sums));  // slots have 16 bits
  CHECK_FALSE(finds(n, 10000, 400 << 10, detail::wordCell<detail::DirectSum<int>, int>()));
}

}  // namespace gpuopt::test::hot_keys_test
