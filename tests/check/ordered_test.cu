// What orders accesses besides barriers of a block: libcu++'s barriers, pipelines and atomics, and groups of threads.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <vector>

namespace gpuopt::test::check_ordered_test {
namespace {

constexpr unsigned BLOCK = 64;

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

enum class Barriers { both, withoutWait, withoutSecond };

template <Barriers BARRIERS>
__global__ void rotate(int* out, int rounds) {
  __shared__ int values[BLOCK];
  __shared__ BlockBarrier ready, free;
  if (threadIdx.x == 0) {
    init(&ready, BLOCK);
    init(&free, BLOCK);
  }
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    values[threadIdx.x] = static_cast<int>(threadIdx.x) + round;
    auto token = ready.arrive();
    if (BARRIERS != Barriers::withoutWait) ready.wait(token);
    out[threadIdx.x] = values[(threadIdx.x + 1) % BLOCK];
    if (BARRIERS != Barriers::withoutSecond) free.arrive_and_wait();
  }
}

TEST_CASE("check: cuda::barrier orders those who wait", "[check]") {
  DeviceArray<int> out(BLOCK);
  CHECK(findingsOf(rotate<Barriers::both>, 1, BLOCK, out.data(), 3).empty());
  CHECK(findingsOf(rotate<Barriers::withoutWait>, 1, BLOCK, out.data(), 1).size() == 1);
  CHECK(findingsOf(rotate<Barriers::withoutSecond>, 1, BLOCK, out.data(), 3).size() == 1);
}

template <bool IS_RIGHT>
__global__ void copyForBarrier(const int* in, int* out) {
  __shared__ int tile[BLOCK];
  __shared__ BlockBarrier ready;
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&ready, BLOCK);
  block.sync();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), ready);
  if (IS_RIGHT) ready.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x];
}

TEST_CASE("check: a copy for a cuda::barrier is awaited", "[check]") {
  DeviceArray<int> in(std::vector<int>(BLOCK, 1)), out(BLOCK);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), out.data());
  };
  CHECK(run(copyForBarrier<true>).empty());
  CHECK(run(copyForBarrier<false>).size() == 1);
}

template <bool HAS_WAIT>
__global__ void rotateByPipeline(const int* in, int* out, unsigned rounds) {
  __shared__ int tile[2][BLOCK];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipeline = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
  const unsigned self = threadIdx.x;
  const auto fill = [&](unsigned round) {
    pipeline.producer_acquire();
    cuda::memcpy_async(tile[round % 2] + self, in + round * BLOCK + self, sizeof(int), pipeline);
    pipeline.producer_commit();
  };
  fill(0);
  for (unsigned round = 0; round < rounds; ++round) {
    if (round + 1 < rounds) fill(round + 1);
    if (HAS_WAIT) pipeline.consumer_wait();
    out[round * BLOCK + self] = tile[round % 2][(self + 1) % BLOCK];
    pipeline.consumer_release();
  }
}

TEST_CASE("check: cuda::pipeline orders its stages", "[check]") {
  constexpr unsigned ROUNDS = 5;
  DeviceArray<int> in(std::vector<int>(ROUNDS * BLOCK, 1)), out(ROUNDS * BLOCK);
  const auto run = [&](auto kernel) {
    return findingsOf(kernel, 1, BLOCK, static_cast<const int*>(in.data()), out.data(), ROUNDS);
  };
  CHECK(run(rotateByPipeline<true>).empty());
  const std::vector<Finding> findings = run(rotateByPipeline<false>);
  REQUIRE(findings.size() == 1);
  CHECK(contains(findings[0].line.file, "ordered_test.cu"));
  CHECK(contains(findings[0].earlier.file, "ordered_test.cu"));
}

/// The first block passes a value on by a flag.
__global__ void passOn(int* value, int* flag, int* out, cuda::memory_order store, cuda::memory_order load) {
  cuda::atomic_ref<int, cuda::thread_scope_device> shared(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *value = 7;
    if (store == cuda::memory_order_release)
      shared.store(1, cuda::memory_order_release);
    else
      shared.store(1, cuda::memory_order_relaxed);
  } else {
    if (load == cuda::memory_order_acquire) {
      while (shared.load(cuda::memory_order_acquire) == 0) __nanosleep(1);
    } else {
      while (shared.load(cuda::memory_order_relaxed) == 0) __nanosleep(1);
    }
    *out = *value;
  }
}

TEST_CASE("check: cuda::atomic_ref orders by release and acquire", "[check]") {
  const auto run = [&](cuda::memory_order store, cuda::memory_order load) {
    DeviceArray<int> value(1), flag(std::vector<int>(1, 0)), out(1);
    return findingsOf(passOn, 2, 32, value.data(), flag.data(), out.data(), store, load).size();
  };
  CHECK(run(cuda::memory_order_release, cuda::memory_order_acquire) == 0);
  CHECK(run(cuda::memory_order_relaxed, cuda::memory_order_acquire) == 1);
  CHECK(run(cuda::memory_order_release, cuda::memory_order_relaxed) == 1);
}

/// The last block's ticket without fences: its order is that of the update.
template <bool IS_RIGHT>
__global__ void sumByLastBlock(int* partial, unsigned* ticket, int* out) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*ticket);
  partial[blockIdx.x] = static_cast<int>(blockIdx.x);
  const unsigned before = count.fetch_add(1u, IS_RIGHT ? cuda::memory_order_acq_rel : cuda::memory_order_relaxed);
  if (before != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *out = sum;
}

TEST_CASE("check: a ticket of cuda::atomic_ref orders if its update does", "[check]") {
  constexpr unsigned BLOCKS = 8;
  const auto run = [&](auto kernel) {
    DeviceArray<int> partial(BLOCKS), out(1);
    DeviceArray<unsigned> ticket(std::vector<unsigned>(1, 0));
    return findingsOf(kernel, BLOCKS, 32, partial.data(), ticket.data(), out.data()).size();
  };
  CHECK(run(sumByLastBlock<true>) == 0);
  CHECK(run(sumByLastBlock<false>) == 1);
}

/// Tiles of 16 threads, or what a predicate makes of a warp, exchange values.
template <bool IS_RIGHT>
__global__ void exchangeInTiles(int* out) {
  __shared__ int values[32];
  const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  tile.sync();
  out[threadIdx.x] = values[threadIdx.x ^ (IS_RIGHT ? 15 : 16)];
}

TEST_CASE("check: a tile's barrier orders the threads of the tile", "[check]") {
  DeviceArray<int> out(32);
  CHECK(findingsOf(exchangeInTiles<true>, 1, 32, out.data()).empty());
  CHECK(findingsOf(exchangeInTiles<false>, 1, 32, out.data()).size() == 1);
}

template <bool IS_RIGHT>
__global__ void exchangeInPartition(int* out) {
  __shared__ int values[32];
  const auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  const auto half = cooperative_groups::binary_partition(warp, threadIdx.x % 2 == 0);
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  half.sync();
  out[threadIdx.x] = values[threadIdx.x ^ (IS_RIGHT ? 2 : 1)];
}

TEST_CASE("check: the barrier of a partition orders its threads", "[check]") {
  DeviceArray<int> out(32);
  CHECK(findingsOf(exchangeInPartition<true>, 1, 32, out.data()).empty());
  CHECK(findingsOf(exchangeInPartition<false>, 1, 32, out.data()).size() == 1);
}

}  // namespace
}  // namespace gpuopt::test::check_ordered_test
