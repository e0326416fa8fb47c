/// gatherStructs and scatterStructs: every width of atoms, counts around tiles, misaligned arrays, types of
/// indices, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/struct_io.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace gpuopt::test::gather_test {
namespace {

// n different indices below `count`, in random order.
template <class Index>
std::vector<Index> shuffledIndices(std::size_t n, std::size_t count) {
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  std::shuffle(all.begin(), all.end(), std::mt19937(static_cast<unsigned>(n)));
  all.resize(n);
  return all;
}

template <class T, class Index>
void checkGather(std::size_t n, std::size_t count, std::size_t inOffset, std::size_t outOffset) {
  const std::vector<T> values = indexCoded<T>(count);
  std::vector<Index> indices = shuffledIndices<Index>(n, count);
  for (std::size_t i = 0; i < n; i += 3) indices[i] = indices[i / 2];  // repeats some
  const StructArray<T> in(values, inOffset);
  const DeviceArray<Index> where(indices);
  StructArray<T> out(n, outOffset);
  gatherStructs(in.data(), where.data(), n, out.data());
  std::vector<T> expected;
  for (const Index index : indices) expected.push_back(values[static_cast<std::size_t>(index)]);
  CHECK(sameBytes(out.toHost(), expected));
}

template <class T, class Index>
void checkScatter(std::size_t n, std::size_t count, std::size_t inOffset, std::size_t outOffset) {
  const std::vector<T> values = indexCoded<T>(n);
  const std::vector<Index> indices = shuffledIndices<Index>(n, count);
  const StructArray<T> in(values, inOffset);
  const DeviceArray<Index> where(indices);
  StructArray<T> out(count, outOffset);
  scatterStructs(in.data(), where.data(), n, out.data());
  std::vector<T> expected = poisonedStructs<T>(count);
  for (std::size_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(indices[i])] = values[i];
  CHECK(sameBytes(out.toHost(), expected));
}

template <class T, class Index = int>
void checkBoth(std::size_t n, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  INFO(sizeof(T) << " bytes at " << alignof(T) << ", n = " << n << ", offsets " << inOffset << " and " << outOffset);
  const std::size_t count = n + n / 3 + 1;
  checkGather<T, Index>(n, count, inOffset, outOffset);
  checkScatter<T, Index>(n, count, inOffset, outOffset);
}

// Counts around one and two tiles, which may end within a structure.
template <class T>
void checkCounts() {
  for (const std::size_t n : {0, 1, 2, 31, 33}) checkBoth<T>(n);
  constexpr std::size_t ATOMS = detail::indexedBlock * detail::indexedLoadsInFlight;
  constexpr std::size_t TILE = ATOMS * detail::widestWord<sizeof(T)> / sizeof(T);
  for (const std::size_t n : {TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 7}) checkBoth<T>(n);
}

TEST_CASE("Structures of every size by index", "[struct][gather]") {
  checkCounts<unsigned char>();
  checkCounts<Blob<3>>();
  checkCounts<Blob<6, 2>>();
  checkCounts<Blob<28, 4>>();
  checkCounts<Blob<40, 8>>();
  checkCounts<Blob<48, 16>>();
  checkCounts<Blob<96, 32>>();
  checkCounts<Blob<255>>();
  checkCounts<Blob<256, 16>>();
  checkCounts<Blob<400, 16>>();
}

TEST_CASE("Gathers from arrays with different misalignments", "[struct][gather]") {
  for (const std::size_t in : {0, 2, 4, 8, 14})
    for (const std::size_t out : {0, 2, 4, 8, 16}) checkBoth<Blob<32, 2>>(100, in, out);
  for (const std::size_t in : {0, 4, 8, 12})
    for (const std::size_t out : {0, 4, 8, 12}) checkBoth<Blob<24, 4>>(100, in, out);
  checkBoth<Blob<5>>(100, 3, 1);
}

TEST_CASE("Indices of any integral type", "[struct][gather]") {
  checkBoth<Blob<12, 4>, signed char>(90);
  checkBoth<Blob<12, 4>, unsigned char>(180);
  checkBoth<Blob<12, 4>, short>(600);
  checkBoth<Blob<12, 4>, unsigned>(600);
  checkBoth<Blob<12, 4>, long>(600);
  checkBoth<Blob<12, 4>, unsigned long long>(600);
}

TEST_CASE("Structures by index in a stream", "[struct][gather]") {
  const Stream stream;
  const std::vector<float2> values = indexCoded<float2>(500);
  const std::vector<int> permutation = shuffledIndices<int>(500, 500);
  const StructArray<float2> in(values);
  const DeviceArray<int> indices(permutation);
  StructArray<float2> between(500), out(500);
  scatterStructs(in.data(), indices.data(), 500, between.data(), stream);
  gatherStructs(between.data(), indices.data(), 500, out.data(), stream);
  stream.wait();
  CHECK(sameBytes(out.toHost(), values));
}

TEST_CASE("Containers of structures by index", "[struct][gather]") {
  const std::vector<float2> values = indexCoded<float2>(500);
  const StructArray<float2> in(values);
  const DeviceArray<int> indices(shuffledIndices<int>(500, 500));
  StructArray<float2> between(500), out(501), few(499);
  scatterStructs(in, indices, between);
  gatherStructs(between, indices, out);
  std::vector<float2> found = out.toHost();
  found.pop_back();
  CHECK(sameBytes(found, values));
  CHECK(messageOf<std::invalid_argument>([&] { gatherStructs(in, indices, few); }) ==
        "gpuopt::gatherStructs: out has 499 elements, but 500 are needed");
  CHECK(messageOf<std::invalid_argument>([&] { scatterStructs(few, indices, out); }) ==
        "gpuopt::scatterStructs: in has 499 elements, but 500 are needed");
}

TEST_CASE("Bad arguments of a gather or a scatter", "[struct][gather]") {
  using T = Blob<8, 4>;
  DeviceArray<int> memory(100);
  const std::vector<int> before = memory.toHost();
  int* const m = memory.data();
  auto* const first = reinterpret_cast<T*>(m);
  auto* const second = reinterpret_cast<T*>(m + 50);
  const auto odd = [](auto* p) { return reinterpret_cast<decltype(p)>(reinterpret_cast<std::uintptr_t>(p) + 2); };
  const int* const indices = m + 90;
  const T* const nothing = nullptr;
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::gatherStructs: in is null, but n is 5", [&] { gatherStructs(nothing, indices, 5, second); });
  refused("gpuopt::gatherStructs: indices is null, but n is 5",
          [&] { gatherStructs(first, static_cast<const int*>(nullptr), 5, second); });
  refused("gpuopt::gatherStructs: out is null, but n is 5",
          [&] { gatherStructs(first, indices, 5, static_cast<T*>(nullptr)); });
  refused("gpuopt::gatherStructs: in is misaligned: its address modulo 4 is 2",
          [&] { gatherStructs(odd(first), indices, 5, second); });
  refused("gpuopt::gatherStructs: indices is misaligned: its address modulo 4 is 2",
          [&] { gatherStructs(first, odd(indices), 5, second); });
  refused("gpuopt::gatherStructs: out is misaligned: its address modulo 4 is 2",
          [&] { gatherStructs(first, indices, 5, odd(second)); });
  refused("gpuopt::gatherStructs: in and out are the same", [&] { gatherStructs(first, indices, 5, first); });
  refused("gpuopt::gatherStructs: out and indices overlap: indices begins at byte 32 of the 40 of out",
          [&] { gatherStructs(first, reinterpret_cast<const int*>(second + 4), 5, second); });
  refused("gpuopt::scatterStructs: in is null, but n is 5", [&] { scatterStructs(nothing, indices, 5, second); });
  refused("gpuopt::scatterStructs: indices is null, but n is 5",
          [&] { scatterStructs(first, static_cast<const int*>(nullptr), 5, second); });
  refused("gpuopt::scatterStructs: out is null, but n is 5",
          [&] { scatterStructs(first, indices, 5, static_cast<T*>(nullptr)); });
  refused("gpuopt::scatterStructs: out is misaligned: its address modulo 4 is 2",
          [&] { scatterStructs(first, indices, 5, odd(second)); });
  refused("gpuopt::scatterStructs: in and out are the same", [&] { scatterStructs(first, indices, 5, first); });
  CHECK(memory.toHost() == before);
  CHECK_NOTHROW(gatherStructs(nothing, static_cast<const int*>(nullptr), 0, static_cast<T*>(nullptr)));
  CHECK_NOTHROW(scatterStructs(nothing, static_cast<const int*>(nullptr), 0, static_cast<T*>(nullptr)));
}

}  // namespace
}  // namespace gpuopt::test::gather_test
