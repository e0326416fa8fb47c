/// Barriers, and what happens without them: a missing one must show in at least one of the three lane orders.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace barrier_test {

constexpr unsigned BLOCK = 128;

template <bool BARRIER>
__global__ void reverseThroughShared(const int* in, int* out) {
  __shared__ int tile[BLOCK];
  tile[threadIdx.x] = in[threadIdx.x];
  if (BARRIER) __syncthreads();
  out[threadIdx.x] = tile[BLOCK - 1 - threadIdx.x];
}

// The second round writes what slow threads of the first may still have to read.
template <bool BARRIER>
__global__ void rotateTwice(const int* in, int* out) {
  __shared__ int tile[BLOCK];
  int value = in[threadIdx.x];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = value;
    __syncthreads();
    value = tile[(threadIdx.x + 33) % BLOCK];
    if (BARRIER) __syncthreads();
  }
  out[threadIdx.x] = value;
}

template <bool BARRIER>
__global__ void neighbourInWarp(const int* in, int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  if (BARRIER) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// Lacks a barrier; whether that shows depends on whether the neighbour has run.
template <int DISTANCE>
__global__ void readNeighbour(const int* in, int* out) {
  __shared__ int tile[BLOCK];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[(threadIdx.x + BLOCK + DISTANCE) % BLOCK];
}

__global__ void recordTurns(unsigned* next, unsigned* turns) { turns[(*next)++] = threadIdx.x; }

std::vector<unsigned> turnsIn(gpuopt::emulation::LaneOrder order, std::uint64_t seed = 1) {
  const OrderScope scope(order, seed);
  Managed<unsigned> next(1, 0u), turns(BLOCK);
  REQUIRE(launch(recordTurns, 1, BLOCK, next.data(), turns.data()) == cudaSuccess);
  return turns.values();
}

struct Counts {
  int count, conjunction, disjunction;
};

__global__ void countInBlock(const int* in, Counts* out) {
  const int value = in[threadIdx.x];
  out[threadIdx.x] = {__syncthreads_count(value), __syncthreads_and(value), __syncthreads_or(value)};
}

// Warps reach the barrier at different places of the source, as they may.
__global__ void barrierInBranches(int* out) {
  __shared__ int first;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) first = 41;
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = first + 1;
}

__global__ void spinUntilWritten(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  volatile int* const watched = &flag;
  if (threadIdx.x == BLOCK / 2) *watched = 17;
  while (*watched == 0) __nanosleep(20);
  out[threadIdx.x] = *watched;
}

template <class Kernel, class Expected>
bool isRight(Kernel kernel, unsigned threads, Expected expected) {
  Managed<int> in(threads), out(threads, 0);
  for (unsigned i = 0; i < threads; ++i) in[i] = static_cast<int>(1000 + i * i);
  REQUIRE(launch(kernel, 1, threads, in.data(), out.data()) == cudaSuccess);
  for (unsigned i = 0; i < threads; ++i)
    if (out[i] != in[expected(i)]) return false;
  return true;
}

TEST_CASE("the environment chooses the order") {
  using gpuopt::emulation::BlockOrder, gpuopt::emulation::LaneOrder;
  const char* variable = std::getenv("GPUOPT_EMULATION_ORDER");
  const std::string before = variable != nullptr ? variable : "";
  const auto scheduleOf = [](const char* order) {
    setenv("GPUOPT_EMULATION_ORDER", order, 1);
    return gpuopt::emulation::detail::environmentSchedule();
  };
  REQUIRE(scheduleOf("").order == LaneOrder::forward);
  REQUIRE(scheduleOf("forward").order == LaneOrder::forward);
  REQUIRE(scheduleOf("backward").order == LaneOrder::backward);
  REQUIRE(scheduleOf("random").order == LaneOrder::random);
  REQUIRE(scheduleOf("random:7").order == LaneOrder::random);
  REQUIRE(scheduleOf("random:7").seed == 7);
  REQUIRE(scheduleOf("random:7").blocks == BlockOrder::byNumber);
  REQUIRE(scheduleOf("random:7,blocks").seed == 7);
  REQUIRE(scheduleOf("random:7,blocks").blocks == BlockOrder::asLanes);
  REQUIRE(scheduleOf("backward,blocks").order == LaneOrder::backward);
  setenv("GPUOPT_EMULATION_ORDER", before.c_str(), 1);
}

TEST_CASE("lanes run forward, backward, or in an order that a seed determines") {
  using gpuopt::emulation::LaneOrder;
  std::vector<unsigned> expected(BLOCK);
  std::iota(expected.begin(), expected.end(), 0u);
  REQUIRE(turnsIn(LaneOrder::forward) == expected);
  const std::vector<unsigned> random = turnsIn(LaneOrder::random, 3);
  REQUIRE(random != expected);
  REQUIRE(random == turnsIn(LaneOrder::random, 3));
  REQUIRE(random != turnsIn(LaneOrder::random, 4));
  REQUIRE(std::is_permutation(random.begin(), random.end(), expected.begin()));
  std::reverse(expected.begin(), expected.end());
  REQUIRE(turnsIn(LaneOrder::backward) == expected);
}

TEST_CASE("a bug that one order hides shows in another") {
  using gpuopt::emulation::LaneOrder;
  // Thread 0 (or the last) reads across the end of the block; all others read a neighbour.
  const auto wrongLanes = [](auto kernel, unsigned distance, LaneOrder order) {
    const OrderScope scope(order);
    Managed<int> in(BLOCK), out(BLOCK);
    for (unsigned i = 0; i < BLOCK; ++i) in[i] = static_cast<int>(i);
    REQUIRE(launch(kernel, 1, BLOCK, in.data(), out.data()) == cudaSuccess);
    unsigned wrong = 0;
    for (unsigned i = 0; i < BLOCK; ++i) wrong += out[i] != in[(i + distance) % BLOCK];
    return wrong;
  };
  REQUIRE(wrongLanes(readNeighbour<-1>, BLOCK - 1, LaneOrder::forward) == 1);
  REQUIRE(wrongLanes(readNeighbour<-1>, BLOCK - 1, LaneOrder::backward) == BLOCK - 1);
  REQUIRE(wrongLanes(readNeighbour<1>, 1, LaneOrder::forward) == BLOCK - 1);
  REQUIRE(wrongLanes(readNeighbour<1>, 1, LaneOrder::backward) == 1);
  REQUIRE(wrongLanes(readNeighbour<1>, 1, LaneOrder::random) > BLOCK / 4);
  REQUIRE(wrongLanes(readNeighbour<-1>, BLOCK - 1, LaneOrder::random) > BLOCK / 4);
}

TEST_CASE("a missing __syncthreads before a read shows") {
  const auto reversed = [](unsigned i) { return BLOCK - 1 - i; };
  REQUIRE(ordersInWhich([&] { return isRight(reverseThroughShared<true>, BLOCK, reversed); }) == 3);
  REQUIRE(ordersInWhich([&] { return isRight(reverseThroughShared<false>, BLOCK, reversed); }) < 3);
}

TEST_CASE("a missing __syncthreads before a write shows") {
  const auto rotated = [](unsigned i) { return (i + 66) % BLOCK; };
  REQUIRE(ordersInWhich([&] { return isRight(rotateTwice<true>, BLOCK, rotated); }) == 3);
  REQUIRE(ordersInWhich([&] { return isRight(rotateTwice<false>, BLOCK, rotated); }) < 3);
}

TEST_CASE("a missing __syncwarp shows") {
  const auto neighbour = [](unsigned i) { return i ^ 1; };
  REQUIRE(ordersInWhich([&] { return isRight(neighbourInWarp<true>, 32, neighbour); }) == 3);
  REQUIRE(ordersInWhich([&] { return isRight(neighbourInWarp<false>, 32, neighbour); }) < 3);
}

TEST_CASE("counting barriers see all threads of the block") {
  Managed<int> in(BLOCK, 0);
  Managed<Counts> out(BLOCK);
  const auto run = [&] { REQUIRE(launch(countInBlock, 1, BLOCK, in.data(), out.data()) == cudaSuccess); };
  run();
  REQUIRE((out[5].count == 0 && out[5].conjunction == 0 && out[5].disjunction == 0));
  for (unsigned i = 0; i < BLOCK; i += 3) in[i] = -4;
  run();
  for (unsigned i = 0; i < BLOCK; ++i)
    REQUIRE((out[i].count == 43 && out[i].conjunction == 0 && out[i].disjunction != 0));
  for (unsigned i = 0; i < BLOCK; ++i) in[i] = 2;
  run();
  REQUIRE((out[127].count == 128 && out[127].conjunction != 0 && out[127].disjunction != 0));
}

TEST_CASE("a barrier may be reached at several places") {
  Managed<int> out(64);
  REQUIRE(launch(barrierInBranches, 1, 64, out.data()) == cudaSuccess);
  REQUIRE(out.values() == std::vector<int>(64, 42));
}

TEST_CASE("a lane that sleeps lets the others run") {
  Managed<int> out(BLOCK);
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    REQUIRE(launch(spinUntilWritten, 3, BLOCK, out.data()) == cudaSuccess);
    REQUIRE(out.values() == std::vector<int>(BLOCK, 17));
  }
}

}  // namespace barrier_test
