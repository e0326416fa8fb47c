/// Copies from global to shared memory past the registers.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <vector>

namespace async_copy_test {

using namespace gpuopt::test;

constexpr unsigned BLOCK = 64;
constexpr unsigned COPIES = 5;
constexpr unsigned VECTORS = COPIES * BLOCK;

// Each thread starts COPIES copies and writes out what another thread has copied.
__global__ void exchangeKernel(const uint4* in, uint4* out) {
  alignas(16) __shared__ unsigned char storage[VECTORS * sizeof(uint4)];
  uint4* shared = reinterpret_cast<uint4*>(storage);
  for (unsigned i = threadIdx.x; i < VECTORS; i += BLOCK) gpuopt::detail::copyAsync16(shared + i, in + i);
  gpuopt::detail::awaitAsyncCopies();
  __syncthreads();
  for (unsigned i = threadIdx.x; i < VECTORS; i += BLOCK) out[i] = shared[VECTORS - 1 - i];
}

// Each thread starts a group for every round, and waits for one while the next ones are on their way. Between
// the groups there are empty ones.
__global__ void roundsKernel(const uint4* in, uint4* out) {
  alignas(16) __shared__ unsigned char storage[VECTORS * sizeof(uint4)];
  uint4* shared = reinterpret_cast<uint4*>(storage);
  for (unsigned round = 0; round < COPIES; ++round) {
    const unsigned i = round * BLOCK + threadIdx.x;
    gpuopt::detail::copyAsync16(shared + i, in + i);
    gpuopt::detail::commitAsyncCopies();
    gpuopt::detail::commitAsyncCopies();
  }
  const auto writeRound = [&](unsigned round) {
    __syncthreads();
    out[round * BLOCK + threadIdx.x] = shared[round * BLOCK + BLOCK - 1 - threadIdx.x];
  };
  gpuopt::detail::awaitAsyncCopies<2 * (COPIES - 1) + 1>();
  writeRound(0);
  gpuopt::detail::awaitAsyncCopies<2 * (COPIES - 2)>();
  writeRound(1);
  gpuopt::detail::awaitAsyncCopies<0>();
  for (unsigned round = 2; round < COPIES; ++round) writeRound(round);
}

TEST_CASE("copyAsync16 brings vectors into shared memory") {
  const std::vector<unsigned> words = randomVector<unsigned>(4 * VECTORS, 1);
  const DeviceArray<unsigned> in(words);
  DeviceArray<unsigned> out(words.size());
  gpuopt::LaunchConfig config;
  config.block = dim3(BLOCK);
  gpuopt::launch(exchangeKernel, config, reinterpret_cast<const uint4*>(in.data()),
                 reinterpret_cast<uint4*>(out.data()));
  const std::vector<unsigned> found = out.toHost();
  for (unsigned i = 0; i < words.size(); ++i) REQUIRE(found[i] == words[4 * (VECTORS - 1 - i / 4) + i % 4]);
}

TEST_CASE("Groups of copies are awaited one after another") {
  const std::vector<unsigned> words = randomVector<unsigned>(4 * VECTORS, 2);
  const DeviceArray<unsigned> in(words);
  DeviceArray<unsigned> out(words.size());
  gpuopt::LaunchConfig config;
  config.block = dim3(BLOCK);
  gpuopt::launch(roundsKernel, config, reinterpret_cast<const uint4*>(in.data()), reinterpret_cast<uint4*>(out.data()));
  const std::vector<unsigned> found = out.toHost();
  for (unsigned i = 0; i < words.size(); ++i) {
    const unsigned vector = i / 4, round = vector / BLOCK;
    REQUIRE(found[i] == words[4 * (round * BLOCK + BLOCK - 1 - vector % BLOCK) + i % 4]);
  }
}

}  // namespace async_copy_test
