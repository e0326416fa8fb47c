/// \file
/// Configurations from occupancy queries, their caches, and what limits a kernel.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/block/shared.cuh>
#include <gpuopt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>

namespace host_test::occupancy_test {

__global__ void plain(int* data) { ++data[blockIdx.x]; }

// Needs registers for 160 values across a barrier.
__global__ void __launch_bounds__(256, 1) manyRegisters(float* data) {
  constexpr int VALUES = 160;
  float values[VALUES];
#pragma unroll
  for (int i = 0; i < VALUES; ++i) values[i] = data[i * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < VALUES; ++i) {
    data[i * 256 + threadIdx.x] = values[VALUES - 1 - i] + values[(i * 7) % VALUES];
  }
}

__global__ void muchShared(int* data) {
  __shared__ int values[40 * 256];  // 40 KB
  for (int i = static_cast<int>(threadIdx.x); i < 40 * 256; i += static_cast<int>(blockDim.x)) values[i] = data[i];
  __syncthreads();
  data[threadIdx.x] = values[40 * 256 - 1 - threadIdx.x];
}

__global__ void lastShared(unsigned char* out, unsigned bytes) {
  auto* shared = gpuopt::dynamicShared<unsigned char>();
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) shared[i] = static_cast<unsigned char>(i % 251);
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[bytes - 1];
}

__global__ void __launch_bounds__(64) bounded(int* data) { ++*data; }

}  // namespace host_test::occupancy_test

using namespace gpuopt::test;
using gpuopt::LaunchConfig;
using gpuopt::maxOccupancyConfig;
using gpuopt::occupancyConfig;
using gpuopt::OccupancyReport;
using host_test::occupancy_test::plain;

namespace {

template <class Kernel>
int residentBlocks(Kernel* kernel, int block, std::size_t sharedBytes) {
  int blocks = -1;
  gpuopt::check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(kernel), block, sharedBytes),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

int limitOf(cudaDeviceAttr attribute) { return gpuopt::deviceAttribute(attribute, 0); }

/// Repeats more queries than a thread caches: true if every answer is the runtime's own.
bool answersAreTheRuntimes(int start) {
  constexpr std::size_t SHARED[] = {0, 128, 4096, 20000};
  constexpr int QUESTIONS = 32 * 4;
  for (int i = 0; i < 3 * QUESTIONS; ++i) {
    const int question = (start + i * 5) % QUESTIONS;  // 5 and 128 are coprime
    const int block = 32 * (question % 32 + 1);
    const std::size_t shared = SHARED[question / 32];
    const LaunchConfig one = occupancyConfig(plain, PTRDIFF_MAX, block, 1, shared);
    if (one.blocksPerMultiprocessor != residentBlocks(plain, block, shared)) return false;
    if (block > 64) continue;
    const LaunchConfig other = occupancyConfig(host_test::occupancy_test::bounded, PTRDIFF_MAX, block, 1, shared);
    if (other.blocksPerMultiprocessor != residentBlocks(host_test::occupancy_test::bounded, block, shared))
      return false;
  }
  return true;
}

int fewest(const OccupancyReport& report) {
  return (std::min)(
      {report.allowedByRegisters, report.allowedBySharedMemory, report.allowedByThreads, report.allowedByBlocks});
}

}  // namespace

TEST_CASE("the grid covers the items, and no more") {
  struct Case {
    std::size_t items;
    int block;
    std::size_t itemsPerThread;
    unsigned grid;
  };
  for (const Case& c : {Case{1, 256, 1, 1}, Case{255, 256, 1, 1}, Case{256, 256, 1, 1}, Case{257, 256, 1, 2},
                        Case{512, 256, 1, 2}, Case{513, 256, 1, 3}, Case{1023, 128, 4, 2}, Case{1024, 128, 4, 2},
                        Case{1025, 128, 4, 3}, Case{1, 1024, 1000, 1}, Case{100, 33, 1, 4},
                        Case{PTRDIFF_MAX, 256, PTRDIFF_MAX, 1}, Case{PTRDIFF_MAX, 2, PTRDIFF_MAX / 2, 2}}) {
    CAPTURE(c.items, c.block, c.itemsPerThread);
    REQUIRE(occupancyConfig(plain, c.items, c.block, c.itemsPerThread).grid.x == c.grid);
  }
}

TEST_CASE("much work fills the device once") {
  const LaunchConfig config = occupancyConfig(plain, PTRDIFF_MAX, 256);
  const int blocks = residentBlocks(plain, 256, 0);
  REQUIRE(config.blocksPerMultiprocessor == blocks);
  REQUIRE(config.grid.x == static_cast<unsigned>(blocks * limitOf(cudaDevAttrMultiProcessorCount)));
  REQUIRE((config.grid.y == 1 && config.grid.z == 1));
  const double warps = blocks * 256.0 / limitOf(cudaDevAttrMaxThreadsPerMultiProcessor);
  REQUIRE(config.occupancy == warps);
}

TEST_CASE("a block that is no multiple of a warp occupies whole warps") {
  const LaunchConfig config = occupancyConfig(plain, PTRDIFF_MAX, 33);
  const int warps = 2 * residentBlocks(plain, 33, 0);
  REQUIRE(config.occupancy == warps * 32.0 / limitOf(cudaDevAttrMaxThreadsPerMultiProcessor));
}

TEST_CASE("block, shared memory and stream are the caller's") {
  Stream stream;
  const LaunchConfig config = occupancyConfig(plain, 1000, 96, 2, 640, stream);
  REQUIRE((config.block.x == 96 && config.block.y == 1 && config.block.z == 1));
  REQUIRE(config.sharedBytes == 640);
  REQUIRE(config.stream == static_cast<cudaStream_t>(stream));
  REQUIRE((config.cluster == 1 && !config.programmatic));
}

TEST_CASE("the shared-memory limit is raised, and never lowered again") {
  const auto limit = static_cast<unsigned>(limitOf(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  DeviceArray<unsigned char> out(1);
  const LaunchConfig large = occupancyConfig(host_test::occupancy_test::lastShared, 1, 128, 1, limit);
  gpuopt::launch(host_test::occupancy_test::lastShared, large, out.data(), limit);
  REQUIRE(out.toHost()[0] == (limit - 1) % 251);
  const LaunchConfig less = occupancyConfig(host_test::occupancy_test::lastShared, 1, 128, 1, limit - 1024);
  gpuopt::launch(host_test::occupancy_test::lastShared, less, out.data(), limit - 1024);
  REQUIRE(out.toHost()[0] == (limit - 1025) % 251);
  gpuopt::launch(host_test::occupancy_test::lastShared, large, out.data(), limit);
  REQUIRE(out.toHost()[0] == (limit - 1) % 251);
}

TEST_CASE("impossible requests are refused with parameter and values, every time") {
  const auto refusal = [](std::size_t items, int block, std::size_t itemsPerThread, std::size_t shared) {
    return messageOf<std::invalid_argument>(
        [=] { static_cast<void>(occupancyConfig(plain, items, block, itemsPerThread, shared)); });
  };
  const auto limit = static_cast<std::size_t>(limitOf(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  for (int round = 0; round < 2; ++round) {
    // WRITTEN launch: occupancyConfig(kernel, items, 2048)
    REQUIRE(contains(refusal(1, 2048, 1, 0), "gpuopt::occupancyConfig: block (2048) is not between 1 and 1024"));
    REQUIRE(contains(refusal(1, 0, 1, 0), "block (0)"));
    REQUIRE(contains(refusal(1, -32, 1, 0), "block (-32)"));
    REQUIRE(contains(refusal(0, 256, 1, 0), "items (0)"));
    REQUIRE(contains(refusal(1, 256, 0, 0), "itemsPerThread (0)"));
    const std::string tooMuch = refusal(1, 256, 1, limit + 1);
    REQUIRE(contains(tooMuch, "sharedBytes (" + std::to_string(limit + 1) + ")"));
    REQUIRE(contains(tooMuch, "exceed " + std::to_string(limit)));
    REQUIRE(contains(tooMuch, "host_test::occupancy_test::plain(int*)"));
    REQUIRE(contains(refusal(1, 256, 1, SIZE_MAX), "sharedBytes (-1) is negative"));
    REQUIRE(occupancyConfig(plain, 1, 256, 1, 1024).grid.x == 1);
  }
  REQUIRE_THROWS_AS(maxOccupancyConfig(plain, 0), std::invalid_argument);
  REQUIRE_THROWS_AS(maxOccupancyConfig(plain, 1, 1, limit + 1), std::invalid_argument);
  REQUIRE_THROWS_AS(gpuopt::explainOccupancy(plain, 2048), std::invalid_argument);
  void (*nothing)(int*) = nullptr;
  REQUIRE_THROWS_AS(occupancyConfig(nothing, 1, 256), std::invalid_argument);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an earlier error is neither swallowed nor reported by the queries") {
  const cudaError_t earlier = leaveEarlierError();
  REQUIRE_NOTHROW(occupancyConfig(plain, 1000, 224));
  REQUIRE_NOTHROW(maxOccupancyConfig(plain, 1000));
  REQUIRE_THROWS_AS(occupancyConfig(plain, 1, 2048), std::invalid_argument);
  REQUIRE(cudaGetLastError() == earlier);
}

TEST_CASE("remembered answers belong to their questions") { REQUIRE(answersAreTheRuntimes(0)); }

TEST_CASE("many threads get the same answers") {
  REQUIRE(failuresAmongThreads(8, [](int thread) { return answersAreTheRuntimes(thread * 17); }) == 0);
}

TEST_CASE("the block of highest occupancy is found") {
  for (const std::size_t shared : {std::size_t{0}, std::size_t{10000}, std::size_t{40000}}) {
    CAPTURE(shared);
    const LaunchConfig config = maxOccupancyConfig(plain, PTRDIFF_MAX, 1, shared);
    const int threads = static_cast<int>(config.block.x) * config.blocksPerMultiprocessor;
    int best = 0;
    for (int block = 32; block <= 1024; block += 32)
      best = (std::max)(best, block * residentBlocks(plain, block, shared));
    REQUIRE(threads == best);
    REQUIRE(config.blocksPerMultiprocessor == residentBlocks(plain, static_cast<int>(config.block.x), shared));
    REQUIRE(config.sharedBytes == shared);
  }
  const LaunchConfig little = maxOccupancyConfig(plain, 1);
  REQUIRE(little.grid.x == 1);
}

TEST_CASE("the explanation agrees with the occupancy query for every block size") {
  for (const std::size_t shared : {0, 1, 1023, 1024, 7000, 16384, 48 * 1024}) {
    for (int block = 1; block <= 1024; block += block < 70 ? 1 : 37) {
      const OccupancyReport report = gpuopt::explainOccupancy(plain, block, shared);
      CAPTURE(shared, block, report);
      REQUIRE(report.blocksPerMultiprocessor == residentBlocks(plain, block, shared));
      REQUIRE(fewest(report) == report.blocksPerMultiprocessor);
      REQUIRE_FALSE(report.limits().empty());
    }
  }
}

TEST_CASE("threads, blocks and shared memory are named as limits") {
  REQUIRE(gpuopt::explainOccupancy(plain, 1024).limitedByThreads());
  REQUIRE_FALSE(gpuopt::explainOccupancy(plain, 1024).limitedByBlocks());
  REQUIRE(gpuopt::explainOccupancy(plain, 1).limitedByBlocks());
  REQUIRE(gpuopt::explainOccupancy(plain, 1, 48 * 1024).limits() == "shared memory");
}

TEST_CASE("the explanation is printed with the kernel, the numbers and the limit") {
  std::ostringstream out;
  out << gpuopt::explainOccupancy(plain, 32, 40000);
  const std::string text = out.str();
  for (const char* part : {"host_test::occupancy_test::plain(int*)", "32 threads a block", "limited by shared memory",
                           "registers:", "40000 dynamic", "threads:", "blocks:"}) {
    CAPTURE(text, part);
    REQUIRE(contains(text, part));
  }
}

#ifndef GPUOPT_EMULATION

// Only a GPU's runtime knows a kernel's registers, static shared memory and launch bounds.

TEST_CASE("registers are named as the limit, and the numbers agree") {
  for (int block = 32; block <= 256; block += 32) {
    const OccupancyReport report = gpuopt::explainOccupancy(host_test::occupancy_test::manyRegisters, block);
    CAPTURE(block, report);
    REQUIRE(report.registersPerThread >= 128);
    REQUIRE(fewest(report) == residentBlocks(host_test::occupancy_test::manyRegisters, block, 0));
    REQUIRE(report.limits() == "registers");
  }
}

TEST_CASE("threads alone limit a kernel with few registers") {
  REQUIRE(gpuopt::explainOccupancy(plain, 1024).limits() == "threads");
}

TEST_CASE("static shared memory counts") {
  const OccupancyReport report = gpuopt::explainOccupancy(host_test::occupancy_test::muchShared, 128);
  CAPTURE(report);
  REQUIRE(report.staticSharedBytes == 40 * 1024);
  REQUIRE(fewest(report) == residentBlocks(host_test::occupancy_test::muchShared, 128, 0));
  REQUIRE(report.limits() == "shared memory");
  // 40 KB static and 20 KB dynamic shared memory exceed 48 KB together, so the limit must be raised.
  REQUIRE_NOTHROW(occupancyConfig(host_test::occupancy_test::muchShared, 1, 128, 1, 20 * 1024));
}

TEST_CASE("an occupancy query: a block beyond the kernel's own limit is refused with that limit") {
  const std::string text = messageOf<std::invalid_argument>(
      [] { static_cast<void>(occupancyConfig(host_test::occupancy_test::bounded, 1, 128)); });
  REQUIRE(contains(text, "block (128) exceeds 64, the limit of the kernel's registers or launch bounds"));
  REQUIRE(maxOccupancyConfig(host_test::occupancy_test::bounded, PTRDIFF_MAX).block.x <= 64);
}

TEST_CASE("the block of highest occupancy is the runtime's choice") {
  int grid = 0;
  int block = 0;
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, host_test::occupancy_test::manyRegisters) == cudaSuccess);
  REQUIRE(maxOccupancyConfig(host_test::occupancy_test::manyRegisters, PTRDIFF_MAX).block.x ==
          static_cast<unsigned>(block));
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain) == cudaSuccess);
  REQUIRE(maxOccupancyConfig(plain, PTRDIFF_MAX).block.x == static_cast<unsigned>(block));
}

#endif
