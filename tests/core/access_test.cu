/// Access patterns: the published table, known cases, and random patterns against a count byte by byte; on
/// the host, on the device and in constant expressions.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/access.cuh>
#include <gpuopt/host/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace access_test {

using gpuopt::GlobalAccess;
using gpuopt::globalAccess;
using gpuopt::LaneMask;
using gpuopt::SharedAccess;
using gpuopt::sharedAccess;

template <std::size_t SIZE, std::size_t ALIGN>
struct alignas(ALIGN) Bytes {
  unsigned char bytes[SIZE];
};

struct Stride {
  unsigned stride;
  unsigned offset = 0;
  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return lane * stride + offset; }
};

struct Same {
  unsigned index;
  __host__ __device__ constexpr unsigned operator()(unsigned) const { return index; }
};

// Any permutation: multiplication by an odd number, modulo 32.
struct Permuted {
  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return lane * 13 % 32; }
};

// --- The published bus utilisation of a warp that accesses words, by lines and by sectors.

struct Published {
  double lines;
  double sectors;
};

constexpr bool agrees(const GlobalAccess& access, const Published& percent) {
  return 100 * access.lineUtilisation() == percent.lines && 100 * access.utilisation() == percent.sectors;
}

static_assert(agrees(globalAccess<float>(Stride{1}), {100, 100}), "aligned words in order");
static_assert(agrees(globalAccess<float>(Permuted{}), {100, 100}), "aligned words, permuted");
static_assert(agrees(globalAccess<float>(Stride{1, 1}), {50, 80}), "misaligned words in order");
static_assert(agrees(globalAccess<float>(Stride{1}, LaneMask::first(1)), {3.125, 12.5}), "one word, one lane");
static_assert(agrees(globalAccess<float>(Same{5}), {3.125, 12.5}), "the same word by all lanes");

// 32 scattered words in N sectors of N lines: 128 / (N * 32), a quarter of that by lines.
struct Scattered {
  unsigned lines;
  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return lane % lines * 32 + lane / lines; }
};

constexpr bool agreesScattered() {
  for (unsigned n = 4; n <= 32; n *= 2)
    if (!agrees(globalAccess<float>(Scattered{n}), {100. * 128 / (n * 128), 100. * 128 / (n * 32)})) return false;
  return true;
}
static_assert(agreesScattered(), "32 scattered words");

// --- Known cases.

// At stride s, words touch s times as many sectors, until each word has its own.
constexpr bool stridesTouch() {
  for (unsigned stride = 1; stride <= 18; ++stride) {
    const auto access = globalAccess<float>(Stride{stride});
    if (access.sectors != (stride < 8 ? 4 * stride : 32) || access.lines != stride) return false;
    if (access.requests != 1 || access.bytes != 128 || access.distinctSectors != access.sectors) return false;
  }
  return true;
}
static_assert(stridesTouch());

constexpr bool offsetsTouch() {
  for (unsigned offset = 0; offset <= 64; ++offset) {
    const auto access = globalAccess<float>(Stride{1, offset});
    if (access.sectors != (offset % 8 == 0 ? 4 : 5) || access.lines != (offset % 32 == 0 ? 1 : 2)) return false;
  }
  return true;
}
static_assert(offsetsTouch());

// Structures of 4 to 128 bytes: one request per word, or per vector if they are aligned.
static_assert(globalAccess<float>(Stride{1}).requests == 1);
static_assert(globalAccess<Bytes<8, 4>>(Stride{1}).requests == 2 && globalAccess<Bytes<8, 8>>(Stride{1}).requests == 1);
static_assert(globalAccess<Bytes<12, 4>>(Stride{1}).requests == 3);
static_assert(globalAccess<Bytes<16, 4>>(Stride{1}).requests == 4 &&
              globalAccess<Bytes<16, 16>>(Stride{1}).requests == 1);
static_assert(globalAccess<Bytes<32, 32>>(Stride{1}).requests == 2);
static_assert(globalAccess<float3>(Stride{1}).sectors == 36 && globalAccess<float3>(Stride{1}).distinctSectors == 12);
static_assert(globalAccess<float3>(Stride{1}).utilisation() == 1.0 / 3);
static_assert(globalAccess<float4>(Stride{1}).sectors == 16 && globalAccess<float4>(Stride{1}).utilisation() == 1);
static_assert(globalAccess<float4, 4>(Stride{1}).sectors == 64 &&
              globalAccess<float4, 4>(Stride{1}).utilisation() == 0.25);
static_assert(globalAccess<Bytes<28, 4>>(Stride{1}).sectorsPerRequest() == 28);
static_assert(globalAccess<float>(Stride{1}, {}, 4).sectors == 5);

// Degree of conflict at stride 1, 2, 8 and permuted: none, 2-way, 8-way, none.
static_assert(sharedAccess<float>(Stride{1}).degree == 1 && sharedAccess<float>(Stride{2}).degree == 2);
static_assert(sharedAccess<float>(Stride{8}).degree == 8 && sharedAccess<float>(Permuted{}).degree == 1);
static_assert(sharedAccess<float>(Stride{32}).conflicts() == 31 && !sharedAccess<float>(Stride{32}).isConflictFree());
static_assert(sharedAccess<float>(Stride{33}).isConflictFree());
static_assert(sharedAccess<float>(Same{7}).degree == 1, "broadcast");

// Odd strides are free of bank conflicts at any width; even strides are not.
constexpr bool stridesConflict() {
  for (unsigned stride = 1; stride <= 33; ++stride) {
    unsigned power = 1;
    while (stride % (2 * power) == 0) power *= 2;
    const auto words = sharedAccess<float>(Stride{stride});
    const auto pairs = sharedAccess<float2>(Stride{stride});
    const auto vectors = sharedAccess<float4>(Stride{stride});
    if (words.degree != power || words.phases != 1) return false;
    if (pairs.degree != (power < 16 ? power : 16) || pairs.phases != 2) return false;
    if (vectors.degree != (power < 8 ? power : 8) || vectors.phases != 4) return false;
    if (vectors.wavefronts != 4 * vectors.degree) return false;
  }
  return true;
}
static_assert(stridesConflict());

// Bytes and 2-byte elements of one word do not conflict. A double takes two phases of half a warp.
static_assert(sharedAccess<char>(Stride{1}).degree == 1 && sharedAccess<char>(Stride{128}).degree == 32);
static_assert(sharedAccess<short>(Stride{1}).wavefrontsPerRequest() == 1);
static_assert(sharedAccess<double>(Stride{1}).wavefrontsPerRequest() == 2);
static_assert(sharedAccess<float3>(Stride{1}).requests == 3 && sharedAccess<float3>(Stride{1}).isConflictFree());
static_assert(sharedAccess<Bytes<32, 4>>(Stride{1}).degree == 8);

// Inactive lanes cost nothing: a quarter of a warp is one phase.
static_assert(sharedAccess<float4>(Stride{1}, LaneMask::first(8)).phases == 1);
static_assert(sharedAccess<float4>(Stride{1}, LaneMask::first(9)).phases == 2);
static_assert(sharedAccess<float>(Stride{16}, LaneMask::first(2)).degree == 1);
static_assert(LaneMask::first(0).mask == 0 && LaneMask::first(31).mask == 0x7fffffff &&
              LaneMask::first(32).mask == LaneMask{}.mask);
static_assert(globalAccess<float>(Same{0}, LaneMask{0}).requests == 0);
static_assert(sharedAccess<float>(Same{0}, LaneMask{0}).requests == 0);
static_assert(globalAccess<float>(Same{0}, LaneMask{0}).utilisation() == 0);
static_assert(globalAccess<float>(Same{0}, LaneMask{0}).sectorsPerRequest() == 0);
static_assert(sharedAccess<float>(Same{0}, LaneMask{0}).wavefrontsPerRequest() == 0);

// Indices may be of any integer type, and negative.
__host__ __device__ constexpr short reversed(unsigned lane) { return static_cast<short>(-static_cast<int>(lane)); }
static_assert(globalAccess<float>(reversed).sectors == 5 && sharedAccess<float>(reversed).isConflictFree());
static_assert(globalAccess<float3>(reversed).distinctSectors == 13);

// --- Random patterns against a count byte by byte.

struct Table {
  std::size_t entries[32];
  __host__ __device__ constexpr std::size_t operator()(unsigned lane) const { return entries[lane]; }
};

struct Case {
  Table table;
  LaneMask lanes;
  std::size_t base;
};

struct Analysis {
  GlobalAccess global;
  SharedAccess shared;
};

bool operator==(const Analysis& a, const Analysis& b) {
  const auto& g = a.global;
  const auto& s = a.shared;
  return g.requests == b.global.requests && g.lines == b.global.lines && g.sectors == b.global.sectors &&
         g.bytes == b.global.bytes && g.distinctSectors == b.global.distinctSectors &&
         s.requests == b.shared.requests && s.phases == b.shared.phases && s.wavefronts == b.shared.wavefronts &&
         s.degree == b.shared.degree;
}

template <class T>
__host__ __device__ Analysis analyse(const Case& each) {
  return {globalAccess<T>(each.table, each.lanes, each.base), sharedAccess<T>(each.table, each.lanes, each.base)};
}

template <class T>
__global__ void analyseKernel(const Case* cases, Analysis* results) {
  results[blockIdx.x] = analyse<T>(cases[blockIdx.x]);
}

// The bytes that the active lanes access: ACCESS bytes at `offset` of their elements.
template <class T>
std::set<std::size_t> bytesOf(const Case& each, std::size_t offset, std::size_t access, unsigned begin, unsigned end) {
  std::set<std::size_t> bytes;
  for (unsigned lane = begin; lane < end; ++lane)
    for (std::size_t b = 0; b < access && each.lanes.contains(lane); ++b)
      bytes.insert(each.base + each.table(lane) * sizeof(T) + offset + b);
  return bytes;
}

unsigned countUnits(const std::set<std::size_t>& bytes, std::size_t unit) {
  std::set<std::size_t> units;
  for (const std::size_t byte : bytes) units.insert(byte / unit);
  return static_cast<unsigned>(units.size());
}

unsigned fullestBank(const std::set<std::size_t>& bytes) {
  std::map<std::size_t, std::set<std::size_t>> banks;
  for (const std::size_t byte : bytes) banks[byte / 4 % 32].insert(byte / 4);
  std::size_t fullest = 0;
  for (const auto& [bank, words] : banks) fullest = (std::max)(fullest, words.size());
  return static_cast<unsigned>(fullest);
}

template <class T>
Analysis countBytes(const Case& each) {
  constexpr std::size_t ACCESS = (std::min)(alignof(T), sizeof(T));
  constexpr unsigned GROUP = ACCESS <= 4 ? 32 : 128 / ACCESS;
  Analysis result;
  for (std::size_t offset = 0; offset < sizeof(T); offset += ACCESS) {
    const auto bytes = bytesOf<T>(each, offset, ACCESS, 0, 32);
    const unsigned request = bytes.empty() ? 0 : 1;
    result.global.requests += request;
    result.global.lines += countUnits(bytes, 128);
    result.global.sectors += countUnits(bytes, 32);
    result.global.bytes += static_cast<unsigned>(bytes.size());
    result.shared.requests += request;
    for (unsigned begin = 0; begin < 32; begin += GROUP) {
      const unsigned degree = fullestBank(bytesOf<T>(each, offset, ACCESS, begin, begin + GROUP));
      result.shared.phases += degree > 0 ? 1 : 0;
      result.shared.wavefronts += degree;
      result.shared.degree = (std::max)(result.shared.degree, degree);
    }
  }
  result.global.distinctSectors = countUnits(bytesOf<T>(each, 0, sizeof(T), 0, 32), 32);
  return result;
}

// Indices of few neighbours up to the whole address space, full and partial warps, any base.
template <class T>
Case randomCase(std::mt19937_64& generator) {
  const std::size_t ranges[] = {3, 32, 40, 200, 5000, std::size_t{1} << 50};
  Case each{};
  const std::size_t range = ranges[generator() % 6];
  for (std::size_t& entry : each.table.entries) entry = generator() % range;
  if (generator() % 2 == 0) each.lanes = LaneMask{static_cast<unsigned>(generator())};
  each.base = generator() % 64 * alignof(T);
  return each;
}

TEMPLATE_TEST_CASE("the analysis counts bytes, sectors, lines and banks", "", char, short, float, double, uint4, float3,
                   (Bytes<3, 1>), (Bytes<28, 4>), (Bytes<24, 8>), (Bytes<48, 16>)) {
  for (const Case& each : gpuopt::test::generateVector<Case>(64, 7, randomCase<TestType>)) {
    CAPTURE(each.lanes.mask, each.base);
    CHECK(analyse<TestType>(each) == countBytes<TestType>(each));
  }
}

TEMPLATE_TEST_CASE("device code comes to the same results", "", float, (Bytes<24, 8>)) {
  const auto cases = gpuopt::test::generateVector<Case>(32, 11, randomCase<TestType>);
  const gpuopt::test::DeviceArray<Case> deviceCases(cases);
  gpuopt::test::DeviceArray<Analysis> deviceResults(cases.size());
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(cases.size()));
  gpuopt::launch(analyseKernel<TestType>, config, deviceCases.data(), deviceResults.data());
  const auto results = deviceResults.toHost();
  for (std::size_t i = 0; i < cases.size(); ++i) CHECK(results[i] == analyse<TestType>(cases[i]));
}

// An H200's counters (access_bench): wavefronts, and those caused by bank conflicts.
template <class T, class Pattern>
void checkLoad(const Pattern& pattern, LaneMask lanes, unsigned wavefronts, unsigned conflicts) {
  const SharedAccess load = gpuopt::sharedLoad<T>(pattern, lanes);
  CHECK(load.wavefronts == wavefronts);
  CHECK(load.conflicts() == conflicts);
  CHECK(load.wavefronts <= sharedAccess<T>(pattern, lanes).wavefronts);
}

TEST_CASE("loads take two phases as one where pairs of lanes agree") {
  for (const unsigned lanes : {2u, 4u, 8u, 16u, 32u}) {
    CAPTURE(lanes);
    checkLoad<float>([=](unsigned lane) { return lane / lanes; }, {}, 1, 0);
    checkLoad<float2>([=](unsigned lane) { return lane / lanes; }, {}, 1, 0);
    checkLoad<float4>([=](unsigned lane) { return lane / lanes; }, {}, 2, 0);
  }
  for (const unsigned bit : {1u, 2u, 4u, 8u, 16u}) {
    CAPTURE(bit);
    const unsigned merges = bit <= 2 ? 1 : 0;
    const auto pairs = [=](unsigned lane) { return lane & ~bit; };
    const auto pairsButOne = [=](unsigned lane) { return lane == 31 ? lane : lane & ~bit; };
    const auto own = [](unsigned lane) { return lane; };
    const LaneMask oneOfPairs = LaneMask::where([=](unsigned lane) { return (lane & bit) == 0; });
    checkLoad<float2>(pairs, {}, 2, merges);
    checkLoad<float4>(pairs, {}, 4, 2 * merges);
    checkLoad<float2>(pairsButOne, {}, 2, 0);
    checkLoad<float4>(pairsButOne, {}, 4, 0);
    checkLoad<float2>(own, oneOfPairs, bit == 16 ? 1 : 2, merges);
    checkLoad<float4>(own, oneOfPairs, bit < 8 ? 4 : 2, 2 * merges);
  }
}

TEST_CASE("bytes in the place of a type take addresses") {
  for (unsigned address = 0; address < 256; address += 8) {
    const auto pattern = [address](unsigned lane) { return address + 24 * lane; };
    CHECK(globalAccess<8>(pattern).bytes == 256);
    CHECK(sharedAccess<8>(pattern).wavefronts == 2);
    CHECK(gpuopt::sharedLoad<8>([=](unsigned) { return address; }).wavefronts == 1);
  }
}

TEST_CASE("lanes are chosen by a predicate") {
  const LaneMask odd = LaneMask::where([](unsigned lane) { return lane % 2 == 1; });
  CHECK(odd.mask == 0xaaaaaaaa);
  CHECK(globalAccess<float>(Stride{1}, odd).utilisation() == 0.5);
  CHECK(sharedAccess<float>(Stride{2}, odd).degree == 2);
  CHECK(sharedAccess<float>(Stride{2}, LaneMask::first(16)).isConflictFree());
  // The pattern is not called for inactive lanes.
  const auto onlyOdd = [](unsigned lane) { return lane % 2 == 1 ? lane : throw std::logic_error("an even lane"); };
  CHECK(globalAccess<float>(onlyOdd, odd).bytes == 64);
  CHECK(sharedAccess<float>(onlyOdd, odd).phases == 1);
}

TEST_CASE("accesses that are not aligned to their size are refused") {
  CHECK_THROWS_AS(globalAccess<4>(Stride{4, 2}), std::invalid_argument);
  CHECK_THROWS_AS(globalAccess<float4>(Stride{1}, {}, 8), std::invalid_argument);
  CHECK_THROWS_AS((globalAccess<float3, 2>(Stride{1}, {}, 1)), std::invalid_argument);
  CHECK_THROWS_AS(sharedAccess<16>(Stride{8}), std::invalid_argument);
  CHECK_THROWS_AS((sharedAccess<Bytes<48, 4>, 16>(Stride{1}, {}, 4)), std::invalid_argument);
  CHECK(sharedAccess<16>(Stride{8}, LaneMask::where([](unsigned lane) { return lane % 2 == 0; })).isConflictFree());
}

}  // namespace access_test
