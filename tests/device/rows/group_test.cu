/// Positions grouped by rows: the lists of addRows, for every number of passes, buckets beyond a tile, and padding.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/portion.hpp"

#include <gpuopt/device/rows/add.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace gpuopt::test::rows_group_test {
namespace {

constexpr unsigned BUCKETS = detail::groupRowsBuckets;

using Positions = std::map<std::uint32_t, std::vector<unsigned>>;

template <class T>
std::vector<T> hostCopy(const T* device, std::size_t n) {
  std::vector<T> values(n);
  check(cudaMemcpy(values.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// What the kernels find for n of `indices`, which are below `rows`.
template <RowIndices INDICES>
Positions grouped(const std::vector<std::uint32_t>& indices, std::size_t rows,
                  std::size_t many = detail::AddRowsTuning{}.manyIndices) {
  const auto n = static_cast<unsigned>(indices.size());
  const DeviceArray<std::uint32_t> where(indices);
  const detail::AddRowsRequest request{{0, 0, rows, 1, 1, 1, 4, 4}, n, 4, RowAddition::deterministic, INDICES};
  const detail::AddRowsPlan plan = detail::planAddRows(request, {n, 0, 1, many});
  REQUIRE(plan.algorithm == detail::AddRowsAlgorithm::grouped);
  DeviceArray<std::uint64_t> memory(plan.scratchBytes / 8 + 1);
  const detail::GroupScratch scratch(plan, reinterpret_cast<unsigned char*>(memory.data()));
  using Source = detail::IndexedRows<INDICES, std::uint32_t>;
  detail::launchGroupRows({request, plan, "test", nullptr}, Source{where.data()}, n, scratch);
  const unsigned lists = hostCopy(scratch.buckets.count, 1).front();
  REQUIRE(lists <= std::min<std::size_t>(n, rows));
  const std::vector<unsigned> positions = hostCopy(scratch.buckets.positions, n);
  Positions found;
  for (const detail::AddedList& list : hostCopy(scratch.buckets.lists, lists)) {
    REQUIRE(list.begin < list.end);
    REQUIRE(list.end <= n);
    REQUIRE(found.count(list.row) == 0);
    found[list.row].assign(positions.begin() + list.begin, positions.begin() + list.end);
  }
  return found;
}

template <RowIndices INDICES = RowIndices::trusted>
void checkGroups(const std::vector<std::uint32_t>& indices, std::size_t rows,
                 std::size_t many = detail::AddRowsTuning{}.manyIndices) {
  static Series cases;
  if (!cases.runsNext()) return;
  INFO(indices.size() << " indices of " << rows << " rows");
  Positions expected;
  for (unsigned i = 0; i < indices.size(); ++i)
    if (INDICES == RowIndices::trusted || indices[i] >> 31 == 0) expected[indices[i]].push_back(i);
  REQUIRE((grouped<INDICES>(indices, rows, many) == expected));
}

// n indices below `count`, times `step`, and `first` more.
std::vector<std::uint32_t> randomIndices(std::size_t n, std::uint32_t count, std::uint32_t step = 1,
                                         std::uint32_t first = 0) {
  std::mt19937 random(5);
  std::vector<std::uint32_t> indices(n);
  for (std::uint32_t& index : indices) index = static_cast<std::uint32_t>(random() % count) * step + first;
  return indices;
}

TEST_CASE("Groups of few positions and rows", "[rows][add]") {
  for (const std::size_t n : {1, 513, 1025}) checkGroups(randomIndices(n, 1), 1);
  for (const std::uint32_t rows : {2U, BUCKETS, BUCKETS + 1}) checkGroups(randomIndices(2000, rows), rows);
}

TEST_CASE("Groups of rows of two and three passes", "[rows][add]") {
  checkGroups(randomIndices(3000, BUCKETS * 512 + 1), BUCKETS * 512 + 1);
  checkGroups({0xfffffffe, 0, 0xfffffffe, 0x80000000, 0}, 0xffffffff);
}

TEST_CASE("Groups of a bucket up to a tile and beyond it", "[rows][add]") {
  constexpr std::size_t TILE = detail::sortBucketsTile;
  for (const std::size_t n : {TILE - 1, TILE, TILE + 1}) {
    checkGroups(randomIndices(n, 300, BUCKETS, 17), 300 * BUCKETS);
    checkGroups(randomIndices(n, 1, 1, 7), 1000);
  }
  checkGroups(randomIndices(2 * TILE + 500, 3000, BUCKETS, 17), 3000 * BUCKETS);
  checkGroups(randomIndices(TILE, 3, 1000 * BUCKETS, BUCKETS - 1), 3000 * BUCKETS);
}

TEST_CASE("Groups of many buckets", "[rows][add][sweep]") { checkGroups(randomIndices(300, 600000), 600000, 0); }

TEST_CASE("Groups without padding", "[rows][add]") {
  std::vector<std::uint32_t> indices = randomIndices(4000, 5000);
  for (std::size_t i = 0; i < indices.size(); i += 3) indices[i] = 0xffffffff;
  checkGroups<RowIndices::padded>(indices, 5000);
  checkGroups<RowIndices::padded>(std::vector<std::uint32_t>(2000, 0x80000000), 5000);
}

}  // namespace
}  // namespace gpuopt::test::rows_group_test
