/// \file
/// launch: arguments, configuration, errors.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/block/shared.cuh>
#include <gpuopt/launch.cuh>

#include <cstddef>
#include <cstdint>

namespace host_test::launch_test {

struct Scale {
  double factor;
  short shift;
};

// Parameters of different sizes, ordered so that a misplaced argument shows.
__global__ void combine(std::uint64_t* out, unsigned char a, std::size_t b, float c, Scale scale, const int* d) {
  out[0] = a;
  out[1] = b;
  out[2] = static_cast<std::uint64_t>(c * 4);
  out[3] = static_cast<std::uint64_t>(scale.factor) + static_cast<std::uint64_t>(scale.shift);
  out[4] = d == nullptr ? 1 : 0;
}

__global__ void noParameters() {}

// Every thread writes its linear index, computed from all six dimensions.
__global__ void enumerate(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}

__global__ void increment(int* data) {
  if (threadIdx.x == 0) ++*data;
}

// Nobody raises its limit of shared memory.
__global__ void limited(int* data) { ++*data; }

// increment, for a launch that may start before its predecessor has ended.
__global__ void incrementInTurn(int* data) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (threadIdx.x == 0) ++*data;
}

// Reverses `count` words in dynamic shared memory.
__global__ void reverse(unsigned* data, unsigned count) {
  auto* shared = gpuopt::dynamicShared<unsigned>();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) shared[i] = data[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) data[i] = shared[count - 1 - i];
}

__global__ void __launch_bounds__(128) bounded(int* data) { ++*data; }

}  // namespace host_test::launch_test

using namespace gpuopt::test;
using gpuopt::launch;
using gpuopt::LaunchConfig;

namespace {

LaunchConfig configOf(dim3 grid, dim3 block, std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) {
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.sharedBytes = sharedBytes;
  config.stream = stream;
  return config;
}

/// The message of the std::invalid_argument that a launch of `increment` throws.
std::string refusal(const LaunchConfig& config) {
  DeviceArray<int> data(std::vector<int>{41});
  std::string text =
      messageOf<std::invalid_argument>([&] { launch(host_test::launch_test::increment, config, data.data()); });
  CHECK(contains(text, "gpuopt::launch: "));
  CHECK(contains(text, "host_test::launch_test::increment(int*)"));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(data.toHost() == std::vector<int>{41});
  return text;
}

}  // namespace

TEST_CASE("arguments arrive converted to the parameters' types") {
  DeviceArray<std::uint64_t> out(5);
  const int narrow = 7;
  launch(host_test::launch_test::combine, configOf(1, 1), out.data(), narrow, 123456789012345u, 2.25,
         host_test::launch_test::Scale{1000, 5}, nullptr);
  REQUIRE(out.toHost() == std::vector<std::uint64_t>{7, 123456789012345u, 9, 1005, 1});
}

TEST_CASE("a kernel without parameters is launched") {
  REQUIRE_NOTHROW(launch(host_test::launch_test::noParameters, LaunchConfig{}));
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("all dimensions of grid and block arrive") {
  DeviceArray<unsigned> out(2 * 3 * 4 * 5 * 6 * 7);
  launch(host_test::launch_test::enumerate, configOf(dim3(2, 3, 4), dim3(5, 6, 7)), out.data());
  const std::vector<unsigned> values = out.toHost();
  for (unsigned i = 0; i < values.size(); ++i) REQUIRE(values[i] == i / 210 * 1000 + i % 210);
}

TEST_CASE("a hand-written configuration gets dynamic shared memory of every allowed size") {
  const auto limit = static_cast<unsigned>(gpuopt::deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  // A small request after a large one must not lower the limit.
  for (const unsigned bytes : {1024u, 48u * 1024, limit, 4096u, limit}) {
    CAPTURE(bytes);
    std::vector<unsigned> values(bytes / 4);
    for (unsigned i = 0; i < values.size(); ++i) values[i] = i * 2654435761u;
    DeviceArray<unsigned> data(values);
    launch(host_test::launch_test::reverse, configOf(1, 128, bytes), data.data(), values.size());
    REQUIRE(data.toHost() == std::vector<unsigned>(values.rbegin(), values.rend()));
  }
}

TEST_CASE("impossible launches are refused before anything runs, with the values") {
  // WRITTEN launch: `launch(kernel, config)`, where `config.grid` is 0
  // DO: round up, and do not launch for no elements: `occupancyConfig` does the first
  REQUIRE(contains(refusal(configOf(0, 32)), "grid (0x1x1) is empty"));
  REQUIRE(contains(refusal(configOf(dim3(1, 0, 1), 32)), "grid (1x0x1) is empty"));
  REQUIRE(contains(refusal(configOf(1, dim3(32, 1, 0))), "block (32x1x0) is empty"));
  // WRITTEN launch: `launch(kernel, config)`, where `config.block` is 2048
  // DO: more blocks, of at most 1024 threads
  REQUIRE(contains(refusal(configOf(1, 2048)), "block (2048x1x1) exceeds 1024 threads"));
  REQUIRE(contains(refusal(configOf(1, dim3(32, 33))), "block (32x33x1) exceeds 1024 threads"));
  // The product of the sizes is 2^32, which overflows 32 bits.
  REQUIRE(contains(refusal(configOf(1, dim3(65536, 65536))), "exceeds 1024 threads"));
  REQUIRE(contains(refusal(configOf(dim3(1, 65536), 32)), "grid (1x65536x1) exceeds"));
  REQUIRE(contains(refusal(configOf(dim3(1, 1, 65536), 32)), "grid (1x1x65536) exceeds"));
  REQUIRE(contains(refusal(configOf(0x80000000u, 32)),
                   "grid (-2147483648x1x1) has a negative size, or one above 2147483647"));
  REQUIRE(contains(refusal(configOf(1, dim3(1, 1, 65))), "block (1x1x65) exceeds 64 threads along z; kernel: "));
  REQUIRE(contains(refusal(configOf(1, dim3(2, 1025, 1))), "block (2x1025x1) exceeds 1024 threads"));
  // The products are 2^64, which overflows 64 bits.
  REQUIRE(contains(refusal(configOf(1, dim3(1 << 22, 1 << 21, 1 << 21))), "exceeds 1024 threads"));
  REQUIRE(contains(refusal(configOf(dim3(1 << 22, 1 << 21, 1 << 21), 32)), "exceeds 2147483647x65535x65535 blocks"));
  REQUIRE(contains(refusal(configOf(1, 32, 1 << 20)), "sharedBytes (1048576)"));
  REQUIRE(contains(refusal(configOf(1, 32, SIZE_MAX)), "sharedBytes (-1) is negative"));
}

TEST_CASE("the largest blocks along each axis are launched") {
  for (const dim3& block : {dim3(1024), dim3(1, 1024), dim3(1, 1, 64), dim3(4, 4, 64)}) {
    DeviceArray<unsigned> data(std::size_t{block.x} * block.y * block.z);
    launch(host_test::launch_test::enumerate, configOf(1, block), data.data());
    const std::vector<unsigned> values = data.toHost();
    REQUIRE(values.back() == values.size() - 1);
  }
}

TEST_CASE("a cluster must fit the grid and the device") {
  LaunchConfig config = configOf(4, 32);
  config.cluster = 3;
  REQUIRE(contains(refusal(config), "cluster (3) does not divide the grid's x (4)"));
  config.cluster = 0;
  REQUIRE(contains(refusal(config), "cluster (0)"));
  if (gpuopt::computeCapability(0) < 90) {
    config.cluster = 2;
    REQUIRE(contains(refusal(config), "cluster (2) needs compute capability 9.0"));
  }
}

TEST_CASE("a null kernel is refused") {
  void (*kernel)(int*) = nullptr;
  REQUIRE_THROWS_AS(launch(kernel, LaunchConfig{}, nullptr), std::invalid_argument);
}

TEST_CASE("what the runtime refuses names kernel and configuration, and the next launch works") {
  DeviceArray<int> data(std::vector<int>{41});
  LaunchConfig config = configOf(3, dim3(1, 2, 32), 100000);
  config.blocksPerMultiprocessor = 1;  // as if occupancyConfig had raised the kernel's limit of shared memory
  const std::string text =
      messageOf<gpuopt::CudaError>([&] { launch(host_test::launch_test::limited, config, data.data()); });
  REQUIRE(contains(text, "host_test::launch_test::limited(int*)"));
  REQUIRE(contains(text, "grid 3x1x1, block 1x2x32, 100000 shared bytes"));
  REQUIRE(contains(text, "cudaError"));
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  launch(host_test::launch_test::increment, configOf(1, 32), data.data());
  REQUIRE(data.toHost() == std::vector<int>{42});
}

TEST_CASE("an earlier error is neither swallowed nor reported by a launch") {
  DeviceArray<int> data(std::vector<int>{41});
  const cudaError_t earlier = leaveEarlierError();
  REQUIRE_NOTHROW(launch(host_test::launch_test::increment, configOf(1, 32), data.data()));
  REQUIRE(cudaGetLastError() == earlier);
  REQUIRE(data.toHost() == std::vector<int>{42});
}

TEST_CASE("a programmatic launch runs everywhere, in order") {
  Stream stream;
  DeviceArray<int> data(std::vector<int>{0});
  LaunchConfig config = configOf(1, 32, 0, stream);
  config.programmatic = true;
  for (int i = 0; i < 10; ++i) launch(host_test::launch_test::incrementInTurn, config, data.data());
  stream.wait();
  REQUIRE(data.toHost() == std::vector<int>{10});
}

TEST_CASE("many threads launch on their own streams") {
  const int failures = failuresAmongThreads(4, [](int thread) {
    Stream stream;
    DeviceArray<int> data(std::vector<int>{thread});
    for (int i = 0; i < 25; ++i) launch(host_test::launch_test::increment, configOf(1, 32, 0, stream), data.data());
    stream.wait();
    return data.toHost() == std::vector<int>{thread + 25};
  });
  REQUIRE(failures == 0);
}

#ifdef GPUOPT_EMULATION

namespace host_test::launch_test {

__global__ void faulty() {
  if (threadIdx.x == 0) __trap();
}

}  // namespace host_test::launch_test

TEST_CASE("a kernel that faults is named, and the next launch works") {
  // A deferred launch cannot throw: who waits for the kernel is told.
  if (gpuopt::emulation::queueMode() == gpuopt::emulation::QueueMode::deferred) return;
  const std::string text =
      messageOf<gpuopt::CudaError>([] { launch(host_test::launch_test::faulty, configOf(1, 64)); });
  REQUIRE(contains(text, "host_test::launch_test::faulty()"));
  REQUIRE(contains(text, "cudaErrorLaunchFailure"));
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE_NOTHROW(launch(host_test::launch_test::noParameters, configOf(1, 64)));
}

#else

TEST_CASE("a block beyond the kernel's own limit is refused with that limit") {
  DeviceArray<int> data(std::vector<int>{41});
  const std::string text =
      messageOf<std::invalid_argument>([&] { launch(host_test::launch_test::bounded, configOf(1, 256), data.data()); });
  // WRITTEN launch: `launch(kernel, config)` where the registers do not suffice for `config.block`
  // DO: fewer threads, or `__launch_bounds__(threads)`; `<<<>>>` fails with cudaErrorLaunchOutOfResources here
  REQUIRE(contains(text, "block (256x1x1) exceeds 128, the limit of the kernel's registers or launch bounds"));
  REQUIRE(contains(text, "host_test::launch_test::bounded(int*)"));
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(data.toHost() == std::vector<int>{41});
}

namespace host_test::launch_test {

__global__ void clusterSizes(unsigned* out) {
  unsigned blocks = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
  out[blockIdx.x] = blocks;
}

}  // namespace host_test::launch_test

TEST_CASE("a cluster has the blocks that were asked for") {
  if (gpuopt::computeCapability(0) < 90) return;
  for (const unsigned cluster : {2u, 8u}) {
    DeviceArray<unsigned> out(16);
    LaunchConfig config = configOf(16, 32);
    config.cluster = cluster;
    config.programmatic = true;  // both attributes at once
    launch(host_test::launch_test::clusterSizes, config, out.data());
    REQUIRE(out.toHost() == std::vector<unsigned>(16, cluster));
  }
}

TEST_CASE("the launch goes to the configuration's stream") {
  Stream stream;
  DeviceArray<int> data(std::vector<int>{0});
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  launch(host_test::launch_test::increment, configOf(1, 32, 0, stream), data.data());
  launch(host_test::launch_test::increment, configOf(1, 32, 0, stream), data.data());
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  std::size_t nodes = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  REQUIRE(nodes == 2);
  REQUIRE(data.toHost() == std::vector<int>{0});
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}

#endif

TEST_CASE("Kernels have as many bytes of shared memory for each thread as on sm_90") {
  using gpuopt::detail::sharedPercent;
  constexpr int KIB = 1024;
  for (const int percent : {0, 1, 28, 58, 99, 100}) CHECK(sharedPercent(percent, 228 * KIB, 2048) == percent);
  CHECK(sharedPercent(58, 164 * KIB, 2048) == 81);   // sm_80
  CHECK(sharedPercent(58, 100 * KIB, 1536) == 100);  // sm_86
  CHECK(sharedPercent(28, 100 * KIB, 1536) == 48);
  CHECK(sharedPercent(58, 64 * KIB, 1024) == 100);  // sm_75: it would need 104
  CHECK(sharedPercent(28, 64 * KIB, 1024) == 50);
}
