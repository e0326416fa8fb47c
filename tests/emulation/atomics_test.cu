/// Atomic functions: each one's result and return value, from many threads of many blocks.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <set>
#include <vector>

namespace atomics_test {

constexpr unsigned BLOCKS = 37, THREADS = 96, ALL = BLOCKS * THREADS;

__device__ unsigned threadNumber() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct Totals {
  int sum, difference, least, greatest, both;
  unsigned unsignedSum, unsignedLeast, ring, countdown, either, parity;
  unsigned long long wideSum, wideGreatest;
  long long signedWideLeast;
  float single;
  double twice;
  __half half;
  __nv_bfloat16 brain;
};

__global__ void accumulate(const int* in, Totals* totals) {
  const unsigned i = threadNumber();
  const int value = in[i];
  atomicAdd(&totals->sum, value);
  atomicSub(&totals->difference, value);
  atomicMin(&totals->least, value);
  atomicMax(&totals->greatest, value);
  atomicAnd(&totals->both, ~(1 << (i % 16)));
  atomicAdd(&totals->unsignedSum, static_cast<unsigned>(value));
  atomicMin(&totals->unsignedLeast, static_cast<unsigned>(value));
  atomicInc(&totals->ring, 99u);
  atomicDec(&totals->countdown, 99u);
  atomicOr(&totals->either, 1u << (i % 32 < 24 ? i % 32 : 0));
  atomicXor(&totals->parity, i);
  atomicAdd(&totals->wideSum, static_cast<unsigned long long>(i) << 32);
  atomicMax(&totals->wideGreatest, static_cast<unsigned long long>(i) << 32);
  atomicMin(&totals->signedWideLeast, static_cast<long long>(value) * (1ll << 31));
  atomicAdd(&totals->single, 0.25f);
  atomicAdd(&totals->twice, static_cast<double>(i));
  if (i < 1000) atomicAdd(&totals->half, __half(1.0f));
  if (i < 200) atomicAdd(&totals->brain, __nv_bfloat16(1.0f));
}

__global__ void takeTickets(unsigned* next, unsigned* tickets) { tickets[threadNumber()] = atomicAdd(next, 1u); }

// Squaring has no atomic function: the loop that everybody writes.
__global__ void addSquares(unsigned long long* total) {
  const unsigned long long square = static_cast<unsigned long long>(threadNumber()) * threadNumber();
  unsigned long long seen = 0, expected;
  do {
    expected = seen;
    seen = atomicCAS(total, expected, expected + square);
  } while (seen != expected);
}

__global__ void exchange(unsigned* slot, unsigned* previous) {
  previous[threadNumber()] = atomicExch(slot, threadNumber() + 1);
}

__global__ void lastBlockSums(const unsigned* in, unsigned* partials, unsigned* finished, unsigned* total) {
  __shared__ unsigned sum;
  __shared__ bool isLast;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadNumber()]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast || threadIdx.x != 0) return;
  *total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) *total += partials[b];
}

TEST_CASE("atomic functions of every kind") {
  Managed<int> in(ALL);
  Totals expected{};
  expected.least = INT_MAX, expected.greatest = INT_MIN;
  expected.unsignedLeast = ~0u, expected.signedWideLeast = LLONG_MAX;
  unsigned sum = 0;
  for (unsigned i = 0; i < ALL; ++i) {
    in[i] = static_cast<int>((i + 1) * 2654435761u);
    const auto bits = static_cast<unsigned>(in[i]);
    sum += bits;
    expected.least = std::min(expected.least, in[i]);
    expected.greatest = std::max(expected.greatest, in[i]);
    expected.unsignedLeast = std::min(expected.unsignedLeast, bits);
    expected.signedWideLeast = std::min(expected.signedWideLeast, static_cast<long long>(in[i]) * (1ll << 31));
    expected.parity ^= i;
    expected.wideSum += static_cast<unsigned long long>(i) << 32;
    expected.twice += i;
  }
  Managed<Totals> totals(1);
  totals[0] = {};
  totals[0].least = INT_MAX, totals[0].greatest = INT_MIN, totals[0].both = -1;
  totals[0].unsignedLeast = ~0u, totals[0].signedWideLeast = LLONG_MAX, totals[0].countdown = 5;
  REQUIRE(launch(accumulate, BLOCKS, THREADS, in.data(), totals.data()) == cudaSuccess);
  const Totals got = totals[0];
  REQUIRE(got.sum == static_cast<int>(sum));
  REQUIRE(got.difference == static_cast<int>(0u - sum));
  REQUIRE(got.least == expected.least);
  REQUIRE(got.greatest == expected.greatest);
  REQUIRE(got.both == static_cast<int>(0xFFFF0000u));
  REQUIRE(got.unsignedSum == sum);
  REQUIRE(got.unsignedLeast == expected.unsignedLeast);
  REQUIRE(got.ring == ALL % 100);
  REQUIRE(got.countdown == (5 + 100 * 1000 - ALL) % 100);
  REQUIRE(got.either == 0x00FFFFFFu);
  REQUIRE(got.parity == expected.parity);
  REQUIRE(got.wideSum == expected.wideSum);
  REQUIRE(got.wideGreatest == static_cast<unsigned long long>(ALL - 1) << 32);
  REQUIRE(got.signedWideLeast == expected.signedWideLeast);
  REQUIRE(got.single == 0.25f * ALL);
  REQUIRE(got.twice == expected.twice);
  REQUIRE(__half2float(got.half) == 1000.0f);
  REQUIRE(__bfloat162float(got.brain) == 200.0f);
}

TEST_CASE("every ticket is drawn once") {
  Managed<unsigned> next(1, 0u), tickets(ALL);
  REQUIRE(launch(takeTickets, BLOCKS, THREADS, next.data(), tickets.data()) == cudaSuccess);
  const std::vector<unsigned> drawn = tickets.values();
  REQUIRE(std::set<unsigned>(drawn.begin(), drawn.end()).size() == ALL);
  REQUIRE(*std::max_element(drawn.begin(), drawn.end()) == ALL - 1);
}

TEST_CASE("a compare-and-swap loop loses nothing") {
  Managed<unsigned long long> total(1, 0ull);
  REQUIRE(launch(addSquares, BLOCKS, THREADS, total.data()) == cudaSuccess);
  const std::uint64_t n = ALL - 1;
  REQUIRE(total[0] == n * (n + 1) * (2 * n + 1) / 6);
}

TEST_CASE("an exchange hands on every value once") {
  Managed<unsigned> slot(1, 0u), previous(ALL);
  REQUIRE(launch(exchange, BLOCKS, THREADS, slot.data(), previous.data()) == cudaSuccess);
  std::vector<unsigned> seen = previous.values();
  seen.push_back(slot[0]);
  std::sort(seen.begin(), seen.end());
  for (unsigned i = 0; i <= ALL; ++i) REQUIRE(seen[i] == i);
}

TEST_CASE("the last block sees what all have written") {
  Managed<unsigned> in(ALL), partials(BLOCKS), finished(1), total(1);
  unsigned expected = 0;
  for (unsigned i = 0; i < ALL; ++i) expected += in[i] = i * i + 3;
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    finished[0] = 0;
    REQUIRE(launch(lastBlockSums, BLOCKS, THREADS, in.data(), partials.data(), finished.data(), total.data()) ==
            cudaSuccess);
    REQUIRE(total[0] == expected);
  }
}

}  // namespace atomics_test
