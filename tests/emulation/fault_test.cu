/// Faults: what a GPU leaves undefined makes the launch fail, with a report that says who waits where.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/launch.cuh>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fault_test {

constexpr unsigned ALL = 0xFFFFFFFFu;

__global__ void leaveBeforeBarrier(int* out) {
  if (threadIdx.x >= 10 && threadIdx.x < 20) return;
  __syncthreads();
  *out = 1;
}

__global__ void waitAtTwoPlaces(int* out) {
  if (threadIdx.x == 40) __syncwarp();
  __syncthreads();
  *out = 1;
}

__global__ void mixBarriers(int* out) {
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads_count(1);
  *out = 1;
}

__global__ void nameLanesThatNeverCome(int* out) {
  if (threadIdx.x < 16) *out = __shfl_sync(ALL, 1, 0);
}

__global__ void disagreeAboutMask(int* out) { *out = __ballot_sync(threadIdx.x < 16 ? ALL : 0xFFFF0000u, 1) != 0; }

__global__ void disagreeAboutOperation(int* out) {
  *out = threadIdx.x == 3 ? __shfl_up_sync(ALL, 1, 1u) : __shfl_down_sync(ALL, 1, 1u);
}

__global__ void omitCaller(int* out) { *out = __any_sync(0x0000FFF0u, 1); }

__global__ void shuffleOddWidth(int* out) { *out = __shfl_sync(ALL, 1, 0, 12); }

__global__ void trapInThread(int* out) {
  if (blockIdx.x == 2 && threadIdx.x == 9) __trap();
  *out = 1;
}

__global__ void throwInThread() {
  if (threadIdx.x == 7) throw std::runtime_error("thrown on purpose");
  __syncthreads();
}

__global__ void succeed(int* out) {
  __syncthreads();
  if (threadIdx.x == 0) *out = 123;
}

// Every thread owns heap memory while it waits in vain, deep in a call.
__device__ int waitForGood(int depth, std::shared_ptr<int> counted) {
  const std::vector<std::shared_ptr<int>> copies(3, counted);
  if (depth > 0) return waitForGood(depth - 1, counted);
  if (threadIdx.x != 0) __syncthreads();
  return *copies.front();
}

__global__ void waitHolding(const std::shared_ptr<int>* counted, int* out) { *out = waitForGood(4, *counted); }

// Collectives made for blocks of 64 threads.
__global__ void reduceBlock(int* out) { *out = gpuopt::blockReduce<64>(1, gpuopt::Plus{}); }
__global__ void reduceValid(int* out) { *out = gpuopt::blockReduce<64>(1, gpuopt::Plus{}, 9); }
__global__ void reduceForAll(int* out) { *out = gpuopt::blockAllReduce<64>(1, gpuopt::Plus{}); }
__global__ void transposeTile(int* out) { gpuopt::transposeTile<32, 2>(out, 32, out + 1024, 32, 1, 1); }
template <template <class, unsigned, unsigned> class Structs>
__global__ void stageStructs(int*) {
  __shared__ typename Structs<int, 64, 1>::Storage storage;
  const Structs<int, 64, 1> staged(storage);
}
template <class T, unsigned BLOCK, unsigned ITEMS>
using Staged = gpuopt::StagedStructs<T, BLOCK, ITEMS>;

// Only some of the threads reduce. The barriers are in the library, the mistake is here.
constexpr int DIVERGENT_LINE = __LINE__ + 2;
__device__ void reduceHalf(int* out) {
  if (threadIdx.x < 32) *out = gpuopt::blockReduce<64>(1, gpuopt::Plus{});
}
__global__ void reduceDivergently(int* out) { reduceHalf(out); }

template <class... Parameters, class... Arguments>
std::string reportOf(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  REQUIRE(launch(kernel, grid, block, arguments...) == cudaErrorLaunchFailure);
  REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
  return gpuopt::emulation::lastReport();
}

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a barrier that some have left is divergent") {
  Managed<int> out(1);
  const std::string report = reportOf(leaveBeforeBarrier, dim3(1, 1), dim3(16, 4), out.data());
#ifdef GPUOPT_EMULATION_BACKTRACE
  REQUIRE(contains(report, "leaveBeforeBarrier(int*)"));
#endif
  REQUIRE(contains(report, "grid (1, 1, 1), block size (16, 4, 1), in block (0, 0, 0)"));
  REQUIRE(contains(report, "divergent barrier"));
  REQUIRE(contains(report, "wait in __syncthreads at " __FILE__ ":"));
}

TEST_CASE("a divergent barrier says who has left") {
  Managed<int> out(1);
  const std::string report = reportOf(leaveBeforeBarrier, 1, 64, out.data());
  REQUIRE(contains(report, "threads 0-9, 20-63 wait in __syncthreads"));
  REQUIRE(contains(report, "threads 10-19 have left"));
}

TEST_CASE("a divergent barrier says who waits where") {
  Managed<int> out(1);
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    const std::string report = reportOf(waitAtTwoPlaces, 1, 64, out.data());
    REQUIRE(contains(report, "threads 0-39, 41-63 wait in __syncthreads"));
    REQUIRE(contains(report, "threads 40 wait in __syncwarp (mask 0xffffffff)"));
  }
  const std::string report = reportOf(mixBarriers, 1, 4, out.data());
  REQUIRE(contains(report, "threads 0, 2 wait in __syncthreads at"));
  REQUIRE(contains(report, "threads 1, 3 wait in __syncthreads_count at"));
}

TEST_CASE("a warp collective that cannot complete is reported") {
  Managed<int> out(1);
  const std::string never = reportOf(nameLanesThatNeverCome, 1, 32, out.data());
  REQUIRE(contains(never, "its mask names lanes that never come"));
  REQUIRE(contains(never, "threads 0-15 wait in __shfl_sync (mask 0xffffffff)"));
  REQUIRE(contains(never, "threads 16-31 have left"));
  REQUIRE(
      contains(reportOf(disagreeAboutMask, 1, 32, out.data()), "threads 0-15 wait in __ballot_sync (mask 0xffffffff)"));
  const std::string operations = reportOf(disagreeAboutOperation, 1, 32, out.data());
  REQUIRE(contains(operations, "threads 0-2, 4-31 wait in __shfl_down_sync"));
  REQUIRE(contains(operations, "threads 3 wait in __shfl_up_sync"));
}

TEST_CASE("a bad argument of a collective names the thread") {
  const OrderScope scope(gpuopt::emulation::LaneOrder::forward);
  Managed<int> out(1);
  const std::string omitted = reportOf(omitCaller, 1, 32, out.data());
  REQUIRE(contains(omitted, "thread (0, 0, 0)"));
  // WRITTEN emulation: `__any_sync(mask, x)` by a lane that is not in `mask`
  // DO: each lane that calls is in the mask that it passes
  REQUIRE(contains(omitted, "__any_sync: the mask does not name the calling lane 0 (mask 0xfff0)"));
  REQUIRE(contains(reportOf(shuffleOddWidth, 1, 32, out.data()), "the width of a shuffle is 12"));
}

TEST_CASE("a trap and an exception fail the launch") {
  Managed<int> out(1);
  const std::string trap = reportOf(trapInThread, 5, 32, out.data());
  REQUIRE(contains(trap, "in block (2, 0, 0): thread (9, 0, 0)"));
  REQUIRE(contains(trap, "__trap"));
  REQUIRE(contains(reportOf(throwInThread, 1, 32), "thread (7, 0, 0) threw an exception: thrown on purpose"));
}

TEST_CASE("a collective in a block of another size is reported") {
  Managed<int> out(2048);
  const auto check = [&](void (*kernel)(int*), const std::string& name) {
    for (const dim3 block : {dim3(32), dim3(16, 3), dim3(128)})
      REQUIRE(
          contains(reportOf(kernel, 1, block, out.data()),
                   name + ": made for blocks of 64 threads, but this one has " + std::to_string(block.x * block.y)));
    REQUIRE(launch(kernel, 1, dim3(16, 4), out.data()) == cudaSuccess);
  };
  check(reduceBlock, "gpuopt::blockReduce");
  check(reduceValid, "gpuopt::blockReduce");
  check(reduceForAll, "gpuopt::blockAllReduce");
  check(transposeTile, "gpuopt::TransposeTile");
  check(stageStructs<Staged>, "gpuopt::StagedStructs");
  check(stageStructs<gpuopt::PipelinedStructs>, "gpuopt::PipelinedStructs");
}

TEST_CASE("a fault within the library names the line that called the library") {
  Managed<int> out(1);
  const std::string report = reportOf(reduceDivergently, 1, 64, out.data());
  REQUIRE(contains(report, "threads 0-31 wait in __syncthreads at "));
  // WRITTEN emulation: `if (threadIdx.x < 32) sum = blockReduce<64>(x, Plus{});`
  // DO: all threads of the block call; pass a neutral value, or how many are valid
  REQUIRE(contains(report, "threads 32-63 have left"));
#ifdef GPUOPT_EMULATION_BACKTRACE
  REQUIRE(contains(report, __FILE__ ":" + std::to_string(DIVERGENT_LINE)));
#else
  REQUIRE(contains(report, "include/gpuopt/block/"));
#endif
}

TEST_CASE("the exception of a failed kernel has the report") {
  Managed<int> out(1);
  gpuopt::LaunchConfig config;
  config.block = dim3(64);
  std::string what = "accepted";
  try {
    gpuopt::launch(waitAtTwoPlaces, config, out.data());
  } catch (const gpuopt::CudaError& error) {
    what = error.what();
  }
  REQUIRE(contains(what, "cudaErrorLaunchFailure: unspecified launch failure: kernel "));
  REQUIRE(contains(what, gpuopt::emulation::lastReport()));
}

TEST_CASE("the launch after a fault works") {
  Managed<int> out(1, 0);
  reportOf(waitAtTwoPlaces, 8, 64, out.data());
  REQUIRE(out[0] == 0);
  REQUIRE(launch(succeed, 8, 64, out.data()) == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(out[0] == 123);
}

TEST_CASE("the threads of a failed block are unwound") {
  const auto counted = std::make_shared<int>(5);
  Managed<int> out(1);
  reportOf(waitHolding, 2, 96, &counted, out.data());
  REQUIRE(counted.use_count() == 1);
}

}  // namespace fault_test
