/// \file
/// The ways from a kernel to a texture of OpenGL, timed: wall time until both are done.
// SPDX-License-Identifier: MIT
#pragma once

#include "../experiments/texture_object.cuh"
#include "device_array.cuh"
#include "gl_objects.hpp"
#include "kernels.cuh"
#include "shared_resource.cuh"

#include <gpuopt/transfer.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

/// The median of 51 calls in microseconds, after one that does not count. All work is done before and after each.
template <class Call>
double medianMicroseconds(const Call& call) {
  using Clock = std::chrono::steady_clock;
  const auto finish = [] {
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    glFinish();
  };
  std::vector<double> times;
  for (int i = 0; i <= 51; ++i) {
    finish();
    const auto start = Clock::now();
    call();
    finish();
    if (i > 0) times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

/// Fills a texture of 1920 x 1080 pixels from a kernel, in three ways; what registering and mapping take by themselves.
inline void printTextureTimes() {
  constexpr PictureSize SIZE{1920, 1080};
  constexpr std::size_t PIXELS = std::size_t{1920} * 1080;
  const GlPicture picture(SIZE.width, SIZE.height);
  const GlPixelBuffer buffer(PIXELS * sizeof(uchar4));
  const auto sharedPicture = SharedResource::texture(picture.texture(), cudaGraphicsRegisterFlagsSurfaceLoadStore);
  const auto sharedBuffer = SharedResource::buffer(buffer.buffer(), cudaGraphicsRegisterFlagsWriteDiscard);
  const DeviceArray<uchar4> onDevice(PIXELS);
  gpuopt::PinnedVector<uchar4> onHost(PIXELS);
  const GlPixelBuffer other(PIXELS * sizeof(uchar4));

  const auto print = [](const char* way, double time) { std::printf("  %-26s %9.1f us\n", way, time); };
  std::printf("A texture of %d x %d pixels, median of 51 times:\n", SIZE.width, SIZE.height);
  print("registered, and released:", medianMicroseconds([&] {
          const auto shared = SharedResource::buffer(other.buffer(), cudaGraphicsRegisterFlagsWriteDiscard);
        }));
  print("mapped, and given back:", medianMicroseconds([&] { const MappedResource mapped(sharedBuffer); }));
  print("through a surface:", medianMicroseconds([&] {
          const MappedResource mapped(sharedPicture);
          const experiments::SurfaceObject surface(mapped.array());
          gpuopt::launch(drawRings, configOf(SIZE), surface.get(), SIZE);
          gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // before the surface object ends
        }));
  print("through a pixel buffer:", medianMicroseconds([&] {
          {
            const MappedResource mapped(sharedBuffer);
            gpuopt::launch(storeRings, configOf(SIZE), mapped.elements<uchar4>(PIXELS), SIZE);
          }
          picture.write(buffer);
        }));
  print("through the host's memory:", medianMicroseconds([&] {
          gpuopt::launch(storeRings, configOf(SIZE), onDevice.data(), SIZE);
          gpuopt::download(onDevice.data(), PIXELS, onHost.data());
          picture.write(reinterpret_cast<const std::uint8_t*>(onHost.data()));
        }));
}
