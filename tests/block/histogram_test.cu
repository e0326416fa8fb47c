/// BlockHistogram: blocks of several sizes and dimensions, bins outside, added to and stored counts, one histogram
/// after another, blocks of the wrong size.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"

#include <gpuopt/block/histogram.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::block_histogram_test {
namespace {

// Adds the bins of `in` to `sums`, and then those of the block's last elements alone to its row of `stored`.
template <unsigned BLOCK, unsigned BINS>
__global__ void countBins(const int* in, unsigned n, unsigned long long* sums, int* stored) {
  __shared__ typename BlockHistogram<BLOCK, BINS>::Storage storage;
  const BlockHistogram<BLOCK, BINS> histogram(storage);
  const auto rank = static_cast<unsigned>(threadRank());
  long long last = -1;
  for (unsigned i = blockIdx.x * BLOCK + rank; i < n; i += gridDim.x * BLOCK) {
    histogram.add(in[i]);
    last = in[i];
  }
  histogram.addTo(sums);
  histogram.clear();
  histogram.add(last);
  histogram.store(stored + blockIdx.x * BINS);
}

template <unsigned BLOCK, unsigned BINS>
void checkBlocks(dim3 block) {
  constexpr unsigned N = 5000, BLOCKS = 3;
  INFO(BLOCK << " threads, " << BINS << " bins");
  std::vector<int> values;
  for (const unsigned number : numbersBelow(N, BINS + 3, Distribution::fewOften, 5))
    values.push_back(static_cast<int>(number) - 1);
  const DeviceArray<int> in(values);
  DeviceArray<unsigned long long> sums(std::vector<unsigned long long>(BINS, 7));
  DeviceArray<int> stored(BLOCKS * BINS);
  LaunchConfig config;
  config.grid = dim3(BLOCKS);
  config.block = block;
  launch(countBins<BLOCK, BINS>, config, in.data(), N, sums.data(), stored.data());
  auto expected = insideOf(countsOf<unsigned long long>(values, BINS, [](int x) { return x; }));
  for (auto& count : expected) count += 7;
  CHECK(sums.toHost() == expected);
  std::vector<int> last(BLOCKS * BINS, 0);
  for (unsigned t = 0; t < BLOCKS * BLOCK; ++t) {
    const int bin = values[t + (N - 1 - t) / (BLOCKS * BLOCK) * (BLOCKS * BLOCK)];
    if (bin >= 0 && bin < static_cast<int>(BINS)) ++last[t / BLOCK * BINS + static_cast<unsigned>(bin)];
  }
  CHECK(stored.toHost() == last);
}

}  // namespace

TEST_CASE("BlockHistogram: blocks of every shape, more and fewer bins than threads", "[device]") {
  checkBlocks<256, 64>(dim3(256));
  checkBlocks<64, 1000>(dim3(8, 4, 2));
  checkBlocks<1, 3>(dim3(1));
  checkBlocks<100, 100>(dim3(25, 4));
  checkBlocks<1024, 12288>(dim3(1024));
}

}  // namespace gpuopt::test::block_histogram_test
