/// \file
/// Pictures with pixels of three bytes (NHWC) to planes of normalised floats (NCHW), as networks take them: in one call
/// if all channels are normalised alike, otherwise in a call for each channel.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/transpose.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr std::size_t IMAGES = 4, PIXELS = 45 * 67, CHANNELS = 3;
constexpr std::size_t SIZE = IMAGES * PIXELS * CHANNELS;

struct Normalise {
  float mean, deviation;
  __host__ __device__ float operator()(std::uint8_t x) const {
    return (static_cast<float>(x) / 255 - mean) / deviation;
  }
};

// Compares with a loop over all samples.
bool report(const char* what, const std::vector<std::uint8_t>& pixels, const std::vector<float>& planes,
            const Normalise (&channels)[CHANNELS]) {
  std::size_t wrong = 0;
  for (std::size_t image = 0; image < IMAGES; ++image)
    for (std::size_t pixel = 0; pixel < PIXELS; ++pixel)
      for (std::size_t c = 0; c < CHANNELS; ++c) {
        const float expected = channels[c](pixels[(image * PIXELS + pixel) * CHANNELS + c]);
        wrong += std::fabs(planes[(image * CHANNELS + c) * PIXELS + pixel] - expected) > 1e-5f ? 1 : 0;
      }
  std::printf("%-22s %s\n", what, wrong == 0 ? "ok" : "WRONG");
  return wrong == 0;
}

bool run() {
  std::vector<std::uint8_t> pixels(SIZE);
  for (std::size_t i = 0; i < SIZE; ++i) pixels[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  const DeviceArray<std::uint8_t> in(pixels);
  const DeviceArray<float> out(SIZE);

  // Each picture is a matrix of pixels x channels.
  const Normalise alike{0.5f, 0.5f};
  const gpuopt::MatrixView pictures{in.data(), PIXELS, CHANNELS, CHANNELS, IMAGES};
  const gpuopt::MatrixView planes{out.data(), CHANNELS, PIXELS, PIXELS, IMAGES};
  gpuopt::transpose(pictures, planes, alike);
  bool right = report("all channels alike", pixels, out.toHost(), {alike, alike, alike});

  // The function does not know the channel, so each has a call: a column of the pictures becomes a row of the planes.
  out.poison();
  const Normalise channels[] = {{0.485f, 0.229f}, {0.456f, 0.224f}, {0.406f, 0.225f}};
  for (std::size_t c = 0; c < CHANNELS; ++c) {
    const gpuopt::MatrixView column{in.data() + c, PIXELS, 1, CHANNELS, IMAGES, PIXELS * CHANNELS};
    const gpuopt::MatrixView plane{out.data() + c * PIXELS, 1, PIXELS, PIXELS, IMAGES, PIXELS * CHANNELS};
    gpuopt::transpose(column, plane, channels[c]);
  }
  right &= report("each channel its own", pixels, out.toHost(), channels);
  return right;
}

int main() { return exitStatusOf("pixels_to_planes", run); }
