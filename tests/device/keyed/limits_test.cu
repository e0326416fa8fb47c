/// Histograms and reduceBy at their limits: elements beyond 2^32, counters beyond 2^32 and those that wrap around, keys
/// at the edges of every group of blocks.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace gpuopt::test::histogram_limits_test {
namespace {

// The number of an element.
struct Numbers {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = unsigned long long;
  using difference_type = std::ptrdiff_t;
  using pointer = const unsigned long long*;
  using reference = unsigned long long;
  __host__ __device__ unsigned long long operator[](std::ptrdiff_t i) const { return static_cast<value_type>(i); }
};

constexpr std::size_t FIRST = (std::size_t{1} << 33) + 5, COUNT = 5000, EDGES = 7, BINS = 50;

// Elements are numbered from FIRST on.
struct BinOfNumber {
  __host__ __device__ unsigned operator()(unsigned long long number) const {
    return static_cast<unsigned>((number - FIRST) % (BINS + 3));
  }
};

// What is counted of elements FIRST to FIRST + COUNT + EDGES.
std::vector<unsigned long long> countsFromFirst() {
  std::vector<unsigned long long> counts(BINS, 0);
  for (std::size_t i = FIRST; i < FIRST + COUNT + EDGES; ++i) {
    const unsigned bin = BinOfNumber{}(i);
    if (bin < BINS) ++counts[bin];
  }
  return counts;
}

LaunchConfig twoBlocks(std::size_t sharedBytes) {
  LaunchConfig config;
  config.grid = dim3(2);
  config.block = dim3(detail::keyedThreads);
  config.sharedBytes = sharedBytes;
  return config;
}

using Slots = detail::NumberedBins<BinOfNumber, false>;
using Source = detail::IteratorSource<Numbers, Slots>;
using Count = unsigned long long;

// Counts by adding to counters that have `before` each, of the type Counter, and compares.
template <class Counter>
void checkAdding(std::size_t n, std::size_t bins, Counter before, Distribution distribution) {
  INFO("n = " << n << ", " << bins << " bins, " << sizeof(Counter) << " bytes");
  const std::vector<unsigned> values = numbersBelow(n, static_cast<unsigned>(bins), distribution, 7);
  const std::vector<unsigned char> bytes(values.begin(), values.end());
  const DeviceArray<unsigned> in(values, 1);
  const DeviceArray<unsigned char> bytesIn(bytes, 1);
  DeviceArray<Counter> counts(std::vector<Counter>(bins, before));
  bincount<AddCounts>(in.data(), n, counts.data(), bins);
  std::vector<Counter> expected = insideOf(countsOf<Counter>(values, bins, [](unsigned value) { return value; }));
  for (Counter& count : expected) count = static_cast<Counter>(count + before);
  CHECK(counts.toHost() == expected);
  if (bins > 256) return;
  bincount<AddCounts>(bytesIn.data(), n, counts.data(), bins);
  for (const unsigned char byte : bytes) ++expected[byte];
  CHECK(counts.toHost() == expected);
}

// Bins that `groups` groups of blocks combine, with `bytes` bytes of a bin, if they are as many as possible.
std::size_t maxBinsOf(std::size_t groups, std::size_t bytes) {
  return groups * detail::cellMemory(detail::keyedRequest<Source>(1, 1, detail::countCell<Count>())) / bytes;
}

// Keys at both ends of every group's range, outside, and in between.
std::vector<int> keysAtEdges(std::size_t n, std::size_t bins) {
  std::vector<int> keys;
  std::mt19937 generator(3);
  const int end = static_cast<int>(bins);
  for (std::size_t i = 0; i < n; ++i) {
    const auto random = static_cast<unsigned>(generator());
    const std::size_t groups = 1 + random % 5, group = random / 5 % groups;
    const auto first = static_cast<int>((bins + groups - 1) / groups * group);
    const int choices[] = {first,
                           first - 1,
                           first + 1,
                           end - 1,
                           end,
                           -1,
                           (std::numeric_limits<int>::min)(),
                           (std::numeric_limits<int>::max)(),
                           static_cast<int>(random % bins)};
    keys.push_back(choices[random / 32 % 9]);
  }
  return keys;
}

template <class Policy, class T, class A, class Op>
void checkReduceBy(std::size_t bins, Op op) {
  const std::size_t n = 66003;
  INFO(sizeof(T) << " to " << sizeof(A) << " bytes, " << bins << " bins");
  if (!runsNextCase()) return;
  const std::vector<int> keys = keysAtEdges(n, bins);
  std::vector<T> values;
  std::vector<A> expected(bins, NeutralElement<Op, A>::value());
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(static_cast<T>(i * 7919 % 101));
    if (keys[i] < 0 || keys[i] >= static_cast<int>(bins)) continue;
    A& result = expected[static_cast<std::size_t>(keys[i])];
    result = op(result, static_cast<A>(values[i]));
  }
  const DeviceArray<T> in(values, 1);
  const DeviceArray<int> by(keys, 2);
  DeviceArray<A> out(bins);
  reduceBy<Policy>(in.data(), n, by.data(), bins, out.data(), op);
  CHECK(out.toHost() == expected);
}

}  // namespace

TEST_CASE("histograms: elements beyond 2^32", "[device]") {
  const Source source{Numbers{}, {BinOfNumber{}, BINS}};
  const detail::StepArgs shape{FIRST, FIRST + COUNT, EDGES};
  DeviceArray<Count> shared(std::vector<Count>(BINS, 0)), packed(shared.toHost()), global(shared.toHost());
  const auto argsOf = [](DeviceArray<Count>& counts) { return detail::SlotsArgs<Count>{BINS, counts.data()}; };
  launch(detail::histogramKernel<detail::SharedCounters<false, Count>, Source>, twoBlocks(4 * BINS + 16), source, shape,
         argsOf(shared), false);
  launch(detail::histogramKernel<detail::PackedCounters<1, Count>, Source>, twoBlocks(4 * BINS + 512), source, shape,
         detail::PackedArgs<Count>{BINS, packed.data(), 1, BINS, false}, false);
  launch(detail::histogramKernel<detail::GlobalCounters<Count>, Source>, twoBlocks(0), source, shape, argsOf(global),
         false);
  CHECK(shared.toHost() == countsFromFirst());
  CHECK(packed.toHost() == countsFromFirst());
  CHECK(global.toHost() == countsFromFirst());
}

TEST_CASE("reduceBy: elements beyond 2^32", "[device]") {
  using Update = detail::DirectSum<Count>;
  using Keyed = detail::IteratorSource<Numbers, detail::KeyedByFunction<Count, BinOfNumber>>;
  const Keyed source{Numbers{}, {BinOfNumber{}, BINS}};
  DeviceArray<Count> sums(std::vector<Count>(BINS, 0));
  launch(detail::sharedReduceByKernel<detail::SharedWords<Update>, Keyed, Update>,
         twoBlocks(8 * detail::reduceByWords(BINS)), source, detail::StepArgs{FIRST, FIRST + COUNT, EDGES}, COUNT,
         Update{}, detail::WordTable<Count>{sums.data(), BINS}, detail::ReduceByArgs{1, BINS, 1, false});
  std::vector<Count> expected(BINS, 0);
  for (std::size_t i = FIRST; i < FIRST + COUNT + EDGES; ++i)
    if (BinOfNumber{}(i) < BINS) expected[BinOfNumber{}(i)] += i;
  CHECK(sums.toHost() == expected);
}

TEST_CASE("histograms: counters of 8 bytes go beyond 2^32, those of 4 wrap around", "[device]") {
  constexpr std::uint64_t LONG = 0xfffffff0u;
  constexpr std::uint32_t SHORT = 0xfffffff0u;
  for (const std::size_t n : std::vector<std::size_t>{3000, 70000}) {
    checkAdding<std::uint64_t>(n, 100, LONG, Distribution::fewOften);
    checkAdding<std::uint32_t>(n, 100, SHORT, Distribution::fewOften);
    checkAdding<std::uint64_t>(n, 70000, LONG, Distribution::equal);
    checkAdding<std::uint32_t>(n, 70000, SHORT, Distribution::runs);
  }
  checkAdding<std::uint64_t>(8 * 11 * 512 + 30000, 360000, LONG, Distribution::equal);
  checkAdding<std::int64_t>(70000, 70000, -1, Distribution::uniform);
}

TEST_CASE("reduceBy: keys at the edges of groups of blocks, in as many bins as they can have", "[device][sweep]") {
  for (const std::size_t more : std::vector<std::size_t>{0, 1}) {
    for (const std::size_t groups : std::vector<std::size_t>{1, 2, 5}) {
      checkReduceBy<ReduceByPolicy, int, int>(maxBinsOf(groups, 4) + more, Plus{});
      checkReduceBy<ReduceByPolicy, float, float>(maxBinsOf(groups, 6) + more, Plus{});
    }
    checkReduceBy<ReduceByPolicy, std::uint8_t, long long>(maxBinsOf(1, 8) + more, Plus{});
    checkReduceBy<ReduceByPolicy, std::uint8_t, long long>(maxBinsOf(3, 6) + more, Plus{});
    checkReduceBy<ReduceByPolicy, float, float>(maxBinsOf(4, 4) + more, Maximum{});
    checkReduceBy<ReduceByPolicy, double, double>(maxBinsOf(3, 8) + more, Minimum{});
    checkReduceBy<FastSums, float, float>(maxBinsOf(1, 4) + more, Plus{});
    checkReduceBy<FastSums, float, float>(maxBinsOf(3, 4) + more, Plus{});
    checkReduceBy<FastSums, double, double>(maxBinsOf(3, 8) + more, Plus{});
  }
}

TEST_CASE("reduceBy: two streams at a time, each with sums of its own", "[device]") {
  const std::size_t n = 70000, bins = 30000;
  const std::vector<unsigned> keys = numbersBelow(n, static_cast<unsigned>(bins), Distribution::fewOften, 3);
  std::vector<float> values, all(bins, 0), few(40, 0);
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(static_cast<float>(i % 50));
    all[keys[i]] += values[i];
    if (keys[i] < 40) few[keys[i]] += values[i];
  }
  const DeviceArray<unsigned> by(keys);
  const DeviceArray<float> in(values);
  DeviceArray<float> first(bins), second(40);
  const Stream one, other;
  reduceBy(in.data(), n, by.data(), bins, first.data(), Plus{}, one);
  reduceBy(in.data(), n, by.data(), 40, second.data(), Plus{}, other);
  one.wait();
  other.wait();
  CHECK((first.toHost() == all));
  CHECK(second.toHost() == few);
}

#ifndef GPUOPT_EMULATION

TEST_CASE("reduceBy: captured into a graph, with scratch memory and a second reading", "[device]") {
  const std::size_t n = 5000000, bins = 300;
  const std::vector<unsigned> keys = numbersBelow(n, static_cast<unsigned>(bins), Distribution::fewOften, 3);
  std::vector<float> values(n, 1);
  std::vector<double> expected(bins, 0);
  values[n / 2 + 1] = 4096;  // not in the sample
  for (std::size_t i = 0; i < n; ++i) expected[keys[i]] += values[i];
  const DeviceArray<unsigned> by(keys);
  const DeviceArray<float> in(values);
  DeviceArray<double> sums(bins);
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  reduceBy(in.data(), n, by.data(), bins, sums.data(), Plus{}, stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int run = 0; run < 3; ++run) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  stream.wait();
  CHECK(sums.toHost() == expected);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

#endif

}  // namespace gpuopt::test::histogram_limits_test
