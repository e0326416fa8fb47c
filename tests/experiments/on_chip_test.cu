/// Bank conflicts, branches, warps at work, occupancy: what happens within a multiprocessor.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/divergence.cuh"
#include "../../examples/experiments/occupancy.cuh"
#include "../../examples/experiments/shared_memory.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/access.cuh>

#include <bitset>
#include <cstring>
#include <vector>

namespace on_chip_test {

using namespace experiments;
using gpuopt::test::DeviceArray;
using gpuopt::test::randomVector;

// --------------------------------------------------------------------------------- shared memory

template <class T>
constexpr unsigned degreeOf(const LaneIndices& lanes) {
  return gpuopt::sharedAccess<T>([&](unsigned lane) { return lanes.index[lane]; }).degree;
}
static_assert(degreeOf<unsigned>(strided(1)) == 1 && degreeOf<unsigned>(strided(2)) == 2 &&
              degreeOf<unsigned>(strided(8)) == 8 && degreeOf<unsigned>(strided(32)) == 32 &&
              degreeOf<unsigned>(strided(33)) == 1 && degreeOf<unsigned>(permuted()) == 1 &&
              degreeOf<unsigned>(broadcast()) == 1 && degreeOf<unsigned>(inPairs()) == 1 &&
              degreeOf<unsigned>(oddApart()) == 2);
static_assert(degreeOf<uint2>(strided(1)) == 1 && degreeOf<uint4>(strided(2)) == 2);

template <TileLayout LAYOUT>
constexpr unsigned columnDegree() {
  return gpuopt::sharedAccess<unsigned>([](unsigned lane) { return indexInTile<LAYOUT>(lane, 7); }).degree;
}
static_assert(columnDegree<TileLayout::plain>() == 32 && columnDegree<TileLayout::padded>() == 1 &&
              columnDegree<TileLayout::swizzled>() == 1);

TEMPLATE_TEST_CASE("lanes read shared memory at their places", "", unsigned, uint2, uint4) {
  constexpr unsigned BLOCKS = 2, ROUNDS = 11;
  constexpr std::size_t WORDS = sizeof(TestType) / sizeof(unsigned);
  const auto words = randomVector<unsigned>(bankWords * WORDS, 1);
  const DeviceArray<unsigned> in(words);
  for (const LaneIndices& lanes :
       {strided(1), strided(2), strided(32), strided(33), permuted(), broadcast(), inPairs(), oddApart()}) {
    DeviceArray<unsigned> out(BLOCKS * bankBlock);
    launchBanks(reinterpret_cast<const TestType*>(in.data()), out.data(), BLOCKS, lanes, ROUNDS);
    CHECK(out.toHost() == banksOnHost(words, WORDS, BLOCKS, lanes, ROUNDS));
  }
}

TEMPLATE_TEST_CASE_SIG("tiles are transposed in every layout", "", ((TileLayout LAYOUT), LAYOUT), TileLayout::plain,
                       TileLayout::padded, TileLayout::swizzled) {
  constexpr unsigned TILES = 3;
  const auto values = randomVector<unsigned>(1024 * TILES, 2);
  const DeviceArray<unsigned> in(values);
  for (const unsigned rounds : {1u, 2u, 3u}) {
    DeviceArray<unsigned> out(values.size());
    launchTile<LAYOUT>(in.data(), out.data(), TILES, rounds);
    CHECK(out.toHost() == tilesOnHost(values, rounds));
  }
}

// ------------------------------------------------------------------------------------ divergence

TEST_CASE("every thread goes its way") {
  constexpr std::size_t N = 1000;
  constexpr unsigned ROUNDS = 9;
  const auto values = randomVector<unsigned>(N, 3);
  const DeviceArray<unsigned> in(values);
  DeviceArray<unsigned> out(N);
  for (const unsigned bit : {0u, 1u, 16u, 32u, branchBlock}) {
    launchBranch(in.data(), out.data(), N, bit, ROUNDS);
    CHECK(out.toHost() == mapOnHost(values, [bit](unsigned x, std::size_t i) {
            return (i & bit) != 0 ? shiftXor(x, ROUNDS) : multiplyXor(x, ROUNDS);
          }));
  }
  for (const unsigned last : {15u, 31u}) {
    const auto goes = [&](const auto& isSecond) {
      return out.toHost() == mapOnHost(values, [&](unsigned x, std::size_t i) {
               return isSecond(i % aboveBlock, i / aboveBlock) ? shiftXor(x, ROUNDS) : multiplyXor(x, ROUNDS);
             });
    };
    launchBranchAt(in.data(), out.data(), N, last, ROUNDS);
    CHECK(goes([last](std::size_t thread, std::size_t) { return thread > last; }));
    launchBranchAt<Side::upTo>(in.data(), out.data(), N, last, ROUNDS);
    CHECK(goes([last](std::size_t thread, std::size_t) { return thread <= last; }));
    launchBranchAt<Side::either>(in.data(), out.data(), N, last, ROUNDS);
    CHECK(goes([last](std::size_t thread, std::size_t block) {
      return std::bitset<32>(block).count() % 2 == 1 ? thread > last : thread <= last;
    }));
  }
  for (const unsigned bit : {0u, 1u, 32u, branchBlock}) {
    launchReturnEarly(in.data(), out.data(), N, bit, ROUNDS);
    CHECK(out.toHost() ==
          mapOnHost(values, [bit](unsigned x, std::size_t i) { return (i & bit) != 0 ? x : shiftXor(x, ROUNDS); }));
  }
  launchSecondWay(in.data(), out.data(), N, ROUNDS);
  CHECK(out.toHost() == mapOnHost(values, [](unsigned x, std::size_t) { return shiftXor(x, ROUNDS); }));
  launchShortly(in.data(), out.data(), N, ROUNDS);
  CHECK(out.toHost() == mapOnHost(values, [](unsigned x, std::size_t) { return collatz(x, ROUNDS); }));
}

TEMPLATE_TEST_CASE_SIG("branches of every length are taken by whom they should be", "", ((int LENGTH), LENGTH), 1, 7,
                       32) {
  constexpr std::size_t N = 301;
  const auto bits = randomVector<unsigned>(N, 5);
  const DeviceArray<unsigned> in(bits);
  DeviceArray<unsigned> out(N);
  launchBranchOfLength<LENGTH>(in.data(), out.data(), N, 40);
  CHECK(out.toHost() == mapOnHost(bits, [](unsigned x, std::size_t i) {
          return squareWhere<LENGTH>(x, static_cast<unsigned>(i), 40);
        }));
}

TEST_CASE("warps retire early where the threads that add are neighbours") {
  const auto counted = [](Addressing addressing) {
    DeviceArray<PassCounts> counts(std::vector<PassCounts>{PassCounts{}});
    launchCount(addressing, counts.data());
    return counts.toHost()[0];
  };
  const unsigned all[] = {8, 8, 8, 8, 8, 4, 2, 1}, splits[] = {8, 8, 8, 8, 8, 4, 2, 1};
  const PassCounts modulo = counted(Addressing::moduloOfThread);
  CHECK(std::memcmp(modulo.working, all, sizeof all) == 0);
  CHECK(std::memcmp(modulo.split, splits, sizeof splits) == 0);
  const unsigned fewer[] = {4, 2, 1, 1, 1, 1, 1, 1}, split[] = {0, 0, 0, 1, 1, 1, 1, 1};
  for (const Addressing addressing : {Addressing::firstThreads, Addressing::sequential}) {
    const PassCounts counts = counted(addressing);
    CHECK(std::memcmp(counts.working, fewer, sizeof fewer) == 0);
    CHECK(std::memcmp(counts.split, split, sizeof split) == 0);
  }
}

// ------------------------------------------------------------------------------------- occupancy

// The example of the textbook.
static_assert(occupancyOf(geforce8800, 10, 256) == 1.0);
static_assert(3 * occupancyOf(geforce8800, 17, 256) == 1.0);
static_assert(occupancyOf(geforce8800, 17, 128) == 0.5);
// 255 registers are 8160 a warp, given as 8192: 8 warps of 64.
static_assert(occupancyOf(hopper, 255, 128) == 0.125);
static_assert(occupancyOf(hopper, 32, 1024) == 1.0);
static_assert(occupancyOf(hopper, 32, 32) == 0.5);  // 32 blocks at most

// Two blocks of nearly 8 KB, but not of 8 KB; 128 bytes at a time.
static_assert(residentBlocks(geforce8800, 10, 64, 8192 - 16) == 2 && residentBlocks(geforce8800, 10, 64, 8192) == 1);
static_assert(residentBlocks(hopper, 32, 128, 13568) == 16 && residentBlocks(hopper, 32, 128, 13569) == 15);
static_assert(residentBlocks(hopper, 32, 128, 45568) == 5 && residentBlocks(hopper, 32, 128, 45600) == 4);
static_assert(residentBlocks(hopper, 32, 128, 227 * 1024) == 1 && residentBlocks(hopper, 32, 32, 0) == 32);

static_assert(waveEfficiency(1, 132) == 1.0 / 132 && waveEfficiency(132, 132) == 1 && waveEfficiency(264, 132) == 1);
static_assert(waveEfficiency(133, 132) == 133.0 / 264);

TEST_CASE("copies in loops, by grids of every size") {
  for (const std::size_t n : {1, 31, 1003, 4096}) {
    const auto values = randomVector<float>(n, 5);
    const DeviceArray<float> in(values);
    for (const unsigned blocks : {1u, 2u, 7u, 130u}) {
      DeviceArray<float> one(n), four(n);
      launchCopyInLoops<1>(in.data(), one.data(), n, blocks, 32);
      launchCopyInLoops<4>(in.data(), four.data(), n, blocks, 96);
      CHECK(one.toHost() == values);
      CHECK(four.toHost() == values);
    }
  }
}

TEMPLATE_TEST_CASE_SIG("items are copied, chains are followed", "", ((int COUNT), COUNT), 1, 2, 8) {
  constexpr std::size_t N = 1003;
  constexpr unsigned ROUNDS = 10;
  const auto values = randomVector<float>(N, 4);
  const DeviceArray<float> in(values);
  const auto sums = chainsOnHost<COUNT>(values, ROUNDS);
  for (const unsigned block : {32u, 96u, 256u}) {
    DeviceArray<float> copied(N), followed(N);
    launchCopyItems<COUNT>(in.data(), copied.data(), N, block, 5000);
    launchChains<COUNT>(in.data(), followed.data(), N, block, 5000, ROUNDS);
    CHECK(copied.toHost() == values);
    CHECK(followed.toHost() == sums);
  }
}

}  // namespace on_chip_test
