/// Shuffles: which lane's value arrives, for every width and distance, and that values of two shuffles never
/// mix.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace shuffle_test {

constexpr unsigned ALL = 0xFFFFFFFFu;

// A value that tells lane, round and warp apart.
__host__ __device__ std::uint64_t tag(unsigned thread, unsigned round) {
  return (thread + 1) * 0x1000000001ull + round * 0x10000ull;
}

__global__ void rotateRepeatedly(std::uint64_t* out, unsigned rounds) {
  std::uint64_t mismatches = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned lane = threadIdx.x % 32, from = (lane + round + 1) % 32;
    const unsigned long long got =
        __shfl_sync(ALL, static_cast<unsigned long long>(tag(threadIdx.x, round)), static_cast<int>(from));
    mismatches += got != tag(threadIdx.x - lane + from, round);
  }
  out[threadIdx.x] = mismatches;
}

struct Sources {
  int index, up, down, exchanged;
};

__global__ void sources(Sources* out, int width, int argument) {
  const int self = static_cast<int>(threadIdx.x);
  const auto delta = static_cast<unsigned>(argument);
  out[threadIdx.x] = {__shfl_sync(ALL, self, argument, width), __shfl_up_sync(ALL, self, delta, width),
                      __shfl_down_sync(ALL, self, delta, width), __shfl_xor_sync(ALL, self, argument, width)};
}

// The definition of PTX's shfl, in its own words: segments of `width` lanes, out of range keeps the own
// value.
Sources expectedSources(int lane, int width, int argument) {
  const int begin = lane / width * width, end = begin + width;
  const int up = lane - argument, down = lane + argument, exchanged = lane ^ argument;
  return {begin + argument % width, up >= begin ? up : lane, down < end ? down : lane,
          exchanged < end ? exchanged : lane};
}

template <class T>
__global__ void exchangeNeighbours(const T* in, T* out) {
  out[threadIdx.x] = __shfl_xor_sync(ALL, in[threadIdx.x], 1);
}

template <class T>
void checkExchange(T scale) {
  Managed<T> in(64), out(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = static_cast<T>(static_cast<float>(i + 1)) * scale;
  REQUIRE(launch(exchangeNeighbours<T>, 1, 64, in.data(), out.data()) == cudaSuccess);
  for (unsigned i = 0; i < 64; ++i) REQUIRE(out[i] == in[i ^ 1]);
}

// Lanes of the two halves take different branches and shuffle under their own masks.
__global__ void divergedHalves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int value = 100 + lane;
  if (lane % 2 == 0) {
    for (int i = 0; i < 3; ++i) value = __shfl_sync(0x55555555u, value, (lane + 2) % 32);
  } else {
    value = __shfl_xor_sync(0xAAAAAAAAu, value, 2);
  }
  out[lane] = value;
}

__global__ void readUnnamedLane(unsigned* out) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) out[lane] = __shfl_down_sync(0x0000FFFFu, lane, 1u);
}

__device__ int sumOfWarp(int value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
  return value;
}

__device__ int sumOfSums(int value, int depth) {
  return depth == 0 ? sumOfWarp(value) : sumOfSums(sumOfWarp(value) + depth, depth - 1);
}

__global__ void nested(int* out) {
  if (threadIdx.x / 32 == 1)
    out[threadIdx.x] = sumOfSums(static_cast<int>(threadIdx.x), 2);
  else
    out[threadIdx.x] = sumOfWarp(static_cast<int>(threadIdx.x));
}

__global__ void shuffleByte(int* out) {
  const auto byte = static_cast<unsigned char>(200 + threadIdx.x);
  out[threadIdx.x] = __shfl_sync(ALL, byte, 31);
}

TEST_CASE("successive shuffles never mix their values") {
  Managed<std::uint64_t> out(256);
  for (const auto order : allOrders) {
    const OrderScope scope(order, 7);
    REQUIRE(launch(rotateRepeatedly, 1, 256, out.data(), 50u) == cudaSuccess);
    REQUIRE(out.values() == std::vector<std::uint64_t>(256, 0));
  }
}

TEST_CASE("every width and distance reads the lane that PTX says") {
  Managed<Sources> out(32);
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    for (int argument = 0; argument < 32; ++argument) {
      REQUIRE(launch(sources, 1, 32, out.data(), width, argument) == cudaSuccess);
      for (int lane = 0; lane < 32; ++lane) {
        const Sources expected = expectedSources(lane, width, argument), got = out[static_cast<std::size_t>(lane)];
        CAPTURE(width, argument, lane);
        REQUIRE(got.index == expected.index);
        REQUIRE(got.up == expected.up);
        REQUIRE(got.down == expected.down);
        REQUIRE(got.exchanged == expected.exchanged);
      }
    }
  }
}

TEST_CASE("shuffles carry all bits of every type") {
  checkExchange<int>(-33554431);
  checkExchange<unsigned>(0x01020304u);
  checkExchange<long>(0x0102030405060708);
  checkExchange<unsigned long long>(0x1112131415161718ull);
  checkExchange<float>(1.2345678f);
  checkExchange<double>(1.234567890123456789);
  checkExchange<__half>(__half(0.37f));
  checkExchange<__nv_bfloat16>(__nv_bfloat16(-1.7f));
}

TEST_CASE("a type narrower than an int is converted to int") {
  Managed<int> out(32);
  REQUIRE(launch(shuffleByte, 1, 32, out.data()) == cudaSuccess);
  REQUIRE(out.values() == std::vector<int>(32, 231));
}

TEST_CASE("diverged lanes shuffle under separate masks") {
  Managed<int> out(32);
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    REQUIRE(launch(divergedHalves, 1, 32, out.data()) == cudaSuccess);
    for (int lane = 0; lane < 32; ++lane)
      REQUIRE(out[static_cast<std::size_t>(lane)] == 100 + (lane % 2 == 0 ? (lane + 6) % 32 : lane ^ 2));
  }
}

TEST_CASE("a lane that takes no part delivers a conspicuous value") {
  Managed<unsigned> out(16);
  REQUIRE(launch(readUnnamedLane, 1, 32, out.data()) == cudaSuccess);
  for (unsigned lane = 0; lane < 15; ++lane) REQUIRE(out[lane] == lane + 1);
  REQUIRE(out[15] == ~0u);
}

TEST_CASE("the last warp of a block may be short") {
  Managed<unsigned> in(52), out(52);
  for (unsigned i = 0; i < 52; ++i) in[i] = 7 * i;
  REQUIRE(launch(exchangeNeighbours<unsigned>, 1, 52, in.data(), out.data()) == cudaSuccess);
  for (unsigned i = 0; i < 52; ++i) REQUIRE(out[i] == 7 * (i ^ 1));
}

TEST_CASE("collectives in nested calls from diverged warps") {
  Managed<int> out(64);
  REQUIRE(launch(nested, 1, 64, out.data()) == cudaSuccess);
  const int first = 31 * 32 / 2, second = first + 32 * 32;
  for (unsigned i = 0; i < 32; ++i) REQUIRE(out[i] == first);
  for (unsigned i = 32; i < 64; ++i) REQUIRE(out[i] == ((second + 2) * 32 + 1) * 32);
}

}  // namespace shuffle_test
