/// The stand-ins for libcu++'s atomics, barriers and pipelines.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace libcudacxx_test {

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
constexpr unsigned BLOCK = 64;

// Two arrivals a phase of each thread's own, so that whoever goes on too early reads what is old.
__global__ void rotate(const int* in, int* out) {
  __shared__ int tile[BLOCK];
  __shared__ BlockBarrier ready, free;
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) {
    init(&ready, BLOCK);
    init(&free, BLOCK);
  }
  block.sync();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, tile, in + round * static_cast<int>(BLOCK), cuda::aligned_size_t<16>(sizeof tile), ready);
    ready.wait(ready.arrive());
    out[round * static_cast<int>(BLOCK) + static_cast<int>(threadIdx.x)] = tile[(threadIdx.x + 1) % BLOCK];
    free.arrive_and_wait();
  }
}

__global__ void rotateByPipeline(const int* in, int* out) {
  __shared__ int tile[2][BLOCK];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int self = static_cast<int>(threadIdx.x), size = static_cast<int>(BLOCK);
  const auto fill = [&](int round) {
    pipeline.producer_acquire();
    cuda::memcpy_async(tile[round % 2] + self, in + round * size + self, sizeof(int), pipeline);
    pipeline.producer_commit();
  };
  fill(0);
  for (int round = 0; round < 5; ++round) {
    if (round < 4) fill(round + 1);
    pipeline.consumer_wait();
    out[round * size + self] = tile[round % 2][(self + 1) % size];
    pipeline.consumer_release();
  }
}

__global__ void waitForFlag(cuda::atomic<int, cuda::thread_scope_device>* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> result(*out);
  if (threadIdx.x == BLOCK - 1 - blockIdx.x) flag->store(1, cuda::memory_order_release);
  while (flag->load(cuda::memory_order_acquire) == 0) {
  }
  result.fetch_add(1, cuda::std::memory_order_relaxed);
  result.fetch_max(3);
}

TEST_CASE("threads wait for each other in a cuda::barrier", "[libcudacxx]") {
  Managed<int> in(3 * BLOCK), out(3 * BLOCK);
  for (std::size_t i = 0; i < 3 * BLOCK; ++i) in[i] = static_cast<int>(i * i);
  REQUIRE(launch(rotate, 1, BLOCK, in.data(), out.data()) == cudaSuccess);
  bool right = true;
  for (std::size_t i = 0; i < 3 * BLOCK; ++i) right = right && out[i] == in[i / BLOCK * BLOCK + (i + 1) % BLOCK];
  CHECK(right);
}

TEST_CASE("threads wait for each other's stages in a cuda::pipeline", "[libcudacxx]") {
  Managed<int> in(5 * BLOCK), out(5 * BLOCK);
  for (std::size_t i = 0; i < 5 * BLOCK; ++i) in[i] = static_cast<int>(3 * i);
  REQUIRE(launch(rotateByPipeline, 1, BLOCK, in.data(), out.data()) == cudaSuccess);
  bool right = true;
  for (std::size_t i = 0; i < 5 * BLOCK; ++i) right = right && out[i] == in[i / BLOCK * BLOCK + (i + 1) % BLOCK];
  CHECK(right);
}

TEST_CASE("a thread may spin on a cuda::atomic that another one of its block writes", "[libcudacxx]") {
  Managed<int> out(1, 0);
  Managed<cuda::atomic<int, cuda::thread_scope_device>> flag(1);
  flag[0] = 0;
  REQUIRE(launch(waitForFlag, 1, BLOCK, flag.data(), out.data()) == cudaSuccess);
  CHECK(out[0] >= static_cast<int>(BLOCK));
}

}  // namespace libcudacxx_test
