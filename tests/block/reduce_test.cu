/// Reductions within a block: every size of block, every count of valid threads, the order of the threads,
/// calls back to back.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/block/reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <type_traits>
#include <vector>

namespace gpuopt::test::reduce_test {
namespace {

constexpr int ROUNDS = 3;

template <int BLOCK>
using Size = std::integral_constant<int, BLOCK>;

// Round r reduces values[r * BLOCK ...): a thread that runs ahead mixes two rounds.
template <int BLOCK, class T, class Op>
__global__ void __launch_bounds__(BLOCK) backToBackKernel(const T* in, Op op, T* reduced, T* all) {
  for (int round = 0; round < ROUNDS; ++round) {
    const T total = blockReduce<BLOCK>(in[round * BLOCK + static_cast<int>(threadIdx.x)], op);
    if (threadIdx.x == 0) reduced[round] = total;
  }
  for (int round = 0; round < ROUNDS; ++round)
    all[round * BLOCK + static_cast<int>(threadIdx.x)] =
        blockAllReduce<BLOCK>(in[round * BLOCK + static_cast<int>(threadIdx.x)], op);
}

template <int BLOCK, class T, class Op>
__global__ void __launch_bounds__(BLOCK) validKernel(const T* in, Op op, int validThreads, T* reduced, T* all) {
  for (int round = 0; round < ROUNDS; ++round) {
    const T total = blockReduce<BLOCK>(in[round * BLOCK + static_cast<int>(threadIdx.x)], op, validThreads);
    if (threadIdx.x == 0) reduced[round] = total;
  }
  for (int round = 0; round < ROUNDS; ++round)
    all[round * BLOCK + static_cast<int>(threadIdx.x)] =
        blockAllReduce<BLOCK>(in[round * BLOCK + static_cast<int>(threadIdx.x)], op, validThreads);
}

template <int BLOCK, class T, class Op>
__global__ void __launch_bounds__(BLOCK) ownStorageKernel(const T* in, Op op, T* reduced, T* all) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> first;
  __shared__ BlockReduceStorage<BLOCK, T, Op> second;
  const T total = blockReduce<BLOCK>(in[threadIdx.x], op, first);
  all[threadIdx.x] = blockAllReduce<BLOCK>(in[BLOCK + threadIdx.x], op, second);
  __syncthreads();
  const T again = blockReduce<BLOCK>(in[2 * BLOCK + threadIdx.x], op, first);
  if (threadIdx.x == 0) {
    reduced[0] = total;
    reduced[1] = again;
  }
}

// The results of all rounds over their first `valid` threads, each so many times.
template <class T, class Op>
std::vector<T> expectedRounds(const std::vector<T>& values, std::size_t block, std::size_t valid, std::size_t copies,
                              Op op) {
  std::vector<T> expected;
  for (std::size_t first = 0; first < values.size(); first += block)
    expected.insert(expected.end(), copies, foldSerially<T>(values, first, first + valid, op));
  return expected;
}

template <int BLOCK, class T, class Op>
void checkBlock(Op op) {
  const std::vector<T> values = Elements<T>::make(ROUNDS * BLOCK, BLOCK);
  const DeviceArray<T> in(values);
  INFO("block " << BLOCK);
  {
    DeviceArray<T> reduced(ROUNDS), all(ROUNDS * BLOCK);
    launch(backToBackKernel<BLOCK, T, Op>, blocksOf(BLOCK), in.data(), op, reduced.data(), all.data());
    REQUIRE((reduced.toHost() == expectedRounds(values, BLOCK, BLOCK, 1, op)));
    REQUIRE((all.toHost() == expectedRounds(values, BLOCK, BLOCK, BLOCK, op)));
  }
  {
    DeviceArray<T> reduced(2), all(BLOCK);
    launch(ownStorageKernel<BLOCK, T, Op>, blocksOf(BLOCK), in.data(), op, reduced.data(), all.data());
    const std::vector<T> expected = expectedRounds(values, BLOCK, BLOCK, 1, op);
    REQUIRE((reduced.toHost() == std::vector<T>{expected[0], expected[2]}));
    REQUIRE((all.toHost() == std::vector<T>(BLOCK, expected[1])));
  }
}

template <int BLOCK, class T, class Op>
void checkValidThreads(Op op) {
  const std::vector<T> values = Elements<T>::make(ROUNDS * BLOCK, BLOCK);
  const DeviceArray<T> in(values);
  std::set<int> counts;
  for (int center : {1, 2, 16, 32, 64, 96, BLOCK / 2, BLOCK - 32, BLOCK})
    for (int count : {center - 1, center, center + 1})
      if (count >= 1 && count <= BLOCK) counts.insert(count);
  static Series cases;
  for (int count : counts) {
    if (!cases.runsNext()) continue;
    DeviceArray<T> reduced(ROUNDS), all(ROUNDS * BLOCK);
    launch(validKernel<BLOCK, T, Op>, blocksOf(BLOCK), in.data(), op, count, reduced.data(), all.data());
    const auto valid = static_cast<std::size_t>(count);
    INFO("block " << BLOCK << ", valid threads " << count);
    REQUIRE((reduced.toHost() == expectedRounds(values, BLOCK, valid, 1, op)));
    REQUIRE((all.toHost() == expectedRounds(values, BLOCK, valid, BLOCK, op)));
  }
}

#define BLOCK_SIZES                                                                                                \
  Size<1>, Size<2>, Size<16>, Size<32>, Size<64>, Size<96>, Size<128>, Size<256>, Size<512>, Size<768>, Size<992>, \
      Size<1024>

TEMPLATE_TEST_CASE("Sums", "[block]", BLOCK_SIZES) {
  constexpr int BLOCK = TestType::value;
  checkBlock<BLOCK, int>(Plus{});
  checkBlock<BLOCK, double>(Plus{});
  checkBlock<BLOCK, float>(UnknownPlus{});
}

TEMPLATE_TEST_CASE("Operands are combined in the order of the threads", "[block]", BLOCK_SIZES) {
  checkBlock<TestType::value, Span>(CombineSpans{});
}

TEMPLATE_TEST_CASE("The first threads only", "[block][sweep]", BLOCK_SIZES) {
  checkValidThreads<TestType::value, Span>(CombineSpans{});
  checkValidThreads<TestType::value, float>(Plus{});
}

TEMPLATE_TEST_CASE("Elements of any size", "[block]", unsigned char, short, Bytes3, long long, Float3, Words6,
                   Words25) {
  checkBlock<512, TestType>(Plus{});
  checkValidThreads<96, TestType>(Plus{});
}

TEMPLATE_TEST_CASE("Extremes and bits", "[block]", Size<32>, Size<96>, Size<512>, Size<1024>) {
  constexpr int BLOCK = TestType::value;
  checkBlock<BLOCK, int>(Minimum{});
  checkBlock<BLOCK, float>(Maximum{});
  checkBlock<BLOCK, unsigned>(BitXor{});
  checkBlock<BLOCK, signed char>(Plus{});
  checkBlock<BLOCK, unsigned short>(Maximum{});
  checkBlock<BLOCK, unsigned long long>(BitOr{});
}

template <int BLOCK, class Op>
__global__ void __launch_bounds__(BLOCK)
    dimensionsKernel(const Span* in, Op op, int validThreads, Span* reduced, Span* all) {
  const Span mine = in[threadRank()];
  const Span total = blockReduce<BLOCK>(mine, op);
  const Span ofValid = blockReduce<BLOCK>(mine, op, validThreads);
  all[threadRank()] = blockAllReduce<BLOCK>(mine, op);
  if (threadRank() == 0) {
    reduced[0] = total;
    reduced[1] = ofValid;
  }
}

template <int BLOCK>
void checkDimensions(dim3 block) {
  const std::vector<Span> values = Elements<Span>::make(BLOCK, 0);
  const DeviceArray<Span> in(values);
  DeviceArray<Span> reduced(2), all(BLOCK);
  LaunchConfig config;
  config.block = block;
  launch(dimensionsKernel<BLOCK, CombineSpans>, config, in.data(), CombineSpans{}, BLOCK - 1, reduced.data(),
         all.data());
  const Span total = {0, BLOCK - 1, 1}, ofValid = {0, BLOCK - 2, 1};
  INFO("block " << block.x << "x" << block.y << "x" << block.z);
  REQUIRE((reduced.toHost() == std::vector<Span>{total, ofValid}));
  REQUIRE((all.toHost() == std::vector<Span>(BLOCK, total)));
}

TEST_CASE("Blocks of two and three dimensions", "[block]") {
  checkDimensions<16>(dim3(2, 4, 2));
  checkDimensions<32>(dim3(1, 1, 32));
  checkDimensions<64>(dim3(8, 4, 2));
  checkDimensions<96>(dim3(3, 32));
  checkDimensions<256>(dim3(16, 16));
  checkDimensions<1024>(dim3(32, 8, 4));
}

// The lanes of a butterfly must add the same pairs in the same order: rounding must not tell them apart.
template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) sameBitsKernel(const float* in, float* all) {
  all[threadIdx.x] = blockAllReduce<BLOCK>(in[threadIdx.x], Plus{});
}

template <int BLOCK>
void checkSameBits() {
  const std::vector<float> values = randomVector<float>(BLOCK, BLOCK);
  const DeviceArray<float> in(values);
  DeviceArray<float> all(BLOCK);
  launch(sameBitsKernel<BLOCK>, blocksOf(BLOCK), in.data(), all.data());
  const std::vector<float> results = all.toHost();
  REQUIRE((results == std::vector<float>(BLOCK, results[0])));
  const ExactSum exact = sumExactly(values);
  REQUIRE(std::fabs(results[0] - static_cast<double>(exact.sum)) <= exact.tolerance(0x1p-24, BLOCK));
}

TEST_CASE("Every thread holds the same bits of a rounded sum", "[block]") {
  checkSameBits<16>();
  checkSameBits<32>();
  checkSameBits<96>();
  checkSameBits<256>();
  checkSameBits<512>();
  checkSameBits<1024>();
}

template <int BLOCK, class T>
__global__ void __launch_bounds__(BLOCK) sumKernel(const T* in, T* results) {
  const T sum = blockReduce<BLOCK>(in[threadIdx.x], Plus{});
  results[threadIdx.x] = blockAllReduce<BLOCK>(in[threadIdx.x], Plus{});
  if (threadIdx.x == 0) results[BLOCK] = sum;
}

// The sum as each thread gets it, and behind them that of blockReduce.
template <int BLOCK, class T>
std::vector<T> blockSums(const std::vector<T>& values) {
  const DeviceArray<T> in(values);
  DeviceArray<T> results(BLOCK + 1);
  launch(sumKernel<BLOCK, T>, blocksOf(BLOCK), in.data(), results.data());
  return results.toHost();
}

// Tensor cores add doubles in an order of their own, which changes nothing while sums are exact.
TEMPLATE_TEST_CASE("Sums of doubles that are whole numbers", "[block]", BLOCK_SIZES) {
  constexpr int BLOCK = TestType::value;
  std::vector<double> values;
  for (long long word : randomVector<long long>(BLOCK, BLOCK + 1))
    values.push_back(static_cast<double>(word >> 21));  // below 2^43, so that 1024 of them stay below 2^53
  const double exact = static_cast<double>(sumExactly(values).sum);
  REQUIRE((blockSums<BLOCK>(values) == std::vector<double>(BLOCK + 1, exact)));
}

template <class T>
bool allNan(const std::vector<T>& sums) {
  return std::all_of(sums.begin(), sums.end(), [](T sum) { return std::isnan(sum); });
}

template <class T>
bool allZero(const std::vector<T>& sums, bool negative) {
  return std::all_of(sums.begin(), sums.end(), [=](T sum) { return sum == 0 && std::signbit(sum) == negative; });
}

template <int BLOCK, class T>
void checkSpecialSums() {
  const T infinity = std::numeric_limits<T>::infinity();
  REQUIRE(allZero(blockSums<BLOCK>(std::vector<T>(BLOCK, T(-0.0))), true));
  for (std::size_t i = 0; i < BLOCK; i += BLOCK / 4 + 1) {
    INFO("block " << BLOCK << ", thread " << i);
    std::vector<T> values = randomVector<T>(BLOCK, BLOCK);
    values[i] = infinity;
    REQUIRE((blockSums<BLOCK>(values) == std::vector<T>(BLOCK + 1, infinity)));
    values[i] = std::numeric_limits<T>::quiet_NaN();
    REQUIRE(allNan(blockSums<BLOCK>(values)));
    if constexpr (BLOCK > 1) {
      values[i] = infinity;
      values[(i + BLOCK / 2) % BLOCK] = -infinity;
      REQUIRE(allNan(blockSums<BLOCK>(values)));
      std::vector<T> zeros(BLOCK, T(-0.0));
      zeros[i] = 0;
      REQUIRE(allZero(blockSums<BLOCK>(zeros), false));
    }
  }
}

TEMPLATE_TEST_CASE("Sums of zeros, infinities and NaN", "[block][sweep]", BLOCK_SIZES) {
  checkSpecialSums<TestType::value, float>();
  checkSpecialSums<TestType::value, double>();
}

TEMPLATE_TEST_CASE("Sums of doubles of every magnitude", "[block]", BLOCK_SIZES) {
  constexpr int BLOCK = TestType::value;
  std::vector<double> values = randomVector<double>(BLOCK, BLOCK + 2);
  for (std::size_t i = 0; i < BLOCK; ++i) values[i] = std::ldexp(values[i], static_cast<int>(i * 37 % 101) - 50);
  const std::vector<double> sums = blockSums<BLOCK>(values);
  const ExactSum exact = sumExactly(values);
  const double bound = 14.01 * 0x1p-53 * static_cast<double>(exact.magnitude);
  for (double sum : sums) REQUIRE(std::fabs(sum - static_cast<double>(exact.sum)) <= bound);
  REQUIRE((std::vector<double>(sums.begin(), sums.end() - 1) == std::vector<double>(BLOCK, sums[0])));
}

// Several blocks, and two reductions of different types in one kernel.
template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) statisticsKernel(const int* in, int* sums, float* largest) {
  const int value = in[blockIdx.x * BLOCK + threadIdx.x];
  const int sum = blockReduce<BLOCK>(value, Plus{});
  const float maximum = blockReduce<BLOCK>(static_cast<float>(value), Maximum{});
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    largest[blockIdx.x] = maximum;
  }
}

TEST_CASE("Different reductions in the blocks of a grid", "[block]") {
  constexpr int BLOCK = 128;
  constexpr unsigned BLOCKS = 9;
  const std::vector<int> values = smallIntegers<int>(BLOCK * BLOCKS, 6);
  const DeviceArray<int> in(values);
  DeviceArray<int> sums(BLOCKS);
  DeviceArray<float> largest(BLOCKS);
  launch(statisticsKernel<BLOCK>, blocksOf(BLOCK, BLOCKS), in.data(), sums.data(), largest.data());
  REQUIRE((sums.toHost() == expectedRounds(values, BLOCK, BLOCK, 1, Plus{})));
  REQUIRE((largest.toHost() == std::vector<float>(BLOCKS, 3.0F)));
}

}  // namespace
}  // namespace gpuopt::test::reduce_test
