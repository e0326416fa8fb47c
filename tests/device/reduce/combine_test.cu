/// \file
/// How the blocks of a grid come to one result: what they send each other, and in which order it is joined.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/reduction_data.cuh"

#include <gpuopt/device/reduce/combine.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test {
namespace {

using detail::GridScratch;

template <class T>
GridScratch<T> scratchOf(const Workspace& workspace) {
  return {static_cast<T*>(workspace.data()), workspace.counters()};
}

void requireZeroCounters(const Workspace& workspace) {
  std::vector<unsigned> counters(Workspace::counterCount);
  checkCuda(cudaMemcpy(counters.data(), workspace.counters(), counters.size() * sizeof(unsigned),
                       cudaMemcpyDeviceToHost),
            "cudaMemcpy");
  REQUIRE(counters == std::vector<unsigned>(counters.size(), 0u));
}

// Two kernels, because the emulated device may run the block that waits before those that it waits for.
template <class T>
__global__ void sendKernel(const T* values, const GridScratch<T> scratch) {
  detail::SentPartials<T>{scratch}.leave(values[blockIdx.x]);
}

template <class T>
__global__ void takeKernel(T* out, const T none, const GridScratch<T> scratch) {
  const detail::SentPartials<T> partials{scratch};
  if (blockIdx.x != gridDim.x - 1) return;
  for (unsigned first = 0; first < gridDim.x; first += blockDim.x) {
    const unsigned block = first + threadIdx.x;
    const T value = partials.take(block, none);
    if (block < gridDim.x) out[block] = value;
  }
}

TEMPLATE_TEST_CASE("The last block takes what the others have sent", "[join]", signed char, short, float,
                   double, Float3, Words5, Words6) {
  const Workspace workspace;
  const GridScratch<TestType> scratch = scratchOf<TestType>(workspace);
  for (const unsigned blocks : {2u, 33u, 100u, 290u}) {
    INFO("blocks " << blocks);
    std::vector<TestType> values = Elements<TestType>::make(blocks, blocks);
    const DeviceArray<TestType> in(values);
    DeviceArray<TestType> out(blocks);
    const TestType none = values.back();  // what takes the place of the last block's own value
    launch(sendKernel<TestType>, blocksOf(32, blocks), in.data(), scratch);
    launch(takeKernel<TestType>, blocksOf(64, blocks), out.data(), none, scratch);
    REQUIRE(out.toHost() == values);
    requireZeroCounters(workspace);
  }
}

constexpr int BLOCK = 64;

template <class T, class Op>
__global__ void joinKernel(const T* values, const T none, Op op, const GridScratch<T> scratch, T* out) {
  T partial = threadIdx.x == 0 ? values[blockIdx.x] : none;
  if (detail::joinGrid<BLOCK>(partial, none, op, scratch)) *out = partial;
}

template <class T, class Op>
void checkJoin(const T& none, Op op) {
  const Workspace workspace;
  for (const unsigned blocks : {1u, 2u, 32u, 65u, 66u, 200u}) {
    INFO("blocks " << blocks);
    const std::vector<T> values = Elements<T>::make(blocks, blocks);
    const DeviceArray<T> in(values);
    DeviceArray<T> out(1);
    for (int call = 0; call < 2; ++call) {
      launch(joinKernel<T, Op>, blocksOf(BLOCK, blocks), in.data(), none, op, scratchOf<T>(workspace),
             out.data());
      REQUIRE(out.toHost()[0] == foldSerially<T>(values, op));
      requireZeroCounters(workspace);
    }
  }
}

TEST_CASE("Blocks join in the order of their numbers", "[join]") {
  checkJoin(Matrix{1, 0, 0, 1}, MatrixProduct{});
}

TEST_CASE("Blocks join results of any size", "[join]") {
  static_assert(detail::isSent<double> && !detail::isSent<Words25>);
  checkJoin(0.0, Plus{});
  checkJoin(Words25{}, Plus{});
}

}  // namespace
}  // namespace gpuopt::test
