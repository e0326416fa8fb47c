/// \file
/// How the blocks of a grid combine their results: what they publish, and in which order it is combined.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/reduction_data.cuh"

#include <gpuopt/device/reduce/combine.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::combine_test {
namespace {

using detail::GridScratch;

template <class T>
GridScratch<T> scratchOf(const Workspace& workspace) {
  return {static_cast<T*>(workspace.data()), workspace.counters()};
}

void requireZeroCounters(const Workspace& workspace) {
  std::vector<unsigned> counters(Workspace::counterCount);
  checkCuda(
      cudaMemcpy(counters.data(), workspace.counters(), counters.size() * sizeof(unsigned), cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  REQUIRE(counters == std::vector<unsigned>(counters.size(), 0u));
}

// Two kernels, because the emulated device may run the block that waits before those that it waits for.
template <class T>
__global__ void publishKernel(const T* values, const GridScratch<T> scratch) {
  detail::MarkedPartials<T>{scratch}.publish(values[blockIdx.x]);
}

template <class T>
__global__ void collectKernel(T* out, const T neutral, const GridScratch<T> scratch) {
  const detail::MarkedPartials<T> partials{scratch};
  if (blockIdx.x != gridDim.x - 1) return;
  for (unsigned first = 0; first < gridDim.x; first += blockDim.x) {
    const unsigned block = first + threadIdx.x;
    const T value = partials.collect(block, neutral);
    if (block < gridDim.x) out[block] = value;
  }
}

TEMPLATE_TEST_CASE("The last block collects what the others have published", "[combine]", signed char, short, float,
                   double, Float3, Words5, Words6) {
  const Workspace workspace;
  const GridScratch<TestType> scratch = scratchOf<TestType>(workspace);
  for (const unsigned blocks : {2u, 33u, 100u, 290u}) {
    INFO("blocks " << blocks);
    std::vector<TestType> values = Elements<TestType>::make(blocks, blocks);
    const DeviceArray<TestType> in(values);
    DeviceArray<TestType> out(blocks);
    const TestType neutral = values.back();  // stands for the last block's own value
    launch(publishKernel<TestType>, blocksOf(32, blocks), in.data(), scratch);
    launch(collectKernel<TestType>, blocksOf(64, blocks), out.data(), neutral, scratch);
    REQUIRE(out.toHost() == values);
    requireZeroCounters(workspace);
  }
}

constexpr int BLOCK = 64;

template <class T, class Op>
__global__ void combineKernel(const T* values, const T neutral, Op op, const GridScratch<T> scratch, T* out) {
  T partial = threadIdx.x == 0 ? values[blockIdx.x] : neutral;
  if (detail::gridReduce<BLOCK>(partial, neutral, op, scratch)) *out = partial;
}

template <class T, class Op>
void checkCombine(const T& neutral, Op op) {
  const Workspace workspace;
  for (const unsigned blocks : {1u, 2u, 32u, 65u, 66u, 200u}) {
    INFO("blocks " << blocks);
    const std::vector<T> values = Elements<T>::make(blocks, blocks);
    const DeviceArray<T> in(values);
    DeviceArray<T> out(1);
    for (int call = 0; call < 2; ++call) {
      launch(combineKernel<T, Op>, blocksOf(BLOCK, blocks), in.data(), neutral, op, scratchOf<T>(workspace),
             out.data());
      REQUIRE(out.toHost()[0] == foldSerially<T>(values, op));
      requireZeroCounters(workspace);
    }
  }
}

TEST_CASE("Blocks combine in the order of their numbers", "[combine]") {
  checkCombine(Matrix{1, 0, 0, 1}, MatrixProduct{});
}

TEST_CASE("Blocks combine results of any size", "[combine]") {
  static_assert(detail::isMarkable<double> && !detail::isMarkable<Words25>);
  checkCombine(0.0, Plus{});
  checkCombine(Words25{}, Plus{});
}

}  // namespace
}  // namespace gpuopt::test::combine_test
