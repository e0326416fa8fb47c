/// \file
/// Interleaved channels: every element is a pixel, which counts once in each channel's histogram.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/histogram_types.cuh>

#include <cstddef>
#include <string>
#include <utility>

GPUOPT_DETAIL_BEGIN

template <class T, int CHANNELS>
struct HistogramPixel {
  T samples[CHANNELS];
};

// The slot of each sample, by bins.slot(sample, channel).
template <class Bins, class T, int CHANNELS>
__device__ inline ChannelSlots<CHANNELS> slotsOfPixel(const Bins& bins, const HistogramPixel<T, CHANNELS>& pixel) {
  ChannelSlots<CHANNELS> result;
#pragma unroll
  for (unsigned c = 0; c < CHANNELS; ++c) result.slots[c] = bins.slot(pixel.samples[c], c);
  return result;
}

// The slots of a pixel: those of channel c begin with number c * slots. Samples in no slot have number CHANNELS *
// slots.
template <class Bins, int CHANNELS>
struct ChannelBins {
  Bins bins;
  unsigned slots;  // of a channel

  std::size_t allSlots() const { return CHANNELS * std::size_t{slots}; }

  template <class T>
  __device__ unsigned slot(const T& sample, unsigned channel) const {
    const unsigned own = bins(sample);
    return own < slots ? channel * slots + own : CHANNELS * slots;
  }

  template <class T>
  __device__ ChannelSlots<CHANNELS> operator()(const HistogramPixel<T, CHANNELS>& pixel) const {
    return slotsOfPixel(*this, pixel);
  }
};

// The same with bins of their own for each channel, the slots of which begin with number firsts[c].
template <class Bins, int CHANNELS>
struct OwnChannelBins {
  Bins bins[CHANNELS];
  unsigned firsts[CHANNELS + 1];

  template <class T>
  __device__ unsigned slot(const T& sample, unsigned channel) const {
    const unsigned slot = firsts[channel] + bins[channel](sample);
    return slot < firsts[channel + 1] ? slot : firsts[CHANNELS];
  }

  template <class T>
  __device__ ChannelSlots<CHANNELS> operator()(const HistogramPixel<T, CHANNELS>& pixel) const {
    return slotsOfPixel(*this, pixel);
  }
};

// The bins of all channels need the registers that the next steps would take.
template <class T, int CHANNELS, class Bins>
inline constexpr bool prefetchesSteps<ArraySource<HistogramPixel<T, CHANNELS>, OwnChannelBins<Bins, CHANNELS>, true>> =
    false;
template <class T, int CHANNELS, class Bins>
inline constexpr bool prefetchesSteps<ArraySource<HistogramPixel<T, CHANNELS>, OwnChannelBins<Bins, CHANNELS>, false>> =
    false;

// F is one of both.
template <class T, int CHANNELS, class F>
struct ByteSlots<HistogramPixel<T, CHANNELS>, F> {
  static constexpr unsigned VALUES = 256 * CHANNELS;
  F f;

  __device__ unsigned operator()(unsigned value) const { return f.slot(static_cast<T>(value % 256), value / 256); }
};

// The pixels of a container of samples, and the bins of one of counters.
template <int CHANNELS, class R>
std::size_t perChannel(const R& range, const char* name, const char* function) {
  if (sizeOf(range) % CHANNELS != 0)
    throwInvalid(
        {function, ": ", name, " has ", sizeOf(range), " elements, not as many for each of ", CHANNELS, " channels"});
  return sizeOf(range) / CHANNELS;
}

// The types of a histogram of channels.
template <int CHANNELS, class It, class CountIt>
constexpr bool requireChannels() {
  constexpr bool FITS = CHANNELS >= 2 && CHANNELS <= 4, MEMORY = isMemory<It>;
  constexpr bool HAS_BINS = requireNumbers<HistogramElement<It>>(), WRITES = requireCounters<CountIt>();
  static_assert(FITS, "gpuopt::histogramChannels: CHANNELS must be 2 to 4: histogram() counts single ones");
  static_assert(MEMORY, "gpuopt::histogramChannels: samples must be a pointer, or Thrust's iterator of memory");
  return FITS && MEMORY && HAS_BINS && WRITES;
}

template <int CHANNELS, class It>
const HistogramPixel<HistogramElement<It>, CHANNELS>* pixelsOf(It samples) {
  return reinterpret_cast<const HistogramPixel<HistogramElement<It>, CHANNELS>*>(Unwrap<It>::pointer(samples));
}

// The same bins for all channels.
template <class Policy, int CHANNELS, class T>
auto channelBins(std::size_t bins, BinLimit<T> lower, BinLimit<T> upper, const char* function) {
  const auto binsOfSample = binsBetween<Policy, T>(bins, lower, upper, function);
  const std::size_t slots = slotsOf<Policy>(bins);
  if (slots > maxBins / CHANNELS)
    throwInvalid({function, ": ", CHANNELS, " times bins (", bins, ") exceeds ", maxBins});
  return ChannelBins<std::decay_t<decltype(binsOfSample)>, CHANNELS>{binsOfSample, static_cast<unsigned>(slots)};
}

template <int CHANNELS, class Limit>
using ChannelAxes = HistogramAxis<Limit>[CHANNELS];

// The slots of all channels, whose bins differ.
template <class Policy, int CHANNELS, class Limit>
std::size_t slotsOfChannels(const ChannelAxes<CHANNELS, Limit>& axes, const char* function) {
  std::size_t slots = 0;
  for (const HistogramAxis<Limit>& axis : axes) {
    requireBins(axis.bins, function);
    slots += slotsOf<Policy>(axis.bins);
  }
  if (slots > maxBins) throwInvalid({function, ": the bins of all channels (", slots, ") exceed ", maxBins});
  return slots;
}

template <class Policy, class T, class Limit, std::size_t... CHANNEL>
auto ownChannelBins(const HistogramAxis<Limit>* axes, const char* function, std::index_sequence<CHANNEL...>) {
  constexpr int CHANNELS = sizeof...(CHANNEL);
  const auto binsOfChannel = [&](std::size_t c) {
    const std::string name = message({function, ": channel ", c});
    return binsBetween<Policy, T>(axes[c].bins, axes[c].lower, axes[c].upper, name.c_str());
  };
  OwnChannelBins<decltype(binsOfChannel(0)), CHANNELS> slotOf{{binsOfChannel(CHANNEL)...}, {0}};
  for (std::size_t c = 0; c < CHANNELS; ++c)
    slotOf.firsts[c + 1] = slotOf.firsts[c] + static_cast<unsigned>(slotsOf<Policy>(axes[c].bins));
  return slotOf;
}

GPUOPT_DETAIL_END
