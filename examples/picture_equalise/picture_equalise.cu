/// \file
/// Equalises the contrast of a picture, from file to file: a histogram of each channel on the device, sums of its
/// counts on the host, and a table that maps every sample.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "writer.hpp"

#include <gpuopt/histogram.cuh>
#include <gpuopt/map.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

// Looks up a sample in the table of its channel.
template <class Sample>
struct Lookup {
  const Sample* tables;
  unsigned levels, channels;
  __device__ Sample operator()(Sample sample, std::size_t i) const { return tables[i % channels * levels + sample]; }
};

// counts[channel * levels + sample], on the device.
template <class Sample>
void countOnDevice(const DeviceArray<Sample>& samples, std::size_t pixels, std::size_t channels, std::size_t levels,
                   unsigned* counts) {
  const auto upper = static_cast<std::int64_t>(levels);
  if (channels == 3)
    gpuopt::histogramChannels<3>(samples.data(), pixels, counts, levels, 0, upper);
  else
    gpuopt::bincount(samples.data(), pixels, counts, levels);
}

// The new level of each old one: the share of the channel's pixels that are not brighter.
template <class Sample>
std::vector<Sample> tablesOf(const std::vector<unsigned>& counts, std::size_t levels, std::size_t pixels) {
  std::vector<Sample> tables(counts.size());
  std::size_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i % levels == 0) sum = 0;
    sum += counts[i];
    tables[i] = static_cast<Sample>(sum * (levels - 1) / pixels);
  }
  return tables;
}

// The same on the host.
template <class Sample>
std::vector<unsigned> countSerially(const std::vector<Sample>& samples, std::size_t channels, std::size_t levels) {
  std::vector<unsigned> counts(channels * levels);
  for (std::size_t i = 0; i < samples.size(); ++i) ++counts[i % channels * levels + samples[i]];
  return counts;
}

// Equalises the samples of a picture; false if the device and the reference disagree.
template <class Sample>
bool equalise(std::vector<Sample>& samples, std::size_t channels, std::size_t maximum) {
  const std::size_t levels = maximum + 1, pixels = samples.size() / channels;
  const DeviceArray<Sample> picture(samples);
  const DeviceArray<unsigned> counts(channels * levels);
  counts.poison();
  countOnDevice(picture, pixels, channels, levels, counts.data());
  const std::vector<unsigned> counted = counts.toHost();
  const std::vector<unsigned> expected = countSerially(samples, channels, levels);
  const DeviceArray<Sample> tables(tablesOf<Sample>(counted, levels, pixels));
  const Lookup<Sample> lookup{tables.data(), static_cast<unsigned>(levels), static_cast<unsigned>(channels)};
  gpuopt::transform(picture.data(), samples.size(), picture.data(), lookup);
  const std::vector<Sample> table = tablesOf<Sample>(expected, levels, pixels);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = table[i % channels * levels + samples[i]];
  return counted == expected && picture.toHost() == samples;
}

bool run(int count, char** words) {
  if (count != 3) throw std::runtime_error("usage: picture_equalise <input> <output>, PGM or PPM pictures");
  Input picture = readPicture(words[1]);
  std::printf("%s: %s\n", words[1], picture.description.c_str());
  const bool right = std::visit(
      [&](auto& samples) {
        using Sample = typename std::decay_t<decltype(samples)>::value_type;
        if constexpr (std::is_same_v<Sample, std::uint8_t> || std::is_same_v<Sample, std::uint16_t>)
          return equalise(samples, picture.channels, picture.maximum);
        else
          throw std::logic_error("pictures have samples of 8 or 16 bits");
        return false;
      },
      picture.values);
  writePicture(words[2], picture);
  std::printf("%s: equalised: %s\n", words[2], right ? "as the serial reference has it" : "WRONG");
  return right;
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("picture_equalise", [&] { return run(count, words); });
}
