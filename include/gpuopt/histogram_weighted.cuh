/// \file
/// Histograms of weighted samples: a bin is the sum of the weights of its samples, as with NumPy's `weights=`.
///
///     gpuopt::histogramWeighted(samples, n, weights, sums, 256, 0.0f, 1.0f, stream);    // even bins over [0, 1)
///     gpuopt::histogramWeighted(samples, weights, sums, 0.0f, 1.0f);                    // containers or spans
///     gpuopt::histogramWeightedEdges(samples, n, weights, edges, bins, sums, stream);   // bins of any width
///
/// **Common to all functions.** They are reduceBy() with the bin of a sample as the key of its weight. Bins are exactly
/// those of histogram() and histogramEdges(), whose requirements for samples, limits and edges hold. Sums are those of
/// reduceBy(): of integers exact, of floating-point numbers the same bits on every run and every device, each weight
/// off by at most n * 2^-61 of the largest magnitude in any of the bins. A bin without samples is 0. Asynchronous on
/// `stream`, without synchronisation; can be captured into a graph.
///
/// **Cost.** That of reduceBy(): samples and weights are read once, unless a sample of the weights missed the order of
/// magnitude of the largest one. Sums of floating-point numbers take scratch memory of 20 bytes a bin in the order of
/// the stream.
///
/// **Policies.** Those of histograms, AddCounts to add to what is in `sums`, CountOutside for two further sums after
/// the bins, CloseLastBin; those of reduceBy, FastSums for sums whose bits may differ between runs; or a type derived
/// from one of each.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written, as histogram() does; null or
/// misaligned weights and sums, and sums that overlap an input, too. Errors of the runtime throw CudaError.
///
/// More: docs/histogram.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/weighted.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Adds up the weights of the samples in each of `bins` bins of equal width over [lower, upper).
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, CloseLastBin, FastSums, or a type derived from them
/// \param in n integers or floating-point numbers, the samples
/// \param n the number of samples
/// \param weights n numbers, each converted to the type of `sums`
/// \param sums `bins` numbers of 4 or 8 bytes in device memory; bins + 2 with CountOutside
/// \param bins 1 to 2^31 - 3
/// \param lower,upper the limits, as for histogram()
template <class Policy = HistogramPolicy, class It, class WeightIt, class SumIt>
void histogramWeighted(It in, std::size_t n, WeightIt weights, SumIt sums, std::size_t bins, detail::LimitOf<It> lower,
                       detail::LimitOf<It> upper, StreamRef stream = {}) {
  using T = detail::HistogramElement<It>;
  constexpr bool HAS_BINS = detail::requireNumbers<T>(), ADDS = detail::requireSums<WeightIt, SumIt>();
  if constexpr (HAS_BINS && ADDS) {
    constexpr const char* function = "gpuopt::histogramWeighted";
    const auto slotOf = detail::binsBetween<detail::WeightedPolicy<Policy>, T>(bins, lower, upper, function);
    detail::sumWeights<Policy>(
        detail::weightedCall<Policy>(function, stream, n, detail::Unwrap<SumIt>::pointer(sums), bins), in, weights,
        slotOf);
  }
}

/// The same for containers or spans: as many bins as `sums` has elements, two fewer with CountOutside. `weights` has as
/// many elements as `in`, or more.
template <class Policy = HistogramPolicy, class In, class Weights, class Sums, class = detail::EnableRange<In>,
          class = detail::EnableRange<Weights>, class = detail::EnableRange<Sums>>
void histogramWeighted(In&& in, Weights&& weights, Sums&& sums, detail::LimitOfRange<In> lower,
                       detail::LimitOfRange<In> upper, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogramWeighted";
  detail::requireSize(weights, detail::sizeOf(in), "weights", function);
  gpuopt::histogramWeighted<Policy>(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(weights),
                                    detail::dataOf(sums), detail::binsOfSums<Policy>(sums, function), lower, upper,
                                    stream);
}

/// Adds up the weights of the samples between sorted edges: of bin b those of the samples x with edges[b] <= x <
/// edges[b + 1].
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, FastSums, or a type derived from them
/// \param in n integers or floating-point numbers, the samples
/// \param n the number of samples
/// \param weights n numbers, each converted to the type of `sums`
/// \param edges bins + 1 edges in device memory, as for histogramEdges()
/// \param bins 1 to 2^31 - 3
/// \param sums `bins` numbers of 4 or 8 bytes in device memory; bins + 2 with CountOutside
template <class Policy = HistogramPolicy, class It, class WeightIt, class Edge, class SumIt>
void histogramWeightedEdges(It in, std::size_t n, WeightIt weights, const Edge* edges, std::size_t bins, SumIt sums,
                            StreamRef stream = {}) {
  constexpr bool HAS_EDGES = detail::requireEdges<It, Edge>(), ADDS = detail::requireSums<WeightIt, SumIt>();
  if constexpr (HAS_EDGES && ADDS)
    detail::sumWeightsOfDeviceEdges<Policy>(detail::weightedCall<Policy>("gpuopt::histogramWeightedEdges", stream, n,
                                                                         detail::Unwrap<SumIt>::pointer(sums), bins),
                                            in, weights, edges, bins);
}

/// The same for edges in the host's memory, a std::vector or std::array of two or more, which may be gone when the call
/// returns. `sums` has a number for each bin, one fewer than edges; two more with CountOutside.
///
/// Cost: in addition, that of histogramEdges() for such edges.
template <class Policy = HistogramPolicy, class It, class WeightIt, class Edges, class SumIt,
          class = std::enable_if_t<detail::isHostRange<Edges>>>
void histogramWeightedEdges(It in, std::size_t n, WeightIt weights, const Edges& edges, SumIt sums,
                            StreamRef stream = {}) {
  using Edge = std::decay_t<decltype(*edges.data())>;
  constexpr bool HAS_EDGES = detail::requireEdges<It, Edge>(), ADDS = detail::requireSums<WeightIt, SumIt>();
  if constexpr (HAS_EDGES && ADDS) {
    constexpr const char* function = "gpuopt::histogramWeightedEdges";
    detail::requireHostEdges(edges.data(), edges.size(), function);
    detail::sumWeightsOfHostEdges<Policy>(
        detail::weightedCall<Policy>(function, stream, n, detail::Unwrap<SumIt>::pointer(sums), edges.size() - 1), in,
        weights, edges.data(), edges.size());
  }
}

/// The same for containers or spans: edges in a std::vector or std::array are on the host, others on the device. `sums`
/// has a number for each bin, or more; two more with CountOutside.
template <class Policy = HistogramPolicy, class In, class Weights, class Edges, class Sums,
          class = detail::EnableRange<In>, class = detail::EnableRange<Weights>,
          class = detail::EnableRange<const Edges>, class = detail::EnableRange<Sums>>
void histogramWeightedEdges(In&& in, Weights&& weights, const Edges& edges, Sums&& sums, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogramWeightedEdges";
  const std::size_t n = detail::sizeOf(in), bins = detail::binsBetweenEdges(detail::sizeOf(edges), function);
  detail::requireSize(weights, n, "weights", function);
  detail::requireSize(sums, detail::slotsOf<detail::WeightedPolicy<Policy>>(bins), "sums", function);
  if constexpr (detail::isHostRange<Edges>) {
    gpuopt::histogramWeightedEdges<Policy>(detail::dataOf(in), n, detail::dataOf(weights), edges, detail::dataOf(sums),
                                           stream);
  } else {
    const auto* const first = detail::toAddress(edges.data());
    gpuopt::histogramWeightedEdges<Policy>(detail::dataOf(in), n, detail::dataOf(weights), first, bins,
                                           detail::dataOf(sums), stream);
  }
}

GPUOPT_OTHER_CALLS(histogramWeighted,
                   "(in, n, weights, sums, bins, lower, upper), or containers (in, weights, sums, lower, upper), then "
                   "a stream")
GPUOPT_OTHER_CALLS(histogramWeightedEdges,
                   "(in, n, weights, edges, bins, sums), (in, n, weights, edges, sums) with a std::vector or "
                   "std::array of edges, or containers (in, weights, edges, sums), then a stream")

GPUOPT_NAMESPACE_END
