// Races in shared memory, each mistake beside the kernel that is right.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <gpuopt/block/shared.cuh>

#include <cuda_pipeline_primitives.h>

namespace gpuopt::test::check_shared_test {
namespace {

constexpr unsigned BLOCK = 128;

/// The line of the function that begins behind it.
#define LINE_OF(name) constexpr int name = __LINE__

LINE_OF(REDUCE);
template <bool IS_RIGHT>
__global__ void reduceBlock(const int* in, int* out) {
  __shared__ int sums[BLOCK];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    if (IS_RIGHT) __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
}

TEST_CASE("check: a reduction without its barrier", "[check]") {
  DeviceArray<int> in(std::vector<int>(BLOCK, 1)), out(1);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), out.data());
  };
  CHECK(run(reduceBlock<true>).empty());
  const std::vector<Finding> findings = run(reduceBlock<false>);
  REQUIRE(findings.size() == 1);
  CHECK(isRaceAt(findings, REDUCE, 7, 7));
  CHECK(contains(findings[0].kernel, "reduceBlock<false>"));
  CHECK(contains(findings[0].text, "race on the shared variable "));
  CHECK(contains(findings[0].text, "::sums + "));
  CHECK(contains(findings[0].text, ", 0, 0) of block (0, 0, 0)"));
  CHECK(contains(findings[0].text, "__syncthreads() between them"));
}

LINE_OF(TILE);
template <bool IS_RIGHT>
__global__ void transposeTile(const float* in, float* out) {
  __shared__ float tile[32][33];
  const unsigned row = threadIdx.x / 32, column = threadIdx.x % 32;
  tile[row][column] = in[threadIdx.x];
  if (IS_RIGHT) __syncthreads();
  out[threadIdx.x] = tile[column][row];
}

TEST_CASE("check: a transposition's tile without its barrier", "[check]") {
  DeviceArray<float> in(std::vector<float>(1024, 1)), out(1024);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, 1024, static_cast<const float*>(in.data()), out.data());
  };
  CHECK(run(transposeTile<true>).empty());
  const std::vector<Finding> findings = run(transposeTile<false>);
  CHECK(findings.size() == 1);
  CHECK(isRaceAt(findings, TILE, 5, 7));
}

LINE_OF(DOUBLE_BUFFER);
template <unsigned BUFFERS>
__global__ void shiftRows(const int* in, int* out, unsigned rows) {
  __shared__ int buffer[2][BLOCK];
  for (unsigned row = 0; row < rows; ++row) {
    int* const current = buffer[row % BUFFERS];
    current[threadIdx.x] = in[row * BLOCK + threadIdx.x];
    __syncthreads();
    out[row * BLOCK + threadIdx.x] = current[(threadIdx.x + 1) % BLOCK];
  }
}

TEST_CASE("check: one buffer where the barrier asks for two", "[check]") {
  DeviceArray<int> in(std::vector<int>(4 * BLOCK, 1)), out(4 * BLOCK);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), out.data(), 4u);
  };
  CHECK(run(shiftRows<2>).empty());
  const std::vector<Finding> findings = run(shiftRows<1>);
  CHECK(findings.size() == 1);
  CHECK(isRaceAt(findings, DOUBLE_BUFFER, 6, 8));
}

LINE_OF(WARP_SCAN);
template <class Word, bool IS_RIGHT>
__global__ void scanWarp(const int* in, int* out) {
  __shared__ int storage[32];
  Word* const sums = storage;
  sums[threadIdx.x] = in[threadIdx.x];
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    if (IS_RIGHT) __syncwarp();
    const int below = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    if (IS_RIGHT) __syncwarp();
    sums[threadIdx.x] = sums[threadIdx.x] + below;
  }
  out[threadIdx.x] = sums[threadIdx.x];
}

TEST_CASE("check: a warp's scan that trusts in lockstep, also a volatile one", "[check]") {
  DeviceArray<int> in(std::vector<int>(32, 1)), out(32);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, 32, static_cast<const int*>(in.data()), out.data());
  };
  CHECK(run(scanWarp<int, true>).empty());
  CHECK(run(scanWarp<volatile int, true>).empty());
  for (const std::vector<Finding>& findings : {run(scanWarp<int, false>), run(scanWarp<volatile int, false>)}) {
    CHECK((isRaceAt(findings, WARP_SCAN, 5, 8) || isRaceAt(findings, WARP_SCAN, 8, 10)));  // as the lanes' order says
    CHECK(contains(findings.at(0).text, "__syncwarp() between them"));
  }
}

LINE_OF(LAST_WARP);
template <bool IS_RIGHT>
__global__ void reduceLastWarp(const int* in, int* out) {
  __shared__ int storage[BLOCK];
  volatile int* const sums = storage;
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      const int other = sums[threadIdx.x + stride];
      if (IS_RIGHT) __syncwarp();
      sums[threadIdx.x] = sums[threadIdx.x] + other;
      if (IS_RIGHT) __syncwarp();
    }
  }
  if (threadIdx.x == 0) *out = sums[0];
}

TEST_CASE("check: a reduction whose last warp trusts in lockstep", "[check]") {
  DeviceArray<int> in(std::vector<int>(BLOCK, 1)), out(1);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), out.data());
  };
  CHECK(run(reduceLastWarp<true>).empty());
  const std::vector<Finding> findings = run(reduceLastWarp<false>);
  REQUIRE_FALSE(findings.empty());
  CHECK(isRaceAt(findings, LAST_WARP, 11, 13));
  CHECK(contains(findings[0].text, "__syncwarp() between them"));
}

/// Lanes 0 to 15 and 16 to 31 each on their own.
template <bool IS_RIGHT>
__global__ void exchangeInHalves(int* out) {
  __shared__ int values[32];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  const unsigned half = threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u;
  __syncwarp(half);
  out[threadIdx.x] = values[threadIdx.x ^ (IS_RIGHT ? 15 : 31)];
}

TEST_CASE("check: __syncwarp orders the lanes of its mask", "[check]") {
  DeviceArray<int> out(32);
  CHECK(findingsOf(exchangeInHalves<true>, 1, 32, out.data()).empty());
  CHECK(findingsOf(exchangeInHalves<false>, 1, 32, out.data()).size() == 1);
}

/// A warp's collective orders its lanes, and a block's barrier all: one of two warps alone is not enough.
template <bool IS_RIGHT>
__global__ void broadcast(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = 1;
  const int own = __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x), 0);
  if (IS_RIGHT) __syncthreads();
  out[threadIdx.x] = own + value;
}

TEST_CASE("check: a shuffle orders a warp, not a block", "[check]") {
  DeviceArray<int> out(64);
  CHECK(findingsOf(broadcast<false>, 1, 32, out.data()).empty());
  CHECK(findingsOf(broadcast<true>, 1, 64, out.data()).empty());
  CHECK(findingsOf(broadcast<false>, 1, 64, out.data()).size() == 1);
}

LINE_OF(HISTOGRAM);
template <bool IS_RIGHT>
__global__ void countBins(const int* in, int* bins) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  if (IS_RIGHT)
    atomicAdd(&counts[in[threadIdx.x]], 1);
  else
    ++counts[in[threadIdx.x]];
  __syncthreads();
  if (threadIdx.x < 8) bins[threadIdx.x] = counts[threadIdx.x];
}

TEST_CASE("check: a histogram without atomic functions", "[check]") {
  std::vector<int> values(BLOCK);
  for (unsigned i = 0; i < BLOCK; ++i) values[i] = static_cast<int>(i * 5 % 8);
  DeviceArray<int> in(values), bins(8);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), bins.data());
  };
  CHECK(run(countBins<true>).empty());
  const std::vector<Finding> findings = run(countBins<false>);
  CHECK(findings.size() == 1);
  CHECK(isRaceAt(findings, HISTOGRAM, 9, 9));
  CHECK(contains(findings.at(0).text, "an atomic function"));
}

enum class Wait { none, late, right };

LINE_OF(ASYNC);
template <Wait WAIT>
__global__ void copyAsynchronously(const int4* in, int4* out) {
  __shared__ int4 buffer[BLOCK];
  __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(int4));
  __pipeline_commit();
  if (WAIT == Wait::right) __pipeline_wait_prior(0);
  __syncthreads();
  if (WAIT == Wait::late) __pipeline_wait_prior(0);
  out[threadIdx.x] = buffer[BLOCK - 1 - threadIdx.x];
}

TEST_CASE("check: asynchronous copies are awaited, then shared", "[check]") {
  DeviceArray<int4> in(std::vector<int4>(BLOCK, int4{})), out(BLOCK);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int4*>(in.data()), out.data());
  };
  CHECK(run(copyAsynchronously<Wait::right>).empty());
  CHECK(isRaceAt(run(copyAsynchronously<Wait::late>), ASYNC, 4, 9));
  const std::vector<Finding> findings = run(copyAsynchronously<Wait::none>);
  CHECK(isRaceAt(findings, ASYNC, 4, 9));
  CHECK(contains(findings.at(0).text, "__pipeline_wait_prior()"));
}

/// Every block has shared memory of its own, also where one worker runs them all.
__global__ void useOwnMemory(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = static_cast<int>(blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 1) out[blockIdx.x] = value;
}

TEST_CASE("check: shared memory of several blocks", "[check]") {
  DeviceArray<int> out(100);
  CHECK(findingsOf(useOwnMemory, 100, 32, out.data()).empty());
}

__global__ void readDynamic(int* out) {
  int* const values = dynamicShared<int>();
  values[threadIdx.x] = 1;
  out[threadIdx.x] = values[threadIdx.x];
}

TEST_CASE("check: dynamic shared memory ends where the launch says", "[check]") {
  DeviceArray<int> out(64);
  LaunchConfig config;
  config.block = dim3(64);
  config.sharedBytes = 64 * sizeof(int);
  CHECK(findRaces([&] { launch(readDynamic, config, out.data()); }).empty());
  config.sharedBytes -= sizeof(int);
  const std::vector<Finding> findings = findRaces([&] { launch(readDynamic, config, out.data()); });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::outOfBounds);
  CHECK(contains(findings[0].text, "dynamic shared memory + 252 bytes"));
}

}  // namespace
}  // namespace gpuopt::test::check_shared_test
