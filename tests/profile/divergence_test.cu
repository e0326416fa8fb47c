// Lanes that go different ways, and where they meet again.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

namespace gpuopt::test::profile_divergence_test {
namespace {

constexpr std::uint64_t LANES = 32;

/// The loads and stores of one warp of a kernel that has an input and an output of ints.
struct OneWarp {
  AccessCounts loads, stores;

  OneWarp(void (*kernel)(const int*, int*), unsigned threads = LANES) {
    std::vector<int> values(8192);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    DeviceArray<int> in(values), out(8192);
    const Profile found = profileOf(kernel, 1, threads, static_cast<const int*>(in.data()), out.data());
    loads = found.globalLoads();
    stores = found.globalStores();
  }
};

__global__ void halves(const int* in, int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = in[threadIdx.x];
  else
    out[threadIdx.x] = in[threadIdx.x + 32] * 2 + in[threadIdx.x + 64];
  out[64 + threadIdx.x] = 1;
}

TEST_CASE("profile: branches run one after the other, and their lanes meet behind them", "[profile]") {
  const OneWarp found(halves);
  CHECK(found.loads.requests == 3);
  CHECK(found.loads.lanes == 48);
  CHECK(found.stores.lanes == 64);
  CHECK(found.stores.requests <= 3);
  CHECK(found.stores.requests >= 2);  // the compiler may join the stores of both branches
}

__global__ void unequalLoops(const int* in, int* out) {
  int sum = 0;
  for (unsigned i = 0; i <= threadIdx.x % 4; ++i) sum += in[32 * i + threadIdx.x];
  out[threadIdx.x] = sum;
}

TEST_CASE("profile: a loop runs as often as its slowest lane wants", "[profile]") {
  const OneWarp found(unequalLoops);
  CHECK(found.loads.requests == 4);
  CHECK(found.loads.lanes == 32 + 24 + 16 + 8);
  CHECK(found.stores.requests == 1);
}

__global__ void nestedLoops(const int* in, int* out) {
  int sum = 0;
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned k = 0; k < 2 + 2 * (threadIdx.x % 2); ++k) sum ^= in[64 * i + 32 * k + threadIdx.x];
    sum += in[1024 + 32 * i + threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

TEST_CASE("profile: lanes meet again after every inner loop", "[profile]") {
  const OneWarp found(nestedLoops);
  CHECK(found.loads.requests == 3 * 4 + 3);
  CHECK(found.loads.lanes == 3 * (2 * 32 + 2 * 16) + 3 * 32);
}

__global__ void skipsAndLeaves(const int* in, int* out) {
  int sum = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if (i % 2 == threadIdx.x % 2) continue;
    if (i == 5 && threadIdx.x < 8) break;
    sum += in[32 * i + threadIdx.x];
  }
  if (threadIdx.x >= 24) return;
  out[threadIdx.x] = sum;
}

TEST_CASE("profile: continue, break and return", "[profile]") {
  const OneWarp found(skipsAndLeaves);
  CHECK(found.loads.requests == 8);
  CHECK(found.loads.lanes ==
        8 * 16 - 2 * 4);  // four even lanes of the first eight leave at 5, before they read 5 and 7
  CHECK(found.stores.requests == 1);
  CHECK(found.stores.lanes == 24);
}

__noinline__ __device__ int readOne(const int* in, unsigned i) { return in[i]; }

__global__ void calls(const int* in, int* out) {
  int value = readOne(in, threadIdx.x);
  if (threadIdx.x % 2 == 0) value += readOne(in, 32 + threadIdx.x);
  out[threadIdx.x] = value + readOne(in, 64 + threadIdx.x);
}

TEST_CASE("profile: functions that are not inlined", "[profile]") {
  const OneWarp found(calls);
  CHECK(found.loads.requests == 3);
  CHECK(found.loads.lanes == 32 + 16 + 32);
}

__global__ void callsInBothBranches(const int* in, int* out) {
  int value = 0;
  if (threadIdx.x % 2 == 0)
    value = readOne(in, threadIdx.x) + 1;
  else
    value = readOne(in, 64 + threadIdx.x) * 3;
  out[threadIdx.x] = value;
}

TEST_CASE("profile: two calls of a function are two executions", "[profile]") {
  const OneWarp found(callsInBothBranches);
  CHECK(found.loads.requests == 2);
  CHECK(found.loads.lanes == 32);
  CHECK(found.stores.requests == 1);
}

__device__ int depthSum(const int* in, unsigned depth) {
  return in[32 * depth + threadIdx.x] + (depth == 0 ? 0 : depthSum(in, depth - 1));
}

__global__ void recursion(const int* in, int* out) { out[threadIdx.x] = depthSum(in, 3 + threadIdx.x % 2); }

TEST_CASE("profile: recursion", "[profile]") {
  const OneWarp found(recursion);
  CHECK(found.loads.lanes == 16 * 4 + 16 * 5);
  CHECK(found.stores.requests == 1);
}

__global__ void collectives(const int* in, int* out) {
  int value = in[threadIdx.x];
  if (threadIdx.x < 16) {
    value += __shfl_xor_sync(0x0000FFFF, value, 1);
    value += in[32 + threadIdx.x];
  }
  __syncwarp();
  out[threadIdx.x] = value + __shfl_down_sync(0xFFFFFFFF, value, 1);
}

TEST_CASE("profile: half a warp runs ahead in a collective, and is put together with the rest", "[profile]") {
  const OneWarp found(collectives);
  CHECK(found.loads.requests == 2);
  CHECK(found.loads.lanes == 32 + 16);
  CHECK(found.stores.requests == 1);
}

__global__ void longLoop(const int* in, int* out) {
  int sum = 0;
  for (unsigned i = 0; i < 5000; ++i) sum += in[(i + threadIdx.x) % 8192];
  out[threadIdx.x] = sum;
}

TEST_CASE("profile: lanes that run for long wait for each other", "[profile]") {
  const OneWarp found(longLoop, 64);
  CHECK(found.loads.requests == 2 * 5000);
  CHECK(found.loads.lanes == 64 * 5000);
  CHECK(found.stores.requests == 2);
}

__global__ void barriersInLoops(const int* in, int* out) {
  for (unsigned i = 0; i < 10; ++i) {
    if (threadIdx.x < i) out[32 * i + threadIdx.x] = in[threadIdx.x];
    __syncthreads();
  }
}

TEST_CASE("profile: barriers in loops, short warps", "[profile]") {
  DeviceArray<int> in(64), out(1024);
  const Profile found = profileOf(barriersInLoops, 3, 40, static_cast<const int*>(in.data()), out.data());
  CHECK(found.barriers() == 3 * 2 * 10);
  CHECK(found.globalStores().lanes == 3 * 45);
  CHECK(found.globalStores().requests == 3 * 9);
  CHECK(found.kernels[0].warps == 6);
  CHECK(found.kernels[0].blocks == 3);
}

__global__ void straight(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void oneLane(const int* in, int* out) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 100; ++i) out[i] += in[i];
}

TEST_CASE("profile: efficiency", "[profile]") {
  DeviceArray<int> in(128), out(128);
  const int* const from = in.data();
  CHECK(profileOf(straight, 2, 64, from, out.data()).warpEfficiency() == 1);
  CHECK(profileOf(straight, 2, 40, from, out.data()).warpEfficiency() == 1);  // the lanes that a warp does not have
  const Profile found = profileOf(oneLane, 1, 32, from, out.data());
  CHECK(found.warpEfficiency() < 0.1);
  CHECK(found.text().find("1 of 32 lanes are active") != std::string::npos);
  CHECK(found.text().find("decide by threadIdx.x / 32") != std::string::npos);
}

}  // namespace
}  // namespace gpuopt::test::profile_divergence_test
