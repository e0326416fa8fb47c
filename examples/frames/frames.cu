/// \file
/// A moving picture as a camera gives it: one thread produces frames, the device finds the brightness of each and how
/// much has moved since the one before, and another thread takes the results.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "timing.cuh"

#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer_frames.cuh>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr std::size_t WIDTH = 160, HEIGHT = 120, PIXELS = WIDTH * HEIGHT, FRAMES = 60;

using Pixel = std::uint8_t;

// Sums over the pixels of a frame.
struct Figures {
  unsigned brightness;
  unsigned motion;
};

struct Difference {
  __host__ __device__ unsigned operator()(Pixel a, Pixel b) const { return a < b ? b - a : a - b; }
};

// A disc that moves over a dark ground, faster and faster.
void draw(Pixel* frame, std::size_t number) {
  const long centreX = static_cast<long>(number * number / 24) % static_cast<long>(WIDTH), centreY = HEIGHT / 2;
  for (long y = 0; y < static_cast<long>(HEIGHT); ++y)
    for (long x = 0; x < static_cast<long>(WIDTH); ++x) {
      const bool isInside = (x - centreX) * (x - centreX) + (y - centreY) * (y - centreY) < 400;
      frame[y * static_cast<long>(WIDTH) + x] = static_cast<Pixel>(isInside ? 200 : (x + y) % 32);
    }
}

// The same figures by loops on the host.
std::vector<Figures> expectedFigures() {
  std::vector<Figures> all(FRAMES);
  std::vector<Pixel> before(PIXELS), frame(PIXELS);
  for (std::size_t number = 0; number < FRAMES; ++number, before.swap(frame)) {
    draw(frame.data(), number);
    for (std::size_t i = 0; i < PIXELS; ++i) {
      all[number].brightness += frame[i];
      all[number].motion += Difference{}(frame[i], before[i]);
    }
  }
  return all;
}

bool run() {
  printDevice("frames");
  const DeviceArray<Pixel> before(std::vector<Pixel>(PIXELS, 0));
  gpuopt::FrameRing<Pixel, Figures> ring(PIXELS, 1, [&](const gpuopt::FrameTask<Pixel, Figures>& frame) {
    gpuopt::reduceInto<unsigned>(frame.in, PIXELS, &frame.out->brightness, frame.stream);
    gpuopt::transformReduceInto<unsigned>(frame.in, before.data(), PIXELS, &frame.out->motion, Difference{},
                                          frame.stream);
    gpuopt::check(cudaMemcpyAsync(before.data(), frame.in, PIXELS, cudaMemcpyDeviceToDevice, frame.stream),
                  "cudaMemcpyAsync");
  });

  std::size_t produced = 0;
  std::vector<Figures> found;
  ring.run(
      [&](Pixel* frame) {
        if (produced == FRAMES) return false;
        draw(frame, produced++);
        return true;
      },
      [&](const gpuopt::Frame<Figures>& frame) { found.push_back(frame.data[0]); });

  const std::vector<Figures> expected = expectedFigures();
  std::size_t wrong = found.size() == FRAMES ? 0 : FRAMES;
  for (std::size_t i = 0; i < found.size(); ++i) {
    wrong += found[i].brightness != expected[i].brightness || found[i].motion != expected[i].motion;
    if (i % 10 == 0)
      std::printf("frame %2zu: brightness %5.2f, motion %5.2f\n", i, found[i].brightness / double{PIXELS},
                  found[i].motion / double{PIXELS});
  }
  const gpuopt::FrameStatistics statistics = ring.statistics();
  std::printf("%zu frames, %zu dropped: %s\n", statistics.produced, statistics.dropped, wrong == 0 ? "ok" : "WRONG");
  const std::chrono::duration<double, std::micro> median = statistics.latency.percentile(0.5);
  if (!emulated) std::printf("from a frame to its figures: %.0f us, median\n", median.count());
  return wrong == 0;
}

int main() { return exitStatusOf("frames", run); }
