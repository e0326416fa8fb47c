/// \file
/// Histograms of interleaved channels, such as those of pixels.
///
///     gpuopt::histogramChannels<3>(rgb, pixels, counts, 256, 0, 256);        // the same bins for all channels
///     gpuopt::histogramChannels<3>(hsv, pixels, counts,
///                                  {{360, 0, 360}, {100, 0, 256}, {256, 0, 256}});   // {bins, lower, upper} of each
///
/// What holds for all histograms: <gpuopt/histogram.cuh>, which includes this header.
///
/// More: docs/histogram.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/channels.cuh>
#include <gpuopt/histogram_types.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// Histograms of interleaved channels, such as those of RGB or RGBA pixels, in one reading.
///
///     gpuopt::histogramChannels<3>(picture, width * height, counts, 256, 0, 256);   // counts[channel * 256 + value]
///
/// The bins are those of histogram(), the same for all channels.
///
/// \tparam CHANNELS samples of a pixel, 2 to 4
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, or a type derived from one
/// \param samples n * CHANNELS integers or floating-point numbers: pointer to device memory
/// \param n pixels
/// \param counts CHANNELS * bins counters, one channel after the other; each has two more with CountOutside
/// \param bins 1 to (2^31 - 3) / CHANNELS, with CountOutside 2 fewer
/// \param lower,upper the limits, as for histogram()
template <int CHANNELS, class Policy = HistogramPolicy, class It, class CountIt>
void histogramChannels(It samples, std::size_t n, CountIt counts, std::size_t bins, detail::LimitOf<It> lower,
                       detail::LimitOf<It> upper, StreamRef stream = {}) {
  if constexpr (detail::requireChannels<CHANNELS, It, CountIt>()) {
    constexpr const char* function = "gpuopt::histogramChannels";
    const auto slotOf =
        detail::channelBins<Policy, CHANNELS, detail::HistogramElement<It>>(bins, lower, upper, function);
    detail::histogramOf<Policy>(function, detail::pixelsOf<CHANNELS>(samples), n,
                                detail::Unwrap<CountIt>::pointer(counts), slotOf.allSlots(), slotOf, stream, "samples");
  }
}

/// The same for containers or spans: `samples` of whole pixels, `counts` of as many bins for each channel.
template <int CHANNELS, class Policy = HistogramPolicy, class In, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
void histogramChannels(In&& samples, Counts&& counts, detail::LimitOfRange<In> lower, detail::LimitOfRange<In> upper,
                       StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogramChannels";
  const std::size_t slots = detail::perChannel<CHANNELS>(counts, "counts", function);
  gpuopt::histogramChannels<CHANNELS, Policy>(
      detail::dataOf(samples), detail::perChannel<CHANNELS>(samples, "samples", function), detail::dataOf(counts),
      detail::binsOfSlots<Policy>(slots, function), lower, upper, stream);
}

/// The same with bins of their own for each channel.
///
///     gpuopt::histogramChannels<3>(hsv, pixels, counts, {{360, 0, 360}, {100, 0, 256}, {256, 0, 256}});
///
/// \tparam CHANNELS samples of a pixel, 2 to 4
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, CloseLastBin, or a type derived from one
/// \param samples n * CHANNELS integers or floating-point numbers: pointer to device memory
/// \param n pixels
/// \param counts the counters of one channel after those of the other, as many as it has bins; each channel has two
/// more with CountOutside
/// \param axes {bins, lower, upper} of each channel; up to 2^31 - 3 counters
template <int CHANNELS, class Policy = HistogramPolicy, class It, class CountIt>
void histogramChannels(It samples, std::size_t n, CountIt counts,
                       const HistogramAxis<detail::LimitOf<It>> (&axes)[CHANNELS], StreamRef stream = {}) {
  if constexpr (detail::requireChannels<CHANNELS, It, CountIt>()) {
    constexpr const char* function = "gpuopt::histogramChannels";
    const std::size_t slots = detail::slotsOfChannels<Policy, CHANNELS>(axes, function);
    const auto slotOf = detail::ownChannelBins<Policy, detail::HistogramElement<It>>(
        axes, function, std::make_index_sequence<CHANNELS>());
    detail::histogramOf<Policy>(function, detail::pixelsOf<CHANNELS>(samples), n,
                                detail::Unwrap<CountIt>::pointer(counts), slots, slotOf, stream, "samples");
  }
}

/// The same for containers or spans: `samples` of whole pixels, `counts` of as many counters as all channels have, or
/// more.
template <int CHANNELS, class Policy = HistogramPolicy, class In, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
void histogramChannels(In&& samples, Counts&& counts, const HistogramAxis<detail::LimitOfRange<In>> (&axes)[CHANNELS],
                       StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogramChannels";
  detail::requireSize(counts, detail::slotsOfChannels<Policy, CHANNELS>(axes, function), "counts", function);
  gpuopt::histogramChannels<CHANNELS, Policy>(detail::dataOf(samples),
                                              detail::perChannel<CHANNELS>(samples, "samples", function),
                                              detail::dataOf(counts), axes, stream);
}

/// What histogramChannels() of n pixels, with `bins` bins for each channel, does on the current device, and why, as
/// text: see explainHistogram.
///
/// \tparam T a sample
/// \tparam CHANNELS samples of a pixel
/// \tparam Count a counter
template <class T, int CHANNELS, class Count = unsigned>
[[nodiscard]] std::string explainHistogramChannels(std::size_t n, std::size_t bins) {
  detail::requireBins(bins, "gpuopt::explainHistogramChannels");
  using Slots = detail::ChannelBins<detail::NumberedBins<Identity, false>, CHANNELS>;
  const detail::PlannedSource<detail::HistogramPixel<T, CHANNELS>, Slots> source{};
  return detail::planInWords(detail::planKeyed(detail::histogramRequest<Count>(source, n, CHANNELS * bins)));
}

GPUOPT_NAMESPACE_END
