/// \file
/// Pictures of bytes as files have them (NHWC) to normalised floats as networks take them, each in one call: planes
/// (NCHW), planes of mirrored crops, and square patches. A crop is a view of the pictures, so nothing is copied first.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "readers.hpp"

#include <gpuopt/permute.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

constexpr std::size_t N = 3, C = 3, PATCH = 16;  // exposures of the picture, channels, side of a patch

struct Normalise {
  float mean, deviation;
  __host__ __device__ float operator()(std::uint8_t x) const {
    return (static_cast<float>(x) / 255 - mean) / deviation;
  }
};

constexpr Normalise normalise{0.45f, 0.22f};

// N pictures of h x w pixels with C bytes each.
struct Batch {
  std::size_t h, w;
  std::vector<std::uint8_t> bytes;

  float expected(std::size_t n, std::size_t y, std::size_t x, std::size_t c) const {
    return normalise(bytes[((n * h + y) * w + x) * C + c]);
  }
};

// A picture of a file in N exposures. Grey ones are tinted.
Batch readBatch(const std::string& file) {
  const Input picture = readPicture(file);
  const auto* samples = std::get_if<std::vector<std::uint8_t>>(&picture.values);
  if (samples == nullptr) throw std::runtime_error(file + ": has more than 8 bits a sample");
  Batch batch{samples->size() / picture.channels / picture.width, picture.width, {}};
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t i = 0; i < batch.h * batch.w * C; ++i) {
      const std::size_t tint = picture.channels == C ? 4 : 2 + i % C;
      const std::size_t sample = (*samples)[picture.channels == C ? i : i / C];
      batch.bytes.push_back(static_cast<std::uint8_t>(sample * tint * (n + 1) / (4 * N)));
    }
  if (batch.h < PATCH || batch.w < PATCH) throw std::runtime_error(file + ": is smaller than 16 x 16");
  std::printf("%s: %s\n", file.c_str(), picture.description.c_str());
  return batch;
}

bool report(const char* what, std::size_t wrong) {
  std::printf("%-18s %s\n", what, wrong == 0 ? "ok" : "WRONG");
  return wrong == 0;
}

bool differs(float value, float expected) { return !(std::fabs(value - expected) < 1e-5f); }

struct Pixel {
  std::size_t y, x;
};

// Counts the samples of h x w planes that differ from the batch, where pixelOf(y, x) is the pixel.
template <class PixelOf>
std::size_t wrongPlanes(const std::vector<float>& planes, const Batch& batch, std::size_t h, std::size_t w,
                        PixelOf pixelOf) {
  std::size_t wrong = 0, i = 0;
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t y = 0; y < h; ++y)
        for (std::size_t x = 0; x < w; ++x, ++i) {
          const auto [row, column] = pixelOf(y, x);
          wrong += differs(planes[i], batch.expected(n, row, column, c)) ? 1 : 0;
        }
  return wrong;
}

// Dense tensors: the extents of the pictures, and the order of axes.
bool toPlanes(const Batch& batch, const DeviceArray<std::uint8_t>& in) {
  const DeviceArray<float> out(batch.bytes.size());
  out.poison();
  gpuopt::permute(in.data(), out.data(), {N, batch.h, batch.w, C}, {0, 3, 1, 2}, normalise);
  const auto same = [](std::size_t y, std::size_t x) { return Pixel{y, x}; };
  return report("planes", wrongPlanes(out.toHost(), batch, batch.h, batch.w, same));
}

// A view: its first element is the last pixel of the crop's first row, and x goes backwards from there.
bool toMirroredCrops(const Batch& batch, const DeviceArray<std::uint8_t>& in) {
  const std::size_t h = batch.h / 2, w = batch.w / 2, top = batch.h / 5, left = batch.w / 3;
  const std::size_t row = batch.w * C, last = left + w - 1;
  const DeviceArray<float> out(N * C * h * w);
  out.poison();
  const gpuopt::TensorView crops(in.data() + top * row + last * C, {N, h, w, C},
                                 {batch.h * row, row, -std::ptrdiff_t{C}, 1});
  const gpuopt::TensorView planes(out.data(), {N, C, h, w});
  gpuopt::permute(crops, planes, {0, 3, 1, 2}, normalise);
  const auto mirrored = [&](std::size_t y, std::size_t x) { return Pixel{top + y, last - x}; };
  return report("mirrored crops", wrongPlanes(out.toHost(), batch, h, w, mirrored));
}

// Rows and columns are two axes each: of patches, and of the pixels of a patch.
bool toPatches(const Batch& batch, const DeviceArray<std::uint8_t>& in) {
  const std::size_t down = batch.h / PATCH, across = batch.w / PATCH, row = batch.w * C;
  const DeviceArray<float> out(N * down * across * PATCH * PATCH * C);
  out.poison();
  const gpuopt::TensorView pictures(in.data(), {N, down, PATCH, across, PATCH, C},
                                    {batch.h * row, PATCH * row, row, PATCH * C, C, 1});
  const gpuopt::TensorView patches(out.data(), {N, down, across, PATCH, PATCH, C});
  gpuopt::permute(pictures, patches, {0, 1, 3, 2, 4, 5}, normalise);
  const std::vector<float> values = out.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i % C, x = i / C % PATCH, y = i / C / PATCH % PATCH, patch = i / C / PATCH / PATCH;
    const std::size_t left = patch % across * PATCH, top = patch / across % down * PATCH, n = patch / across / down;
    wrong += differs(values[i], batch.expected(n, top + y, left + x, c)) ? 1 : 0;
  }
  return report("patches", wrong);
}

bool run(int count, char** words) {
  if (count > 2) throw std::runtime_error("usage: permute_pictures [<picture>], a PGM or PPM file");
  const Batch batch = readBatch(count == 2 ? words[1] : shippedFile("lake.pgm"));
  const DeviceArray<std::uint8_t> in(batch.bytes);
  bool right = toPlanes(batch, in);
  right &= toMirroredCrops(batch, in);
  right &= toPatches(batch, in);
  return right;
}

int main(int count, char** words) {
  return exitStatusOf("permute_pictures", [&] { return run(count, words); });
}
