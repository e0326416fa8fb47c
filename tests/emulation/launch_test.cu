/// Launches: indices, arguments, limits, error codes, attributes and occupancy.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace launch_test {

__global__ void countVisits(unsigned* visits) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  atomicAdd(&visits[block * blockDim.x * blockDim.y * blockDim.z + thread], 1u);
}

struct Triple {
  double a;
  char b;
  float c[3];
};

__global__ void echoArguments(Triple triple, std::size_t large, short narrow, double* out) {
  triple.a += threadIdx.x;  // a thread's own copy
  out[threadIdx.x] = triple.a + triple.b + triple.c[2] + static_cast<double>(large) + narrow;
}

__global__ void nothing() {}

__global__ void needsOptIn() {}

__global__ void addOne(unsigned* out) { atomicAdd(out, 1u); }

__global__ void firstBlock(unsigned* ticket, unsigned* first) {
  if (atomicAdd(ticket, 1u) == 0) *first = blockIdx.x;
}

// Thread 0 of the last block waits until all other blocks have arrived.
__global__ void lastWaits(unsigned* arrived, unsigned* seen) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x < gridDim.x - 1) {
    atomicAdd(arrived, 1u);
    return;
  }
  while (atomicAdd(arrived, 0u) < gridDim.x - 1) __nanosleep(100);
  *seen = *arrived;
}

cudaError_t tryLaunch(dim3 grid, dim3 block, std::size_t sharedBytes = 0) {
  const cudaError_t code = launchShared(nothing, grid, block, sharedBytes);
  CHECK(cudaGetLastError() == code);
  return code;
}

int attributeOf(cudaDeviceAttr attribute) {
  int value = -1;
  REQUIRE(cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess);
  return value;
}

int activeBlocks(int blockSize, std::size_t sharedBytes = 0) {
  int blocks = -1;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, blockSize, sharedBytes) == cudaSuccess);
  return blocks;
}

TEST_CASE("every thread of every block runs once") {
  const dim3 grid(5, 3, 2), block(7, 3, 4);
  constexpr std::size_t THREADS = 30 * 84;
  for (const auto order : allOrders) {
    const OrderScope scope(order, 11);
    Managed<unsigned> visits(THREADS, 0u);
    REQUIRE(launch(countVisits, grid, block, visits.data()) == cudaSuccess);
    REQUIRE(visits.values() == std::vector<unsigned>(THREADS, 1));
  }
}

TEST_CASE("arguments convert and are copied for each thread") {
  Managed<double> out(32);
  const Triple triple{0.5, 3, {0, 0, 2.0f}};
  REQUIRE(launch(echoArguments, 1, 32, triple, 1000, 7, out.data()) == cudaSuccess);
  for (unsigned i = 0; i < 32; ++i) REQUIRE(out[i] == 0.5 + i + 3 + 2 + 1000 + 7);
}

TEST_CASE("limits of block, grid and shared memory") {
  REQUIRE(tryLaunch(1, 1024) == cudaSuccess);
  REQUIRE(tryLaunch(1, dim3(1, 1024)) == cudaSuccess);
  REQUIRE(tryLaunch(1, dim3(1, 1, 64)) == cudaSuccess);
  REQUIRE(tryLaunch(1, 1025) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(1, dim3(1, 1, 65)) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(1, dim3(33, 32)) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(1, 0) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(dim3(1, 0), 32) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(2147483648u, 1) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(dim3(1, 65536), 1) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(dim3(1, 1, 65536), 1) == cudaErrorInvalidConfiguration);
  REQUIRE(tryLaunch(1, 1, 48 * 1024) == cudaSuccess);
  REQUIRE(tryLaunch(1, 1, 48 * 1024 + 1) == cudaErrorInvalidValue);
  const std::string report = gpuopt::emulation::lastReport();
  REQUIRE(report.find("nothing()") != std::string::npos);
  REQUIRE(report.find("49153 bytes of dynamic shared memory exceed the kernel's limit of 49152") != std::string::npos);
}

TEST_CASE("more dynamic shared memory needs opting in, per kernel, up to 227 KB") {
  constexpr int MOST = 227 * 1024;
  REQUIRE(launchShared(needsOptIn, 1, 1, MOST) == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(needsOptIn, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST + 1) ==
          cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(needsOptIn, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST) == cudaSuccess);
  REQUIRE(launchShared(needsOptIn, 1, 1, MOST) == cudaSuccess);
  REQUIRE(tryLaunch(1, 1, MOST) == cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  REQUIRE(cudaFuncGetAttributes(&attributes, needsOptIn) == cudaSuccess);
  REQUIRE(attributes.maxDynamicSharedSizeBytes == MOST);
  REQUIRE(attributes.maxThreadsPerBlock == 1024);
  REQUIRE(cudaFuncSetAttribute(needsOptIn, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("the preferred carve-out of shared memory is remembered, per kernel") {
  const auto carveoutOf = [](auto* kernel) {
    cudaFuncAttributes attributes{};
    REQUIRE(cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess);
    return attributes.preferredShmemCarveout;
  };
  constexpr auto CARVEOUT = cudaFuncAttributePreferredSharedMemoryCarveout;
  REQUIRE(carveoutOf(addOne) == -1);
  REQUIRE(cudaFuncSetAttribute(addOne, CARVEOUT, 58) == cudaSuccess);
  REQUIRE(carveoutOf(addOne) == 58);
  REQUIRE(carveoutOf(nothing) == -1);
  REQUIRE(cudaFuncSetAttribute(addOne, CARVEOUT, 101) == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(addOne, CARVEOUT, -2) == cudaErrorInvalidValue);
  REQUIRE(carveoutOf(addOne) == 58);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(addOne, CARVEOUT, -1) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);  // lost, as natively
  REQUIRE(carveoutOf(addOne) == -1);
  cudaGetLastError();
}

TEST_CASE("the last error stays until it is read, and other threads have their own") {
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaSetDevice(3) == cudaErrorInvalidDevice);
  REQUIRE(launch(nothing, 1, 32) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  cudaError_t elsewhere = cudaErrorUnknown;
  std::thread([&] { elsewhere = cudaGetLastError(); }).join();
  REQUIRE(elsewhere == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(std::strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration") == 0);
  REQUIRE(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
}

TEST_CASE("clusters are refused, cooperative and programmatic launches are not") {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 4;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  REQUIRE(cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported);
  attribute.val.clusterDim = {1, 1, 1};
  REQUIRE(cudaLaunchKernelEx(&config, nothing) == cudaSuccess);
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  REQUIRE(cudaLaunchKernelEx(&config, nothing) == cudaSuccess);
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  REQUIRE(cudaLaunchKernelEx(&config, nothing) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("launches from several host threads") {
  Managed<unsigned> counts(4, 0u);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&counts, t] {
      for (int i = 0; i < 25; ++i) launch(addOne, 3, 32 + t, counts.data() + t);
    });
  for (std::thread& thread : threads) thread.join();
  for (unsigned t = 0; t < 4; ++t) REQUIRE(counts[t] == 25 * 3 * (32 + t));
}

TEST_CASE("blocks start in the order of their numbers, or of the lanes") {
  using gpuopt::emulation::BlockOrder;
  Managed<unsigned> ticket(1), first(1);
  const auto firstOf = [&](gpuopt::emulation::LaneOrder order, BlockOrder blocks) {
    const OrderScope scope(order, 1, blocks);
    ticket[0] = 0;
    REQUIRE(launch(firstBlock, 1000, 1, ticket.data(), first.data()) == cudaSuccess);
    return first[0];
  };
  for (const auto order : allOrders) REQUIRE(firstOf(order, BlockOrder::byNumber) < 500);
  REQUIRE(firstOf(gpuopt::emulation::LaneOrder::forward, BlockOrder::asLanes) < 500);
  REQUIRE(firstOf(gpuopt::emulation::LaneOrder::backward, BlockOrder::asLanes) >= 500);
}

TEST_CASE("a block may wait for those before it, whichever starts first") {
  using gpuopt::emulation::BlockOrder;
  for (const auto blocks : {BlockOrder::byNumber, BlockOrder::asLanes})
    for (const auto order : allOrders) {
      const OrderScope scope(order, 1, blocks);
      Managed<unsigned> arrived(1, 0u), seen(1, 0u);
      REQUIRE(launch(lastWaits, 20, 64, arrived.data(), seen.data()) == cudaSuccess);
      REQUIRE(seen[0] == 19);
    }
}

TEST_CASE("the device says what it is") {
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  REQUIRE(std::string(properties.name) == "gpuopt emulated device");
  REQUIRE((properties.major == 7 && properties.minor == 5));
  REQUIRE(attributeOf(cudaDevAttrComputeCapabilityMajor) == properties.major);
  REQUIRE(attributeOf(cudaDevAttrMultiProcessorCount) == properties.multiProcessorCount);
  REQUIRE(attributeOf(cudaDevAttrMaxSharedMemoryPerBlockOptin) == 232448);
  REQUIRE(attributeOf(cudaDevAttrMaxSharedMemoryPerBlock) == 49152);
  REQUIRE((properties.maxTexture1D == 131072 && properties.maxTexture2D[1] == 65536));
  REQUIRE((properties.maxTexture1DLinear == 1 << 28 && properties.maxTexture3D[2] == 16384));
  int count = 0, device = -1;
  REQUIRE((cudaGetDeviceCount(&count) == cudaSuccess && count == 1));
  REQUIRE((cudaGetDevice(&device) == cudaSuccess && device == 0));
  REQUIRE(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST_CASE("occupancy is limited by blocks, threads, registers and shared memory") {
  REQUIRE(activeBlocks(32) == 32);
  REQUIRE(activeBlocks(33) == 32);
  REQUIRE(activeBlocks(256) == 8);
  REQUIRE(activeBlocks(1024) == 2);
  REQUIRE(activeBlocks(1025) == 0);
  REQUIRE(activeBlocks(32, 56 * 1024) == 4);
  REQUIRE(activeBlocks(32, 227 * 1024) == 1);
  REQUIRE(activeBlocks(32, 227 * 1024 + 1) == 0);
  int grid = 0, block = 0;
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing) == cudaSuccess);
  REQUIRE((block == 1024 && grid == 8));
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 300) == cudaSuccess);
  REQUIRE((block == 256 && grid == 32));
  // With 400 bytes a thread and 1 KB a block of 228 KB, one block of 576 threads fits, and no more in smaller
  // ones.
  const auto bytes = [](int size) { return 400 * size; };
  REQUIRE(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, nothing, bytes) == cudaSuccess);
  REQUIRE((block == 576 && grid == 4));
}

TEST_CASE("a kernel has a name") {
  const char* name = nullptr;
  REQUIRE(cudaFuncGetName(&name, countVisits) == cudaSuccess);
#ifdef GPUOPT_EMULATION_BACKTRACE
  REQUIRE(std::string(name).find("countVisits") != std::string::npos);
#else
  REQUIRE(std::string(name) == "unnamed_kernel");
#endif
}

}  // namespace launch_test
