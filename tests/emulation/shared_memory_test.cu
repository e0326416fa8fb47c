/// Shared memory: unwritten at the start of every block, one copy per block and per template instance.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace gpuopt {

template <class T>
__device__ T* dynamicArray() {
  extern __shared__ __align__(128) unsigned char gpuoptDynamicShared[];
  return reinterpret_cast<T*>(gpuoptDynamicShared);
}

}  // namespace gpuopt

namespace shared_memory_test {

// Adds to memory that it forgot to zero.
__global__ void countWithoutZeroing(unsigned* out) {
  __shared__ unsigned count;
  atomicAdd(&count, 1u);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

__global__ void countWithZeroing(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1u);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

// Block 0 of a worker leaves good values behind; a later block must not find them.
__global__ void useWhatPredecessorsLeft(float* out) {
  __shared__ float statically;
  float* const dynamically = gpuopt::dynamicArray<float>();
  out[2 * blockIdx.x] = statically;
  out[2 * blockIdx.x + 1] = dynamically[3];
  statically = 1.0f;
  dynamically[3] = 2.0f;
}

template <class T, int SIZE>
__device__ T* tileOf() {
  __shared__ T tile[SIZE];
  return tile;
}

template <class T>
__global__ void writeTiles(std::uintptr_t* addresses, int* out) {
  T* const small8 = tileOf<T, 8>();
  T* const large = tileOf<T, 64>();
  small8[threadIdx.x % 8] = static_cast<T>(threadIdx.x % 8);
  large[threadIdx.x] = static_cast<T>(100 + threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(large[63 - threadIdx.x] + small8[(threadIdx.x + 3) % 8]);
  addresses[0] = reinterpret_cast<std::uintptr_t>(small8);
  addresses[1] = reinterpret_cast<std::uintptr_t>(large);
}

__global__ void reverseDynamically(const double* in, double* out, std::uintptr_t* address) {
  double* const tile = gpuopt::dynamicArray<double>();
  const std::size_t offset = std::size_t{blockIdx.x} * blockDim.x;
  tile[threadIdx.x] = in[offset + threadIdx.x];
  __syncthreads();
  out[offset + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
  *address = reinterpret_cast<std::uintptr_t>(tile);
}

__global__ void fillDynamically(unsigned words, unsigned* out) {
  unsigned* const all = gpuopt::dynamicArray<unsigned>();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) all[i] = i * 2654435761u;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned wrong = 0;
  for (unsigned i = 0; i < words; ++i) wrong += all[i] != i * 2654435761u;
  *out = wrong;
}

TEST_CASE("a shared counter that nobody zeroed is wrong in every block") {
  constexpr unsigned BLOCKS = 40;
  Managed<unsigned> out(BLOCKS);
  REQUIRE(launch(countWithZeroing, BLOCKS, 64, out.data()) == cudaSuccess);
  REQUIRE(out.values() == std::vector<unsigned>(BLOCKS, 64));
  REQUIRE(launch(countWithoutZeroing, BLOCKS, 64, out.data()) == cudaSuccess);
  for (unsigned i = 0; i < BLOCKS; ++i) REQUIRE(out[i] != 64);
}

TEST_CASE("shared memory keeps nothing from an earlier block or launch") {
  constexpr unsigned BLOCKS = 64;
  Managed<float> out(2 * BLOCKS);
  for (int repetition = 0; repetition < 2; ++repetition) {
    REQUIRE(launchShared(useWhatPredecessorsLeft, BLOCKS, 1, 64, out.data()) == cudaSuccess);
    for (unsigned i = 0; i < 2 * BLOCKS; ++i) REQUIRE((std::isnan(out[i]) || std::fabs(out[i]) > 1e30f));
  }
}

TEST_CASE("the poison of the three orders shows in sums, minima and maxima") {
  Managed<float> out(2);
  const auto poison = [&](gpuopt::emulation::LaneOrder order) {
    const OrderScope scope(order);
    REQUIRE(launchShared(useWhatPredecessorsLeft, 1, 1, 64, out.data()) == cudaSuccess);
    return out[0];
  };
  REQUIRE(std::isnan(poison(gpuopt::emulation::LaneOrder::forward)));
  REQUIRE(poison(gpuopt::emulation::LaneOrder::backward) > 1e30f);
  REQUIRE(poison(gpuopt::emulation::LaneOrder::random) < -1e30f);
}

TEST_CASE("static shared memory in templates: one array per instance") {
  Managed<std::uintptr_t> addresses(2), others(2);
  Managed<int> out(64), otherOut(64);
  REQUIRE(launch(writeTiles<int>, 3, 64, addresses.data(), out.data()) == cudaSuccess);
  REQUIRE(launch(writeTiles<double>, 3, 64, others.data(), otherOut.data()) == cudaSuccess);
  for (unsigned i = 0; i < 64; ++i) {
    REQUIRE(out[i] == static_cast<int>(163 - i + (i + 3) % 8));
    REQUIRE(otherOut[i] == out[i]);
  }
  REQUIRE(addresses[0] != addresses[1]);
}

TEST_CASE("dynamic shared memory is aligned to 128 bytes and belongs to the block") {
  constexpr unsigned BLOCKS = 17, THREADS = 96;
  Managed<double> in(BLOCKS * THREADS), out(BLOCKS * THREADS);
  Managed<std::uintptr_t> address(1);
  for (unsigned i = 0; i < BLOCKS * THREADS; ++i) in[i] = 0.25 + i;
  REQUIRE(launchShared(reverseDynamically, BLOCKS, THREADS, THREADS * sizeof(double), in.data(), out.data(),
                       address.data()) == cudaSuccess);
  for (unsigned b = 0; b < BLOCKS; ++b)
    for (unsigned i = 0; i < THREADS; ++i) REQUIRE(out[b * THREADS + i] == in[b * THREADS + THREADS - 1 - i]);
  REQUIRE(address[0] % 128 == 0);
}

TEST_CASE("all 227 KB of dynamic shared memory can be used after opting in") {
  constexpr unsigned BYTES = 227 * 1024;
  Managed<unsigned> wrong(1, 1u);
  REQUIRE(cudaFuncSetAttribute(fillDynamically, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES) == cudaSuccess);
  REQUIRE(launchShared(fillDynamically, 2, 128, BYTES, BYTES / 4, wrong.data()) == cudaSuccess);
  REQUIRE(wrong[0] == 0);
}

}  // namespace shared_memory_test
