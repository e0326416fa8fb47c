/// Histograms of long runs in more bins than a block counts, and of what nearly consists of runs.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::test::runs_test {
namespace {

// Runs of up to `length` elements; numbers from -1 to bins.
std::vector<std::int32_t> runsOf(std::size_t n, std::size_t bins, std::size_t length) {
  const std::vector<unsigned> random = numbersBelow(n, 1u << 24, Distribution::uniform, 3);
  std::vector<std::int32_t> values(n);
  std::size_t left = 0, number = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (left == 0) left = 1 + random[i] % length, number = (std::uint64_t{random[i]} * (bins + 2)) >> 24;
    values[i] = static_cast<std::int32_t>(number) - 1;
    --left;
  }
  return values;
}

template <class Count>
void check(const std::vector<std::int32_t>& values, std::size_t bins, std::size_t offset) {
  INFO(values.size() << " values, " << bins << " bins, counts of " << sizeof(Count) << " bytes, offset " << offset);
  if (!runsNextCase()) return;
  const DeviceArray<std::int32_t> in(values, offset);
  std::vector<Count> expected(bins, 0), before(bins, 3);
  for (const std::int32_t value : values)
    if (value >= 0 && value < static_cast<std::int32_t>(bins)) ++expected[static_cast<std::size_t>(value)];
  DeviceArray<Count> counts(bins), added(before);
  bincount(in.data(), values.size(), counts.data(), bins);
  CHECK(counts.toHost() == expected);
  bincount<AddCounts>(in.data(), values.size(), added.data(), bins);
  for (Count& count : expected) count += 3;
  CHECK(added.toHost() == expected);
}

constexpr std::size_t manyValues = 4 * detail::minCachedElements + 1003;  // of four multiprocessors

}  // namespace

TEST_CASE("bincount: runs in more bins than a block counts", "[device]") {
  check<unsigned>(runsOf(manyValues, 120000, 500), 120000, 1);
}

TEST_CASE("bincount: runs of any length, equal elements, few groups of blocks", "[device][sweep]") {
  for (const std::size_t length : {1, 20, 60, 100000000})
    for (const std::size_t bins : {57601, 120000, 300000}) {
      check<unsigned>(runsOf(manyValues, bins, length), bins, 0);
      if (length == 20) check<unsigned long long>(runsOf(manyValues, bins, length), bins, 1);
    }
  check<int>(std::vector<std::int32_t>(manyValues, 99999), 300000, 0);
  check<int>(std::vector<std::int32_t>(manyValues, 300000), 300000, 2);  // in no bin
  check<unsigned>(runsOf(manyValues - 2000, 120000, 500), 120000, 0);
}

}  // namespace gpuopt::test::runs_test
