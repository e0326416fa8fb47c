/// What goes through the caches: loads by modifier, prefetches, asynchronous copies, atomics, rows far apart.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/async_copies.cuh"
#include "../../examples/experiments/atomics.cuh"
#include "../../examples/experiments/caches.cuh"
#include "../../examples/experiments/memory_rows.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <numeric>
#include <vector>

namespace caches_test {

using namespace experiments;
using gpuopt::test::DeviceArray;
using gpuopt::test::randomVector;

TEMPLATE_TEST_CASE("loads read the same with every modifier", "", LoadCa, LoadCg, LoadCs, LoadLu, LoadCv, LoadNc) {
  constexpr unsigned BLOCKS = 3, LINES = 16, ROUNDS = 11;
  const auto words = randomVector<unsigned>(BLOCKS * LINES * 32, 1);
  const DeviceArray<unsigned> in(words);
  for (const unsigned apart : {1u, 32u}) {
    DeviceArray<unsigned> out(BLOCKS * cacheBlock);
    launchReadAgain(in.data(), out.data(), BLOCKS, LINES, apart, ROUNDS, TestType{});
    CHECK(out.toHost() == readAgainOnHost(words, BLOCKS, LINES, apart, ROUNDS));
  }
  DeviceArray<unsigned> out(2 * cacheBlock);
  launchSumWords(in.data(), out.data(), words.size(), 2, TestType{});
  CHECK(out.toHost() == stridedSumsOnHost(words, 2 * cacheBlock, 1));
}

TEMPLATE_TEST_CASE_SIG("prefetches change no sum", "", ((unsigned DISTANCE), DISTANCE), 0, 1, 8) {
  for (const std::size_t n : {1, 31, 512, 1025}) {
    const auto words = randomVector<unsigned>(4 * n, 2);
    const DeviceArray<unsigned> in(words);
    DeviceArray<unsigned> out(2 * cacheBlock);
    launchSumAhead<DISTANCE>(reinterpret_cast<const uint4*>(in.data()), out.data(), n, 2);
    CHECK(out.toHost() == stridedSumsOnHost(words, 2 * cacheBlock, 4));
  }
}

TEST_CASE("a window that L2 keeps is set and taken back") {
  DeviceArray<unsigned> data(std::vector<unsigned>(1024, 0));
  CHECK_NOTHROW(keepInL2(data.data(), 4096));
  CHECK_NOTHROW(keepInL2(nullptr, 0));
}

TEST_CASE("tiles come by registers and by asynchronous copies") {
  for (const unsigned tiles : {1u, 3u, 16u}) {
    const auto words = randomVector<unsigned>(tiles * tileBlock * 4, 3);
    const DeviceArray<unsigned> in(words);
    for (const TileStep& step : tileSteps)
      for (const unsigned blocks : {1u, 5u}) {
        INFO(step.name << ", " << tiles << " tiles, " << blocks << " blocks");
        DeviceArray<unsigned> out(blocks * tileBlock);
        launchTileStep(step, reinterpret_cast<const uint4*>(in.data()), out.data(), tiles, blocks);
        CHECK(out.toHost() == tileSumsOnHost(words, blocks));
      }
  }
}

TEST_CASE("atomic additions are counted wherever they go") {
  constexpr unsigned BLOCKS = 2, ROUNDS = 7;
  for (const unsigned words : {1u, 32u, 512u}) {
    for (const unsigned apart : {1u, 32u}) {
      DeviceArray<unsigned> device(std::vector<unsigned>(words * apart, 0)),
          system(std::vector<unsigned>(words * apart, 0));
      launchAddSpread(device.data(), BLOCKS, words, apart, ROUNDS, DeviceScope{});
      launchAddSpread(system.data(), BLOCKS, words, apart, ROUNDS, SystemScope{});
      CHECK(device.toHost() == spreadOnHost(BLOCKS, words, apart, ROUNDS));
      CHECK(system.toHost() == spreadOnHost(BLOCKS, words, apart, ROUNDS));
    }
    DeviceArray<unsigned> block(std::vector<unsigned>(words, 0)), shared(std::vector<unsigned>(words, 0));
    launchAddSpread(block.data(), 1, words, 1, ROUNDS, BlockScope{});
    launchAddSpreadShared(shared.data(), BLOCKS, words, ROUNDS);
    CHECK(block.toHost() == spreadOnHost(1, words, 1, ROUNDS));
    CHECK(shared.toHost() == spreadOnHost(BLOCKS, words, 1, ROUNDS));
  }
}

TEMPLATE_TEST_CASE_SIG("sums are added to one word", "", ((AddedBy BY), BY), AddedBy::thread, AddedBy::warp,
                       AddedBy::block) {
  for (const std::size_t n : {1, 255, 1000}) {
    const auto words = randomVector<unsigned>(n, 4);
    const DeviceArray<unsigned> in(words);
    DeviceArray<unsigned> total(std::vector<unsigned>{5});
    launchSumToOneWord<BY>(in.data(), total.data(), n);
    CHECK(total.toHost()[0] == std::accumulate(words.begin(), words.end(), 5u));
  }
}

TEST_CASE("rows that are far apart are read along and down") {
  for (const FarRows matrix : {FarRows{1, 1, 32}, {37, 5, 200}, {64, 2, 65}}) {
    const auto words = randomVector<unsigned>(matrix.rows * matrix.pitch, 5);
    const DeviceArray<unsigned> in(words);
    for (const Walk walk : {Walk::alongRows, Walk::downColumns}) {
      DeviceArray<unsigned> sums(ceilDivide(matrix.items(), linesOfWarp));
      launchFarRows(in.data(), sums.data(), matrix, walk);
      CHECK(sums.toHost() == farRowsOnHost(words, matrix, walk));
    }
  }
}

}  // namespace caches_test
