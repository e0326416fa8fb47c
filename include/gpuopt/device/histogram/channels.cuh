/// \file
/// Interleaved channels: every element is a pixel, which counts once in each channel's histogram.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/histogram/arguments.cuh>
#include <gpuopt/device/histogram/launch.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class T, int CHANNELS>
struct HistogramPixel {
  T samples[CHANNELS];
};

// The slots of a pixel: those of channel c begin with number c * slots. Samples in no slot have number CHANNELS *
// slots.
template <class Bins, int CHANNELS>
struct ChannelBins {
  Bins bins;
  unsigned slots;  // of a channel

  template <class T>
  __device__ unsigned slot(const T& sample, unsigned channel) const {
    const unsigned own = bins(sample);
    return own < slots ? channel * slots + own : CHANNELS * slots;
  }

  template <class T>
  __device__ ChannelSlots<CHANNELS> operator()(const HistogramPixel<T, CHANNELS>& pixel) const {
    ChannelSlots<CHANNELS> result;
#pragma unroll
    for (unsigned c = 0; c < CHANNELS; ++c) result.slots[c] = slot(pixel.samples[c], c);
    return result;
  }
};

template <class T, class Bins, int CHANNELS>
struct ByteSlots<HistogramPixel<T, CHANNELS>, ChannelBins<Bins, CHANNELS>> {
  static constexpr unsigned VALUES = 256 * CHANNELS;
  ChannelBins<Bins, CHANNELS> f;
  unsigned slots;

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

// Counts n pixels.
template <class Policy, int CHANNELS, class T, class Count>
void histogramOfPixels(const char* function, const T* samples, std::size_t n, Count* counts, std::size_t bins,
                       BinLimit<T> lower, BinLimit<T> upper, cudaStream_t stream) {
  const auto binsOfSample = binsBetween<Policy, T>(bins, lower, upper, function);
  const std::size_t slots = slotsOf<Policy>(bins);
  if (slots > mostBins / CHANNELS)
    throwInvalid({function, ": ", CHANNELS, " times bins (", bins, ") exceeds ", mostBins});
  const ChannelBins<std::decay_t<decltype(binsOfSample)>, CHANNELS> slotOf{binsOfSample, static_cast<unsigned>(slots)};
  const auto* const pixels = reinterpret_cast<const HistogramPixel<T, CHANNELS>*>(samples);
  histogramOf<Policy>(function, pixels, n, counts, CHANNELS * slots, slotOf, stream, "samples");
}

GPUOPT_DETAIL_END
