/// Cooperative groups, and launches whose blocks wait for each other.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cooperative_test {

namespace cg = cooperative_groups;

std::string report() { return gpuopt::emulation::lastReport(); }

// Each round adds the value of the next block's element, which that block has just written.
__global__ void rotateSums(int* a, int* b, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned long long n = grid.size(), i = grid.thread_rank();
  for (int round = 0; round < rounds; ++round) {
    b[i] = a[(i + blockDim.x) % n] + 1;
    grid.sync();
    a[i] = b[(i + blockDim.x) % n] + 1;
    cg::sync(grid);
  }
}

TEST_CASE("all blocks of a cooperative launch meet at the barrier of the grid") {
  for (const auto order : allOrders)
    for (const auto blocks : {gpuopt::emulation::BlockOrder::byNumber, gpuopt::emulation::BlockOrder::asLanes}) {
      const OrderScope scope(order, 1, blocks);
      const unsigned grid = 12, block = 40;
      Managed<int> a(grid * block), b(grid * block, -1);
      for (std::size_t i = 0; i < grid * block; ++i) a[i] = static_cast<int>(i);
      int *first = a.data(), *second = b.data(), rounds = 3;
      void* arguments[] = {&first, &second, &rounds};
      REQUIRE(cudaLaunchCooperativeKernel((void*)rotateSums, grid, block, arguments) == cudaSuccess);
      for (unsigned i = 0; i < grid * block; ++i)
        REQUIRE(a[i] == static_cast<int>((i + 6 * block) % (grid * block)) + 6);
    }
}

__global__ void syncGrid() { cg::this_grid().sync(); }
__global__ void syncSome(unsigned blocks) {
  if (blockIdx.x < blocks) cg::this_grid().sync();
}
__global__ void storeValidity(bool* out) { *out = cg::this_grid().is_valid(); }

TEST_CASE("what is wrong with a barrier of the grid is reported") {
  syncGrid<<<2, 3>>>();
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(report().find("grid.sync() needs a cooperative launch: cudaLaunchCooperativeKernel") != std::string::npos);
  unsigned blocks = 3;
  void* arguments[] = {&blocks};
  CHECK(cudaLaunchCooperativeKernel(syncSome, 4, 3, arguments) == cudaErrorLaunchFailure);
  CHECK(report().find("grid.sync() waits for blocks that have left the kernel") != std::string::npos);
  CHECK(cudaLaunchCooperativeKernel(syncGrid, 9, 1024, nullptr) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(report().find("of a cooperative launch the device holds 8 blocks, and the grid has 9") != std::string::npos);
  CHECK(cudaLaunchCooperativeKernel(syncGrid, 8, 1024, nullptr) == cudaSuccess);
  Managed<bool> valid(1, true);
  storeValidity<<<1, 1>>>(valid.data());
  CHECK(!valid[0]);
  cudaGetLastError();
}

__global__ void storeRanks(unsigned* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const cg::thread_group group = cg::tiled_partition(block, 4);
  unsigned* const own = out + 6 * (blockIdx.x * block.size() + block.thread_rank());
  own[0] = block.thread_rank();
  own[1] = block.size();
  own[2] = tile.thread_rank();
  own[3] = tile.meta_group_rank();
  own[4] = group.thread_rank();
  own[5] = 100 * block.group_index().x + 10 * block.thread_index().y + group.size();
}

TEST_CASE("threads have ranks in blocks and in tiles of them") {
  Managed<unsigned> out(std::size_t{6} * 2 * 40);
  storeRanks<<<2, dim3(8, 5)>>>(out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  for (unsigned i = 0; i < 80; ++i) {
    const unsigned rank = i % 40;
    const std::vector<unsigned> expected{rank, 40, rank % 8, rank / 8, rank % 4, 100 * (i / 40) + 10 * (rank / 8) + 4};
    for (std::size_t k = 0; k < 6; ++k) REQUIRE(out[6 * i + k] == expected[k]);
  }
}

struct Triple {
  short a, b, c;
};

// Any function of a tile, by all threads of a block of 64.
template <unsigned SIZE, class T, class Function>
std::vector<T> ofTile(Function function) {
  Managed<T> out(64);
  const auto kernel = [](Function f, T* to) {
    to[threadIdx.x] = f(cg::tiled_partition<SIZE>(cg::this_thread_block()));
  };
  void (*const pointer)(Function, T*) = kernel;
  pointer<<<1, 64>>>(function, out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return out.values();
}

TEST_CASE("tiles exchange values of any type") {
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    const auto up = ofTile<16, int>([](auto tile) { return tile.shfl_up(static_cast<int>(threadIdx.x), 3); });
    const auto down = ofTile<4, double>([](auto tile) { return tile.shfl_down(threadIdx.x / 2.0, 1); });
    const auto butterfly = ofTile<8, int>([](auto tile) { return tile.shfl_xor(static_cast<int>(threadIdx.x), 5); });
    const auto third = ofTile<32, int>([](auto tile) {
      const auto rank = static_cast<short>(tile.thread_rank());
      const Triple got = tile.shfl(Triple{rank, static_cast<short>(rank + 1), static_cast<short>(rank + 2)}, 7);
      return 10000 * got.a + 100 * got.b + got.c;
    });
    for (int i = 0; i < 64; ++i) {
      const auto at = static_cast<std::size_t>(i);
      REQUIRE(up[at] == (i % 16 < 3 ? i : i - 3));
      REQUIRE(down[at] == (i % 4 == 3 ? i : i + 1) / 2.0);
      REQUIRE(butterfly[at] == (i ^ 5));
      REQUIRE(third[at] == 70809);
    }
  }
}

TEST_CASE("votes and matches of a tile are numbered from its first thread") {
  const auto ballot = ofTile<8, unsigned>([](auto tile) { return tile.ballot(threadIdx.x % 3 == 0); });
  const auto any =
      ofTile<8, int>([](auto tile) { return tile.any(threadIdx.x == 17) + 2 * tile.all(threadIdx.x > 7); });
  const auto same = ofTile<4, unsigned>([](auto tile) { return tile.match_any(static_cast<int>(threadIdx.x) % 2); });
  const auto alike = ofTile<4, unsigned>([](auto tile) {
    int isSame = 7;
    const unsigned lanes = tile.match_all(threadIdx.x < 6 ? 1 : 2, isSame);
    return 100u * static_cast<unsigned>(isSame != 0) + lanes;
  });
  for (unsigned i = 0; i < 64; ++i) {
    unsigned expected = 0;
    for (unsigned k = 0; k < 8; ++k) expected |= ((i / 8 * 8 + k) % 3 == 0 ? 1u : 0u) << k;
    REQUIRE(ballot[i] == expected);
    REQUIRE(any[i] == (i / 8 == 2 ? 1 : 0) + (i >= 8 ? 2 : 0));
    REQUIRE(same[i] == (i % 2 == 0 ? 5u : 10u));
    REQUIRE(alike[i] == (i / 4 == 1 ? 0u : 115u));
  }
}

TEST_CASE("reductions and scans of tiles") {
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    const auto value = [] { return static_cast<int>(threadIdx.x * 7 % 11); };
    const auto sum = ofTile<16, int>([=](auto tile) { return cg::reduce(tile, value(), cg::plus<int>()); });
    const auto least = ofTile<32, int>([=](auto tile) { return cg::reduce(tile, value(), cg::less<int>()); });
    const auto upTo = ofTile<8, int>([=](auto tile) { return cg::inclusive_scan(tile, value()); });
    const auto before = ofTile<8, int>([=](auto tile) { return cg::exclusive_scan(tile, value(), cg::plus<int>()); });
    for (int i = 0; i < 64; ++i) {
      const auto at = static_cast<std::size_t>(i);
      int total = 0, running = 0, smallest = 100;
      for (int k = i / 16 * 16; k < i / 16 * 16 + 16; ++k) total += k * 7 % 11;
      for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) smallest = k * 7 % 11 < smallest ? k * 7 % 11 : smallest;
      for (int k = i / 8 * 8; k < i; ++k) running += k * 7 % 11;
      REQUIRE(sum[at] == total);
      REQUIRE(least[at] == smallest);
      REQUIRE(before[at] == running);
      REQUIRE(upTo[at] == running + i * 7 % 11);
    }
  }
}

TEST_CASE("groups of threads with the same predicate or label") {
  const auto sums = ofTile<32, int>([](auto tile) {
    const cg::coalesced_group odd = cg::binary_partition(tile, threadIdx.x % 2 == 1);
    return cg::reduce(odd, static_cast<int>(threadIdx.x), cg::plus<int>());
  });
  const auto ranks = ofTile<32, unsigned>([](auto tile) {
    const auto group = cg::labeled_partition(tile, static_cast<int>(threadIdx.x % 5));
    return 100 * group.size() + group.thread_rank();
  });
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned warp = i / 32 * 32;
    unsigned sum = 0, size = 0, rank = 0;
    for (unsigned k = warp; k < warp + 32; ++k) {
      if (k % 2 == i % 2) sum += k;
      if (k % 5 == i % 5) ++size, rank += k < i ? 1 : 0;
    }
    REQUIRE(sums[i] == static_cast<int>(sum));
    REQUIRE(ranks[i] == 100 * size + rank);
  }
}

__global__ void countAggregated(unsigned* counter, unsigned* slots, unsigned limit) {
  if (threadIdx.x >= limit) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  unsigned first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
  slots[active.shfl(first, 0) + active.thread_rank()] = threadIdx.x;
}

TEST_CASE("coalesced threads add together") {
  Managed<unsigned> counter(1, 0u), slots(64, 999u);
  countAggregated<<<1, 64>>>(counter.data(), slots.data(), 45);
  REQUIRE(counter[0] == 45);
  std::vector<unsigned> seen(64, 0);
  for (std::size_t i = 0; i < 45; ++i) ++seen[slots[i]];
  for (std::size_t i = 0; i < 45; ++i) REQUIRE(seen[i] == 1);
}

__device__ int sumOf(const cg::thread_group& group, int* scratch, int value) {
  for (unsigned i = group.size() / 2; i > 0; i /= 2) {
    scratch[group.thread_rank()] = value;
    group.sync();
    if (group.thread_rank() < i) value += scratch[group.thread_rank() + i];
    group.sync();
  }
  return value;
}

__global__ void sumByGroups(const int* in, int* out) {
  extern __shared__ int staged[];
  __shared__ int scratch[64];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in, 64 * sizeof(int));
  cg::wait(block);
  const int value = staged[63 - threadIdx.x];
  const int ofBlock = sumOf(block, scratch, value);
  const cg::thread_group four = cg::tiled_partition(block, 4);
  block.sync();
  const int ofFour = sumOf(four, scratch + threadIdx.x / 4 * 4, value);
  if (threadIdx.x == 0) out[0] = ofBlock;
  if (four.thread_rank() == 0) out[1 + threadIdx.x / 4] = ofFour;
}

TEST_CASE("functions of a group of any kind, and copies by a group") {
  Managed<int> in(64), out(17);
  for (std::size_t i = 0; i < 64; ++i) in[i] = static_cast<int>(i * i % 23);
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    sumByGroups<<<1, 64, 64 * sizeof(int)>>>(in.data(), out.data());
    REQUIRE(cudaGetLastError() == cudaSuccess);
    int total = 0;
    for (std::size_t four = 0; four < 16; ++four) {
      int sum = 0;
      for (std::size_t i = 0; i < 4; ++i) sum += in[63 - 4 * four - i];
      REQUIRE(out[1 + four] == sum);
      total += sum;
    }
    REQUIRE(out[0] == total);
  }
}

__global__ void divergeInTile() {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  if (threadIdx.x != 6) tile.sync();
}

TEST_CASE("a thread that does not come to a tile's barrier is reported") {
  divergeInTile<<<1, 8>>>();
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(report().find("threads 4-5, 7 wait in __syncwarp (mask 0xf0) at ") != std::string::npos);
  CHECK(report().find("cooperative_test.cu:") != std::string::npos);
}

}  // namespace cooperative_test
