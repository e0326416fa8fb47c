/// histogram, bincount and histogramBy: every kernel that a plan can choose, counters of 4 and 8 bytes, replaced or
/// added to, elements outside, misaligned arrays, structures, iterators, containers, captures, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/plain_span.hpp"
#include "support/portion.hpp"

#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::count_test {
namespace {

using Algorithm = detail::KeyedAlgorithm;

struct CountOutsideToo : AddCounts {
  static constexpr bool COUNTS_OUTSIDE = true;
};

// What was in the counters before.
template <class Count>
std::vector<Count> before(std::size_t slots) {
  std::vector<Count> counts(slots);
  for (std::size_t i = 0; i < slots; ++i) counts[i] = static_cast<Count>(3 * i + 1);
  return counts;
}

// Counts by a policy, as `call(policy, counts)` does, and compares.
template <class Policy, class Count, class Call>
void checkPolicy(const std::vector<Count>& expected, const Call& call) {
  const std::vector<Count> wanted = Policy::COUNTS_OUTSIDE ? expected : insideOf(expected);
  const std::vector<Count> old = before<Count>(wanted.size());
  DeviceArray<Count> counts(old);
  call(Policy{}, counts);
  std::vector<Count> sums = wanted;
  for (std::size_t i = 0; Policy::ADDS && i < sums.size(); ++i) sums[i] += old[i];
  CHECK(counts.toHost() == sums);
}

// Policies without those outside have kernels of their own: of counters of 4 bytes alone.
template <class Count, class Call>
void checkPolicies(const std::vector<Count>& expected, const Call& call) {
  checkPolicy<CountOutside>(expected, call);
  checkPolicy<CountOutsideToo>(expected, call);
  if constexpr (std::is_same_v<Count, unsigned>) {
    checkPolicy<HistogramPolicy>(expected, call);
    checkPolicy<AddCounts>(expected, call);
  }
}

template <class T, class Count>
void checkBincount(std::size_t n, std::size_t bins, Distribution distribution, std::size_t offset = 0) {
  INFO("n = " << n << ", " << bins << " bins, distribution " << static_cast<int>(distribution) << ", " << sizeof(T)
              << " and " << sizeof(Count) << " bytes, offset " << offset);
  if (!runsNextCase()) return;
  std::vector<T> values;
  for (const unsigned number : numbersBelow(n, static_cast<unsigned>(bins + bins / 4 + 2), distribution, 5))
    values.push_back(static_cast<T>(number - 1));
  const DeviceArray<T> in(values, offset);
  checkPolicies(countsOf<Count>(values, bins, [](T value) { return value; }),
                [&](auto policy, auto& counts) { bincount<decltype(policy)>(in.data(), n, counts.data(), bins); });
}

struct Pixel {
  unsigned char r, g, b;
};

struct Letter {
  unsigned char code;
};

// Below 'a' no bin.
struct LowerCase {
  __host__ __device__ int operator()(const Letter& letter) const { return letter.code - 'a'; }
};

struct Particle {
  double position[3];
  float charge;
  int cell;
};

struct Brightness {
  __host__ __device__ unsigned operator()(const Pixel& p) const { return (unsigned{p.r} + p.g + p.b) / 3; }
};

struct CellOf {
  __host__ __device__ int operator()(const Particle& p) const { return p.cell; }
};

// 5 * i % 23: an iterator that is no pointer.
struct Generated {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;
  __host__ __device__ int operator[](std::ptrdiff_t i) const { return static_cast<int>(5 * i % 23); }
};

// 7, again and again.
struct Equal : Generated {
  __host__ __device__ int operator[](std::ptrdiff_t) const { return 7; }
};

}  // namespace

TEST_CASE("bincount: counts around every boundary of a block, of any alignment", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 31, 33, 127, 129, 1000, 4095, 4097, 16384, 16385, 20000})
    for (const std::size_t offset : std::vector<std::size_t>{0, 1, 7})
      checkBincount<std::int32_t, unsigned>(n, 100, Distribution::uniform, offset);
}

TEST_CASE("bincount: every distribution and width, one block and several", "[device]") {
  for (const Distribution distribution : allDistributions)
    for (const std::size_t n : std::vector<std::size_t>{3000, 70001}) {
      checkBincount<std::uint8_t, unsigned>(n, 200, distribution, 3);
      checkBincount<std::uint16_t, int>(n, 5000, distribution, 1);
      if (n == 3000 && distribution != Distribution::uniform) continue;
      checkBincount<std::int8_t, std::int64_t>(n, 100, distribution);
      checkBincount<std::int32_t, unsigned long long>(n, 1, distribution);
      checkBincount<std::int64_t, unsigned long long>(n, 4096, distribution, 1);
    }
}

TEST_CASE("bincount: bins around the limits of shared memory", "[device]") {
  for (const std::size_t bins : std::vector<std::size_t>{57597, 57598, 57600, 57601, 115198, 115201}) {
    checkBincount<std::int32_t, unsigned>(70000, bins, Distribution::uniform);
    checkBincount<std::int32_t, unsigned long long>(66000, bins, Distribution::runs, 1);
  }
  checkBincount<std::int32_t, unsigned>(5000, 60000, Distribution::uniform);  // few: in global memory
}

TEST_CASE("bincount: packed counters are emptied before they overflow", "[device]") {
  for (const Distribution distribution : {Distribution::equal, Distribution::fewOften, Distribution::runs})
    checkBincount<std::int32_t, unsigned>(600000, 60000, distribution);
  checkBincount<std::int32_t, unsigned long long>(700000, 60000, Distribution::equal);
}

TEST_CASE("bincount: packed counters of two and three groups of blocks", "[device]") {
  checkBincount<std::int32_t, unsigned>(100000, 131072, Distribution::uniform);
  checkBincount<std::uint16_t, int>(600000, 131072, Distribution::equal);
  checkBincount<std::int32_t, unsigned>(100000, 300000, Distribution::runs, 1);
}

TEST_CASE("histogram: bytes are counted by their values, which then go to their bins", "[device]") {
  const std::size_t n = 70001;
  for (const std::size_t bins : std::vector<std::size_t>{1, 255, 256, 257, 131072})
    checkBincount<std::uint8_t, unsigned>(n, bins, Distribution::uniform, bins % 16);
  std::vector<Letter> letters;
  std::vector<std::int8_t> numbers;
  for (const unsigned value : numbersBelow(n, 256, Distribution::fewOften, 9)) {
    letters.push_back({static_cast<unsigned char>(value)});
    numbers.push_back(static_cast<std::int8_t>(value));
  }
  const DeviceArray<Letter> in(letters, 5);
  checkPolicy<CountOutsideToo>(countsOf<unsigned>(letters, 20, LowerCase{}), [&](auto policy, auto& counts) {
    histogramBy<decltype(policy)>(in.data(), n, counts.data(), 20, LowerCase{});
  });
  const DeviceArray<std::int8_t> signedIn(numbers, 11);
  const auto binOf = [](std::int8_t x) { return x < -20 ? -1 : (x + 20) * 7 / 120; };
  checkPolicy<HistogramPolicy>(countsOf<unsigned>(numbers, 7, binOf), [&](auto policy, auto& counts) {
    histogram<decltype(policy)>(signedIn.data(), n, counts.data(), 7, -20, 100);
  });
}

TEST_CASE("bincount: a partition by ranges of bins, and its alternative in global memory", "[device]") {
  const std::size_t bins = 360000, enough = 8 * 11 * 512;
  for (const Distribution distribution : allDistributions)
    checkBincount<std::int32_t, unsigned>(enough + 40001, bins, distribution, 1);
  checkBincount<std::uint16_t, int>(enough + 40001, bins, Distribution::fewOften);
  checkBincount<std::int64_t, unsigned long long>(enough + 40001, bins, Distribution::uniform);
  checkBincount<std::int32_t, unsigned>(70000, std::size_t{1} << 20, Distribution::uniform);
}

TEST_CASE("bincount: a partition in several rounds", "[device]") {
  const std::size_t n = 70003, bins = 360000;
  const std::vector<unsigned> numbers = numbersBelow(n, static_cast<unsigned>(bins), Distribution::uniform, 3);
  const std::vector<int> values(numbers.begin(), numbers.end());
  const DeviceArray<int> in(values, 1);
  DeviceArray<unsigned> counts(std::vector<unsigned>(bins, 0));
  const detail::NumberedBins<Identity, false> slotOf{{}, static_cast<unsigned>(bins)};
  const auto source = detail::sourceOf<false>("test", n, slotOf, in.data());
  detail::KeyedRequest request = detail::histogramRequest<unsigned>(source, n, bins);
  request.multiprocessors = 1;
  const detail::KeyedPlan plan = detail::planKeyed(request, {1, 20000, 0});
  REQUIRE(plan.algorithm == Algorithm::partition);
  const detail::HistogramCall<unsigned> call{"test", nullptr, counts.data(), bins, true};
  detail::launchPartition(call, plan, source, detail::stepArgs(source, n));
  CHECK(counts.toHost() == insideOf(countsOf<unsigned>(values, bins, [](int value) { return value; })));
}

TEST_CASE("histogram: floating point with NaN and numbers outside", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{1000, 40000}) {
    std::vector<float> values = randomVector<float>(n, 3);
    values[17] = std::numeric_limits<float>::quiet_NaN();
    values[18] = std::numeric_limits<float>::infinity();
    const DeviceArray<float> in(values, 3);
    const auto expected = countsOf<unsigned>(values, 10, [](float x) {
      return x < -0.5F ? -1 : !(x < 0.75F) ? 10 : static_cast<int>((x + 0.5F) * 8);
    });
    checkPolicies(expected, [&](auto policy, auto& counts) {
      histogram<decltype(policy)>(in.data(), n, counts.data(), 10, -0.5F, 0.75F);
    });
  }
}

TEST_CASE("histogramBy: structures of any size, and a function of them", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 1000, 30000}) {
    const std::vector<unsigned> numbers = numbersBelow(n, 1u << 24, Distribution::uniform, 9);
    std::vector<Pixel> pixels;
    std::vector<Particle> particles;
    for (const unsigned x : numbers) {
      pixels.push_back(
          {static_cast<unsigned char>(x), static_cast<unsigned char>(x >> 8), static_cast<unsigned char>(x >> 16)});
      particles.push_back({{1.0 * x, 2, 3}, 4, static_cast<int>(x % 70) - 5});
    }
    const DeviceArray<Pixel> somePixels(pixels, 5);
    const DeviceArray<Particle> someParticles(particles, 1);
    checkPolicy<AddCounts>(countsOf<unsigned>(pixels, 200, Brightness{}), [&](auto policy, auto& counts) {
      histogramBy<decltype(policy)>(somePixels.data(), n, counts.data(), 200, Brightness{});
    });
    checkPolicy<CountOutsideToo>(countsOf<unsigned>(particles, 60, CellOf{}), [&](auto policy, auto& counts) {
      histogramBy<decltype(policy)>(someParticles.data(), n, counts.data(), 60, CellOf{});
    });
  }
}

TEST_CASE("bincount: iterators, containers and spans", "[device]") {
  const std::size_t n = 20000;
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = Generated{}[static_cast<std::ptrdiff_t>(i)];
  const std::vector<unsigned> expected = insideOf(countsOf<unsigned>(values, 20, [](int x) { return x; }));
  DeviceArray<unsigned> counts(20);
  bincount(Generated{}, n, counts.data(), 20);
  CHECK(counts.toHost() == expected);
  const DeviceArray<int> in(values);
  DeviceArray<unsigned> others(20);
  const PlainSpan<const int> span{in.data(), n};
  bincount(span, PlainSpan<unsigned>{others.data(), 20});
  CHECK(others.toHost() == expected);
  histogramBy<AddCounts>(span, PlainSpan<unsigned>{others.data(), 20}, Identity{});
  histogram<AddCounts>(span, PlainSpan<unsigned>{others.data(), 20}, 0, 20);
  std::vector<unsigned> thrice = expected;
  for (unsigned& count : thrice) count *= 3;
  CHECK(others.toHost() == thrice);
}

TEST_CASE("bincount: two streams at a time, each counted apart", "[device]") {
  const std::size_t n = 70000, bins = 360000;
  const std::vector<unsigned> numbers = numbersBelow(n, static_cast<unsigned>(bins), Distribution::fewOften, 3);
  const std::vector<int> values(numbers.begin(), numbers.end());
  const DeviceArray<int> in(values);
  DeviceArray<unsigned> first(bins), second(50);
  const Stream one, other;
  bincount(in.data(), n, first.data(), bins, one);
  bincount(in.data(), n, second.data(), 50, other);
  one.wait();
  other.wait();
  const auto expected = [&](std::size_t count) {
    return insideOf(countsOf<unsigned>(values, count, [](int value) { return value; }));
  };
  CHECK(first.toHost() == expected(bins));
  CHECK(second.toHost() == expected(50));
}

TEST_CASE("bincount: no elements leave zeros, or what is there", "[device]") {
  DeviceArray<unsigned> counts(before<unsigned>(10));
  const int* none = nullptr;
  bincount<AddCounts>(none, 0, counts.data(), 10);
  CHECK(counts.toHost() == before<unsigned>(10));
  bincount(none, 0, counts.data(), 10);
  CHECK(counts.toHost() == std::vector<unsigned>(10, 0));
}

#ifndef GPUOPT_EMULATION

TEST_CASE("histogram: captured into a graph, with host edges that are gone, zeroed counters, scratch memory",
          "[device]") {
  const std::size_t n = 3000000, bins = 400000;
  const std::vector<unsigned> numbers = numbersBelow(n, static_cast<unsigned>(bins), Distribution::fewOften, 3);
  const std::vector<int> values(numbers.begin(), numbers.end());
  const DeviceArray<int> in(values);
  DeviceArray<unsigned> few(100), many(bins), between(2);
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  bincount(in.data(), n, few.data(), 100, stream);
  bincount(in.data(), n, many.data(), bins, stream);
  histogramEdges(in.data(), n, std::vector<int>{0, 1, 400000}, between.data(), stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int run = 0; run < 3; ++run) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  stream.wait();
  const std::vector<unsigned> all = countsOf<unsigned>(values, bins, [](int value) { return value; });
  CHECK(many.toHost() == insideOf(all));
  CHECK(few.toHost() == std::vector<unsigned>(all.begin(), all.begin() + 100));
  CHECK(between.toHost() == std::vector<unsigned>{all[0], static_cast<unsigned>(n) - all[0]});
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_CASE("bincount: more than 2^32 equal elements, in every kernel", "[device][sweep]") {
  const std::size_t n = (std::size_t{1} << 32) + 12345;
  for (const std::size_t bins : std::vector<std::size_t>{100, 100000, 300000}) {
    DeviceArray<unsigned long long> counts(bins);
    bincount(Equal{}, n, counts.data(), bins);
    std::vector<unsigned long long> expected(bins, 0);
    expected[7] = n;
    CHECK(counts.toHost() == expected);
  }
}

#endif

TEST_CASE("histogram: wrong arguments throw before anything is written", "[device]") {
  DeviceArray<unsigned> counts(before<unsigned>(10));
  const DeviceArray<int> in(std::vector<int>(20, 3));
  const int* const null = nullptr;
  unsigned* const nowhere = nullptr;
  const auto message = [](auto call) { return messageOf<std::invalid_argument>(call); };
  // WRITTEN histogram: `histogram(in, n, nullptr, bins, lower, upper)`
  CHECK(message([&] { histogram(in.data(), 20, nowhere, 10, 0, 10); }) ==
        "gpuopt::histogram: counts is null, but there are 10 counters");
  CHECK(message([&] { bincount(null, 20, counts.data(), 10); }) == "gpuopt::bincount: in is null, but n is 20");
  CHECK(message([&] { bincount(in.data(), 20, counts.data(), 0); }) == "gpuopt::bincount: bins is 0");
  CHECK(message([&] { histogramBy(in.data(), 20, counts.data(), 0, Identity{}); }) == "gpuopt::histogramBy: bins is 0");
  CHECK(message([&] { histogram(in.data(), 20, counts.data(), 10, 3, 3); }) ==
        "gpuopt::histogram: lower (3) is not less than upper (3)");
  CHECK(message([&] { bincount(in.data(), static_cast<std::size_t>(-1), counts.data(), 10); }) ==
        "gpuopt::bincount: n (-1) is negative");
  // WRITTEN histogram: `bincount(in, n, counts, bins)`, where the counters are part of `in`
  const auto* const counted = reinterpret_cast<const int*>(counts.data());
  CHECK(message([&] { bincount(counted, 10, counts.data() + 5, 5); }) ==
        "gpuopt::bincount: in and counts overlap: counts begins at byte 20 of the 40 of in");
  CHECK(message([&] {
          bincount<CountOutside>(PlainSpan<const int>{in.data(), 20}, PlainSpan<unsigned>{counts.data(), 2});
        }) == "gpuopt::bincount: counts has 2 elements, so bins is 0");
  CHECK(message([] { static_cast<void>(explainHistogram<int>(10, 0)); }) == "gpuopt::explainHistogram: bins is 0");
  CHECK(counts.toHost() == before<unsigned>(10));
}

}  // namespace gpuopt::test::count_test
