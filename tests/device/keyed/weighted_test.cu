/// Sums of weights by the bins of their samples: against serial sums, at every edge, size and alignment; between edges;
/// policies, containers, the same bits as reduceBy; wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "support/random.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_weighted.cuh>

#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::weighted_test {
namespace {

// The edges as documented: bins + 1 numbers of the type.
template <class N>
std::vector<N> edgesOf(std::size_t bins, N lower, N upper) {
  std::vector<N> edges;
  const long double low = lower, range = static_cast<long double>(upper) - low;
  for (std::size_t b = 0; b <= bins; ++b)
    edges.push_back(static_cast<N>(low + static_cast<long double>(b) * range / static_cast<long double>(bins)));
  return edges;
}

// The slot of x: the bin; bins below the first one, bins + 1 from the last edge on and for NaN. A linear search.
template <class N, class T>
std::size_t slotIn(const std::vector<N>& edges, T x) {
  const std::size_t bins = edges.size() - 1;
  if (x < edges[0]) return bins;
  if (!(x < edges[bins])) return bins + 1;
  std::size_t bin = bins - 1;
  while (x < edges[bin]) --bin;
  return bin;
}

// Sums with two further ones for what is outside.
template <class A, class N, class T, class W>
std::vector<A> sumsOf(const std::vector<N>& edges, const std::vector<T>& samples, const std::vector<W>& weights) {
  std::vector<A> sums(edges.size() + 1, A(0));
  for (std::size_t i = 0; i < samples.size(); ++i) sums[slotIn(edges, samples[i])] += static_cast<A>(weights[i]);
  return sums;
}

// Whole numbers, so that sums of floating-point numbers are exact.
template <class W>
std::vector<W> weightsFor(std::size_t n) {
  std::vector<W> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = static_cast<W>((i * 2654435761u >> 9) % 251 + 1);
  return weights;
}

// Each edge, the numbers beside it, and others between and outside.
template <class N>
std::vector<N> samplesFor(std::size_t n, const std::vector<N>& edges) {
  const N lower = edges.front(), upper = edges.back(), most = (std::numeric_limits<N>::max)();
  std::vector<N> samples{std::numeric_limits<N>::quiet_NaN(), most, -most};
  for (const N edge : edges)
    for (const N x : {edge, std::nextafter(edge, -most), std::nextafter(edge, most)}) samples.push_back(x);
  const std::size_t special = samples.size();
  for (std::size_t i = 0; samples.size() < n; ++i)
    samples.push_back(lower + (upper - lower) * static_cast<N>(i * 7919 % 1103) / N(1000) - (upper - lower) / 20);
  for (std::size_t i = 0; i < special && special < n; ++i) std::swap(samples[i], samples[i * (n / special)]);
  samples.resize(n);
  return samples;
}

struct Outside : CountOutside, FastSums {};

// One call of each kind against the serial sums.
template <class A, class N, class W>
void checkFloats(std::size_t n, std::size_t bins, N lower, N upper, std::size_t offset) {
  CAPTURE(sizeof(N), sizeof(A), n, bins, lower, upper, offset);
  if (!runsNextCase()) return;
  const std::vector<N> edges = edgesOf(bins, lower, upper), samples = samplesFor(n, edges);
  const std::vector<W> weights = weightsFor<W>(n);
  const std::vector<A> all = sumsOf<A>(edges, samples, weights), inside(all.begin(), all.end() - 2);
  const DeviceArray<N> in(samples, offset), limits(edges);
  const DeviceArray<W> by(weights, offset / 2);
  DeviceArray<A> sums(bins), outside(bins + 2);
  histogramWeighted(in.data(), n, by.data(), sums.data(), bins, lower, upper);
  CHECK(sums.toHost() == inside);
  if constexpr (std::is_same_v<N, float>) {
    histogramWeighted<Outside>(in.data(), n, by.data(), outside.data(), bins, lower, upper);
    CHECK(outside.toHost() == all);
  }
  DeviceArray<A> between(bins), byHost(bins + 2);
  histogramWeightedEdges(in.data(), n, by.data(), limits.data(), bins, between.data());
  CHECK(between.toHost() == inside);
  histogramWeightedEdges<CountOutside>(in.data(), n, by.data(), edges, byHost.data());
  CHECK(byHost.toHost() == all);
}

template <class T, class A>
void checkIntegers(std::size_t n, std::size_t bins, std::int64_t lower, std::int64_t upper, std::size_t offset) {
  CAPTURE(sizeof(T), sizeof(A), n, bins, offset);
  if (!runsNextCase()) return;
  std::vector<T> samples(n);
  for (std::size_t i = 0; i < n; ++i) samples[i] = static_cast<T>(i * 7919 % 211);
  const std::vector<A> weights = weightsFor<A>(n);
  std::vector<A> expected(bins, A(0));
  for (std::size_t i = 0; i < n; ++i)
    if (samples[i] >= lower && samples[i] < upper)
      expected[static_cast<std::size_t>((samples[i] - lower) * static_cast<std::int64_t>(bins) / (upper - lower))] +=
          weights[i];
  DeviceArray<A> sums(bins);
  histogramWeighted(DeviceArray<T>(samples, offset).data(), n, DeviceArray<A>(weights, 1).data(), sums.data(), bins,
                    lower, upper);
  CHECK(sums.toHost() == expected);
}

}  // namespace
}  // namespace gpuopt::test::weighted_test

using namespace gpuopt;
using namespace gpuopt::test;
using namespace gpuopt::test::weighted_test;

TEST_CASE("Weights of floating-point samples in even bins and between edges", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 31, 257, 20001})
    for (const std::size_t bins : std::vector<std::size_t>{1, 10, 333}) {
      checkFloats<float, float, float>(n, bins, 0, 1, n % 3);
      checkFloats<double, double, float>(n, bins, 0.3, 1.4, n % 2);
    }
}

TEST_CASE("Weights in more bins than shared memory has room for", "[device]") {
  checkFloats<float, float, float>(3000, 60000, -2, 5, 1);
}

TEST_CASE("Weights in bins of a part of the blocks each", "[device][sweep]") {
  checkFloats<float, float, float>(70001, 60000, -2, 5, 1);
  checkIntegers<unsigned char, std::int32_t>(70001, 60000, 0, 240, 2);
}

TEST_CASE("Weights of integers", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 100, 9001}) {
    checkIntegers<unsigned char, std::int32_t>(n, 256, 0, 256, 3);
    checkIntegers<unsigned char, std::int32_t>(n, 7, 10, 200, 1);
    checkIntegers<std::int32_t, std::uint64_t>(n, 33, -5, 150, 1);
    checkIntegers<std::int64_t, double>(n, 500, 3, 180, 0);
    checkIntegers<std::int32_t, std::uint64_t>(n, 3, 0, 200, 5);
  }
}

TEST_CASE("Samples and weights of half precision", "[device]") {
  const std::size_t n = 1001;
  std::vector<__half> samples, weights;
  std::vector<float> expected(8, 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    samples.push_back(__float2half(static_cast<float>(i % 90) / 10));
    weights.push_back(__float2half(static_cast<float>(i % 5)));
    const float x = __half2float(samples.back());
    if (x < 8) expected[static_cast<std::size_t>(x)] += static_cast<float>(i % 5);
  }
  DeviceArray<float> sums(8);
  histogramWeighted(DeviceArray<__half>(samples, 1).data(), n, DeviceArray<__half>(weights).data(), sums.data(), 8,
                    0.0f, 8.0f);
  CHECK(sums.toHost() == expected);
}

TEST_CASE("Sums of weights have the bits of reduceBy with the bins as keys", "[device]") {
  const std::size_t n = 20001, bins = 50;
  const std::vector<float> samples = randomVector<float>(n, 5), weights = randomVector<float>(n, 6);
  const std::vector<float> edges = edgesOf(bins, -0.5f, 0.5f);
  std::vector<int> keys;
  for (const float x : samples) keys.push_back(static_cast<int>(slotIn(edges, x)));
  DeviceVector<float> expected(bins), sums(bins), shifted(bins);
  reduceBy(DeviceVector<float>(weights), DeviceVector<int>(keys), expected);
  histogramWeighted(DeviceVector<float>(samples), DeviceVector<float>(weights), sums, -0.5f, 0.5f);
  CHECK(sums.toHost() == expected.toHost());
  histogramWeighted(DeviceArray<float>(samples, 1).data(), n, DeviceArray<float>(weights, 2).data(), shifted.data(),
                    bins, -0.5f, 0.5f);
  CHECK(shifted.toHost() == expected.toHost());
}

TEST_CASE("Sums of weights: policies of histograms and of reduceBy", "[device]") {
  const DeviceVector<float> samples{0, 0.5f, 1, 2, 2, 2.1f, -0.1f}, weights{1, 2, 4, 8, 16, 32, 64};
  DeviceVector<float> sums(4), more(6);
  histogramWeighted<CloseLastBin>(samples, weights, sums, 0, 2);
  CHECK(sums.toHost() == std::vector<float>{1, 2, 4, 24});
  histogramWeighted<AddCounts>(samples, weights, sums, 0, 2);
  CHECK(sums.toHost() == std::vector<float>{2, 4, 8, 24});
  histogramWeighted<CombineWithOut>(samples, weights, sums, 0, 2);
  CHECK(sums.toHost() == std::vector<float>{3, 6, 12, 24});
  histogramWeighted<Outside>(samples, weights, more, 0, 2);
  CHECK(more.toHost() == std::vector<float>{1, 2, 4, 0, 64, 56});
  DeviceVector<long long> whole(2);
  histogramWeighted(samples, DeviceVector<int>{1, 2, 4, 8, 16, 32, -64}, whole, 0, 2);
  CHECK(whole.toHost() == std::vector<long long>{3, 4});
}

TEST_CASE("Sums of weights between edges of containers", "[device]") {
  const DeviceVector<float> samples{0.5f, 1.5f, 1.6f, 2.5f, 3.5f, 9}, weights{1, 2, 4, 8, 16, 32};
  DeviceVector<float> sums(3);
  histogramWeightedEdges(samples, weights, std::vector<float>{0, 1, 2, 4}, sums);
  CHECK(sums.toHost() == std::vector<float>{1, 6, 24});
  histogramWeightedEdges(samples, weights, DeviceVector<float>{1, 2, 3, 10}, sums);
  CHECK(sums.toHost() == std::vector<float>{6, 8, 48});
  histogramWeightedEdges<AddCounts>(samples, weights, std::array<float, 4>{0, 1, 1, 2}, sums);
  CHECK(sums.toHost() == std::vector<float>{7, 8, 54});
}

TEST_CASE("Sums of weights: a stream, and a graph", "[device]") {
  const DeviceVector<float> samples{0.5f, 1.5f, 1.6f}, weights{1, 2, 4};
  DeviceVector<float> sums(2);
  const Stream stream;
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  histogramWeighted(samples, weights, sums, 0, 2, stream);
  stream.wait();
  CHECK(sums.toHost() == std::vector<float>{1, 6});
}

TEST_CASE("Sums of weights: wrong arguments", "[device]") {
  const DeviceVector<float> samples{0, 1, 2}, weights{1, 2, 4};
  DeviceVector<float> sums(4);
  const auto said = [&](const float* in, const float* by, float* out, std::size_t bins, float lower, float upper) {
    return messageOf<std::invalid_argument>([&] { histogramWeighted(in, 3, by, out, bins, lower, upper); });
  };
  CHECK(said(samples.data(), weights.data(), nullptr, 4, 0, 1) ==
        "gpuopt::histogramWeighted: sums is null, but there are 4 sums");
  CHECK(said(nullptr, weights.data(), sums.data(), 4, 0, 1) == "gpuopt::histogramWeighted: in is null, but n is 3");
  CHECK(said(samples.data(), nullptr, sums.data(), 4, 0, 1) ==
        "gpuopt::histogramWeighted: weights is null, but n is 3");
  CHECK(said(samples.data(), weights.data(), sums.data(), 0, 0, 1) ==
        "gpuopt::histogramWeighted: bins is 0; it comes before lower and upper");
  CHECK(said(samples.data(), weights.data(), sums.data(), 4, 1, 1) ==
        "gpuopt::histogramWeighted: lower (1) is not less than upper (1)");
  CHECK(said(samples.data(), sums.data(), sums.data() + 2, 2, 0, 1) ==
        "gpuopt::histogramWeighted: weights and sums overlap: sums begins at byte 8 of the 12 of weights");
  CHECK(messageOf<std::invalid_argument>([&] {
          auto* const odd = reinterpret_cast<float*>(reinterpret_cast<unsigned char*>(sums.data()) + 2);
          histogramWeighted(samples.data(), 3, weights.data(), odd, 1, 0, 1);
        }) == "gpuopt::histogramWeighted: sums is misaligned: its address modulo 4 is 2");
  // WRITTEN histogram: histogramWeighted(samples, weights, sums, lower, upper), where weights are fewer than samples
  CHECK(messageOf<std::invalid_argument>([&] { histogramWeighted(samples, DeviceVector<float>(2), sums, 0, 1); }) ==
        "gpuopt::histogramWeighted: weights has 2 elements, but 3 are needed");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramWeighted<CountOutside>(samples, weights, DeviceVector<float>(2), 0, 1);
        }) == "gpuopt::histogramWeighted: sums has 2 elements, so bins is 0");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramWeightedEdges(samples, weights, std::vector<float>{0, 2, 1}, sums);
        }) ==
        "gpuopt::histogramWeightedEdges: edges are not sorted: edges[2] (1) is less than the one before it, or NaN");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramWeightedEdges(samples, weights, std::vector<float>{0, 1, 2, 3, 4, 5}, sums);
        }) == "gpuopt::histogramWeightedEdges: sums has 4 elements, but 5 are needed");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramWeightedEdges(samples.data(), 3, weights.data(), sums.data(), 2, sums.data() + 2);
        }) == "gpuopt::histogramWeightedEdges: edges and sums overlap: sums begins at byte 8 of the 12 of edges");
  CHECK(messageOf<std::invalid_argument>([&] {
          histogramWeightedEdges(samples.data(), 3, weights.data(), static_cast<float*>(nullptr), 2, sums.data());
        }) == "gpuopt::histogramWeightedEdges: edges is null, but bins is 2");
}
