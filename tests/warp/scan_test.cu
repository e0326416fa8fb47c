/// Scans within a warp: every width, elements of any size, the order of the lanes.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/scan.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::warp_scan_test {
namespace {

constexpr int THREADS = 64;  // two warps: a thread's index is not its lane

template <int WIDTH, class T, class Op>
__global__ void scanKernel(const T* in, T init, Op op, T* inclusive, T* exclusive) {
  inclusive[threadIdx.x] = warpInclusiveScan<WIDTH>(in[threadIdx.x], op);
  exclusive[threadIdx.x] = warpExclusiveScan<WIDTH>(in[threadIdx.x], init, op);
}

template <int WIDTH, class T, class Op>
void checkWidth(const std::vector<T>& values, T init, Op op) {
  const DeviceArray<T> in(values);
  DeviceArray<T> inclusive(THREADS), exclusive(THREADS);
  launch(scanKernel<WIDTH, T, Op>, blocksOf(THREADS), in.data(), init, op, inclusive.data(), exclusive.data());
  const std::vector<T> upTo = inclusive.toHost(), before = exclusive.toHost();
  for (std::size_t i = 0; i < THREADS; ++i) {
    const std::size_t first = i / WIDTH * WIDTH;
    INFO("width " << WIDTH << ", thread " << i);
    REQUIRE((upTo[i] == foldSerially<T>(values, first, i + 1, op)));
    REQUIRE((before[i] == (i == first ? init : op(init, foldSerially<T>(values, first, i, op)))));
  }
}

TEMPLATE_TEST_CASE("Scans of elements of any size", "[warp][scan]", (Many<unsigned char, 1>), Bytes3, Float3, Words25,
                   float, double) {
  const std::vector<TestType> values = Elements<TestType>::make(THREADS, 1);
  checkWidth<8>(values, values[3], Plus{});
  checkWidth<32>(values, values[3], UnknownPlus{});
}

TEST_CASE("Scans of every width", "[warp][scan]") {
  const std::vector<Matrix> values = Elements<Matrix>::make(THREADS, 2);
  checkWidth<1>(values, values[5], MatrixProduct{});
  checkWidth<2>(values, values[5], MatrixProduct{});
  checkWidth<4>(values, values[5], MatrixProduct{});
  checkWidth<8>(values, values[5], MatrixProduct{});
  checkWidth<16>(values, values[5], MatrixProduct{});
  checkWidth<32>(values, values[5], MatrixProduct{});
}

}  // namespace
}  // namespace gpuopt::test::warp_scan_test
