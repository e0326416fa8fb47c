/// Shuffles of values of any size.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::shuffle_test {
namespace {

template <class T>
__global__ void shuffleKernel(const T* in, int amount, int width, T* down, T* exchanged, T* from) {
  const T mine = in[threadIdx.x];
  down[threadIdx.x] = shuffleDown(mine, static_cast<unsigned>(amount), width);
  exchanged[threadIdx.x] = shuffleXor(mine, amount, width);
  from[threadIdx.x] = shuffleFrom(mine, amount, width);
}

TEMPLATE_TEST_CASE("Shuffles move every byte of a value", "[warp]", unsigned char, short, Bytes3, float, double,
                   (Many<unsigned char, 5>), (Many<unsigned short, 3>), Float3, Words5, Words25) {
  constexpr std::size_t THREADS = 96;
  const std::vector<TestType> values = Elements<TestType>::make(THREADS, 1);
  const DeviceArray<TestType> in(values);
  for (std::size_t width : {1, 2, 4, 8, 16, 32})
    for (std::size_t amount = 0; amount < width; ++amount) {
      DeviceArray<TestType> down(THREADS), exchanged(THREADS), from(THREADS);
      launch(shuffleKernel<TestType>, blocksOf(THREADS), in.data(), static_cast<int>(amount), static_cast<int>(width),
             down.data(), exchanged.data(), from.data());
      const std::vector<TestType> downs = down.toHost(), exchanges = exchanged.toHost(), froms = from.toHost();
      for (std::size_t t = 0; t < THREADS; ++t) {
        const std::size_t lane = t % width;
        INFO("width " << width << ", amount " << amount << ", thread " << t);
        REQUIRE(downs[t] == values[lane + amount < width ? t + amount : t]);
        REQUIRE(exchanges[t] == values[t - lane + (lane ^ amount)]);
        REQUIRE(froms[t] == values[t - lane + amount]);
      }
    }
}

struct NoDefault {
  __host__ __device__ explicit NoDefault(int v) : value(v) {}
  int value;
};

__global__ void rotateKernel(int* out) {
  const NoDefault mine(static_cast<int>(threadIdx.x));
  out[threadIdx.x] = shuffleXor(mine, 31).value;
}

TEST_CASE("A type without a default constructor can be shuffled", "[warp]") {
  DeviceArray<int> out(32);
  launch(rotateKernel, blocksOf(32), out.data());
  const std::vector<int> values = out.toHost();
  for (int i = 0; i < 32; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == 31 - i);
}

}  // namespace
}  // namespace gpuopt::test::shuffle_test
