/// Words of a warp between stripes and blocks, for numbers of words with every divisor in common with 32.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/warp/exchange.cuh>

#include <cstddef>
#include <utility>
#include <vector>

namespace exchange_test {

using namespace gpuopt::test;

constexpr unsigned THREADS = 64;

template <unsigned COUNT>
__global__ void exchangeKernel(unsigned* blocked, unsigned* striped) {
  const unsigned thread = static_cast<unsigned>(gpuopt::threadRank());
  const unsigned warp = thread / 32, lane = thread % 32;
  unsigned words[COUNT];
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i) words[i] = warp * 32 * COUNT + 32 * i + lane;
  gpuopt::warpStripedToBlocked(words);
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i) blocked[thread * COUNT + i] = words[i];
  gpuopt::warpBlockedToStriped(words);
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i) striped[warp * 32 * COUNT + 32 * i + lane] = words[i];
}

template <unsigned COUNT>
void checkCount() {
  INFO(COUNT << " words");
  DeviceArray<unsigned> blocked(THREADS * COUNT), striped(THREADS * COUNT);
  gpuopt::LaunchConfig config;
  config.block = dim3(8, THREADS / 8);
  gpuopt::launch(exchangeKernel<COUNT>, config, blocked.data(), striped.data());
  std::vector<unsigned> numbers(THREADS * COUNT);
  for (unsigned i = 0; i < numbers.size(); ++i) numbers[i] = i;
  CHECK(blocked.toHost() == numbers);
  CHECK(striped.toHost() == numbers);
}

template <unsigned... COUNTS>
void checkCounts(std::integer_sequence<unsigned, COUNTS...>) {
  (checkCount<COUNTS>(), ...);
}

TEST_CASE("Striped words become blocked ones, and striped ones again", "[warp]") {
  checkCounts(
      std::integer_sequence<unsigned, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 25, 31, 32, 33, 40, 48, 63, 64, 96>{});
}

}  // namespace exchange_test
