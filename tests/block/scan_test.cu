/// Scans within a block: every size of block, elements of any size, the order of the threads, calls after one another.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/block/scan.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::block_scan_test {
namespace {

template <int BLOCK, class T, class Op>
__global__ void scanKernel(const T* in, T init, Op op, T* inclusive, T* exclusive) {
  const auto rank = static_cast<unsigned>(threadRank());
  inclusive[rank] = blockInclusiveScan<BLOCK>(in[rank], op);
  inclusive[rank] = blockInclusiveScan<BLOCK>(in[rank], op);
  exclusive[rank] = blockExclusiveScan<BLOCK>(in[rank], init, op);
  exclusive[rank] = blockExclusiveScan<BLOCK>(in[rank], init, op);
}

template <int BLOCK, class T, class Op>
void checkBlock(Op op) {
  const std::vector<T> values = Elements<T>::make(BLOCK, 3);
  const T init = values[5];
  const DeviceArray<T> in(values);
  DeviceArray<T> inclusive(BLOCK), exclusive(BLOCK);
  LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(BLOCK / 4, 2, 2);
  launch(scanKernel<BLOCK, T, Op>, config, in.data(), init, op, inclusive.data(), exclusive.data());
  const std::vector<T> upTo = inclusive.toHost(), before = exclusive.toHost();
  T sum = values[0];
  for (std::size_t i = 0; i < BLOCK; ++i) {
    INFO("block " << BLOCK << ", thread " << i);
    REQUIRE((before[i] == (i == 0 ? init : op(init, sum))));
    if (i > 0) sum = op(sum, values[i]);
    REQUIRE((upTo[i] == sum));
  }
}

TEST_CASE("Scans of blocks of every size", "[block][scan]") {
  checkBlock<32, Matrix>(MatrixProduct{});
  checkBlock<64, Matrix>(MatrixProduct{});
  checkBlock<128, Matrix>(MatrixProduct{});
  checkBlock<256, Matrix>(MatrixProduct{});
  checkBlock<512, Matrix>(MatrixProduct{});
  checkBlock<1024, Matrix>(MatrixProduct{});
}

TEST_CASE("Scans of elements of any size by a block", "[block][scan]") {
  checkBlock<256, float>(Plus{});
  checkBlock<256, Bytes3>(Plus{});
  checkBlock<128, Words25>(UnknownPlus{});
}

}  // namespace
}  // namespace gpuopt::test::block_scan_test
