/// Threads that have left the kernel before a collective: the others go on, after a warning.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <string>

namespace exited_test {

constexpr unsigned ALL = 0xFFFFFFFFu;

__global__ void leaveBeforeBarrier(int* out) {
  if (threadIdx.x >= 40) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[64 + threadIdx.x] = out[(threadIdx.x + 1) % 40];
  __syncthreads();
  out[128 + threadIdx.x] = __syncthreads_count(threadIdx.x < 7) * 100 + __syncthreads_and(1) * 10 + __syncthreads_or(0);
}

__global__ void leaveBeforeShuffle(int* out) {
  if (threadIdx.x >= 40) return;
  out[threadIdx.x] = __shfl_down_sync(ALL, static_cast<int>(threadIdx.x), 1);
}

__global__ void leaveOneByOne(int* out) {
  for (unsigned left = 0; left < 64; ++left) {
    if (threadIdx.x == left) return;
    __syncthreads();
  }
  *out = 1;
}

__global__ void leaveAndDisagree(int*) {
  if (threadIdx.x < 3) return;
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads_count(1);
}

TEST_CASE("a barrier waits for the threads that have not left", "[exited]") {
  const LenientScope lenient;
  Managed<int> out(192, 0);
  const auto isRight = [&] {
    bool right = launch(leaveBeforeBarrier, 1, 64, out.data()) == cudaSuccess;
    for (int i = 0; i < 64; ++i) {
      right = right && out[static_cast<std::size_t>(64 + i)] == (i < 40 ? 1 : 0);
      right = right && out[static_cast<std::size_t>(128 + i)] == (i < 40 ? 710 : 0);
    }
    return right;
  };
  REQUIRE(ordersInWhich(isRight) == 3);
}

TEST_CASE("a warp collective waits for the lanes that have not left", "[exited]") {
  const LenientScope lenient;
  Managed<int> out(64, 0);
  const auto isRight = [&] {
    bool right = launch(leaveBeforeShuffle, 1, 64, out.data()) == cudaSuccess;
    for (int i = 0; i < 39; ++i) right = right && out[static_cast<std::size_t>(i)] == (i % 32 == 31 ? i : i + 1);
    return right && out[39] == -1;  // no lane of this number is left
  };
  REQUIRE(ordersInWhich(isRight) == 3);
}

TEST_CASE("threads may leave one by one", "[exited]") {
  const LenientScope lenient;
  Managed<int> out(1, 0);
  REQUIRE(ordersInWhich([&] { return launch(leaveOneByOne, 1, 65, out.data()) == cudaSuccess && out[0] == 1; }) == 3);
}

/// A kernel for each order in which the tests run.
template <gpuopt::emulation::LaneOrder>
__global__ void leaveForWarning() {
  if (threadIdx.x >= 32) return;
  __syncthreads();
}

TEST_CASE("a kernel that threads leave is warned of once", "[exited]") {
  const LenientScope lenient;
  using gpuopt::emulation::LaneOrder;
  const LaneOrder order = gpuopt::emulation::schedule().order;
  void (*const kernel)() = order == LaneOrder::forward    ? leaveForWarning<LaneOrder::forward>
                           : order == LaneOrder::backward ? leaveForWarning<LaneOrder::backward>
                                                          : leaveForWarning<LaneOrder::random>;
  REQUIRE(launch(kernel, 2, 64) == cudaSuccess);
  const std::string first = gpuopt::emulation::lastReport();
  CAPTURE(first);
  CHECK(first.find("warning: kernel ") == 0);
  CHECK(first.find("threads 0-31 wait in __syncthreads at " __FILE__ ":") != std::string::npos);
  // WRITTEN emulation: `if (i >= n) return;` before `__syncthreads()`
  // DO: all threads of the block come to it: put the work in the branch, not the barrier
  CHECK(first.find("threads have left before a collective") != std::string::npos);
  gpuopt::emulation::setExitedThreads(gpuopt::emulation::ExitedThreads::error);
  REQUIRE(launch(kernel, 1, 64) == cudaErrorLaunchFailure);
  const std::string error = gpuopt::emulation::lastReport();
  REQUIRE(error.find("kernel ") == 0);
  CHECK(launch(kernel, 1, 32) == cudaSuccess);
  CHECK(gpuopt::emulation::lastReport() == error);
}

/// A kernel for each order in which the tests run.
template <gpuopt::emulation::LaneOrder>
__global__ void waitAtTwoLines() {
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
}
__global__ void waitAtALineForEachWarp() {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
}

TEST_CASE("lanes of a warp that wait for one barrier at several lines are warned of", "[exited]") {
  using gpuopt::emulation::LaneOrder;
  const LaneOrder order = gpuopt::emulation::schedule().order;
  void (*const kernel)() = order == LaneOrder::forward    ? waitAtTwoLines<LaneOrder::forward>
                           : order == LaneOrder::backward ? waitAtTwoLines<LaneOrder::backward>
                                                          : waitAtTwoLines<LaneOrder::random>;
  REQUIRE(launch(kernel, 2, 64) == cudaSuccess);
  const std::string report = gpuopt::emulation::lastReport();
  CAPTURE(report);
  CHECK(report.find("warning: kernel ") == 0);
  CHECK(report.find("threads of a warp wait at several lines for each other") != std::string::npos);
  CHECK(report.find("threads 0-39 wait in __syncthreads at " __FILE__ ":") != std::string::npos);
  CHECK(report.find("threads 40-63 wait in __syncthreads at " __FILE__ ":") != std::string::npos);
  REQUIRE(launch(waitAtALineForEachWarp, 1, 64) == cudaSuccess);
  CHECK(gpuopt::emulation::lastReport() == report);
}

TEST_CASE("threads that wait in different barriers stay divergent though others have left", "[exited]") {
  const LenientScope lenient;
  Managed<int> out(1);
  CHECK(launch(leaveAndDisagree, 1, 64, out.data()) == cudaErrorLaunchFailure);
}

}  // namespace exited_test
