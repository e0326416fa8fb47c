/// \file
/// Exchanges adjacent axes of dense tensors: NHWC to NCHW with a conversion on the way, rows and columns of
/// every image, images and pixels. Such an exchange is a batched transposition: the axes before the pair are
/// the batch, those after it the elements (up to 128 bytes).
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr std::size_t N = 5, H = 37, W = 51, C = 3;  // images, their height and width, channels

// A picture's byte as a network takes it.
struct Normalize {
  __host__ __device__ float operator()(std::uint8_t x) const { return static_cast<float>(x) / 256 - 0.5F; }
};

// What one element of [a][b][c] is made of where the last axis moves as a whole.
struct Rgb {
  std::uint8_t r, g, b;
};

std::size_t nhwc(std::size_t n, std::size_t h, std::size_t w, std::size_t c) { return ((n * H + h) * W + w) * C + c; }

std::size_t nchw(std::size_t n, std::size_t h, std::size_t w, std::size_t c) { return ((n * C + c) * H + h) * W + w; }

bool report(const char* what, std::size_t wrong) {
  std::printf("%-40s %s\n", what, wrong == 0 ? "ok" : "WRONG");
  return wrong == 0;
}

bool run() {
  constexpr std::size_t SIZE = N * H * W * C;
  std::vector<std::uint8_t> images(SIZE);
  for (std::size_t i = 0; i < SIZE; ++i) images[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  const DeviceArray<std::uint8_t> bytes(images), turned(SIZE);
  const DeviceArray<float> floats(SIZE);
  const auto* rgb = reinterpret_cast<const Rgb*>(bytes.data());
  auto* turnedRgb = reinterpret_cast<Rgb*>(turned.data());

  // NHWC to NCHW: of each of N images, a matrix of H * W pixels by C channels. Bytes become floats on the
  // way.
  const gpuopt::MatrixView in{bytes.data(), H * W, C, C, N};
  const gpuopt::MatrixView out{floats.data(), C, H * W, H * W, N};
  gpuopt::transpose(in, out, Normalize{});
  const std::vector<float> planes = floats.toHost();

  // [N][H][W] pixels to [N][W][H]: every image turned over its diagonal. An element is a whole pixel.
  const gpuopt::MatrixView pixels{rgb, H, W, W, N};
  const gpuopt::MatrixView mirrored{turnedRgb, W, H, H, N};
  gpuopt::transpose(pixels, mirrored);
  const std::vector<std::uint8_t> diagonal = turned.toHost();

  // [N][H * W] pixels to [H * W][N]: the first two axes, a single matrix.
  gpuopt::transpose(rgb, turnedRgb, N, H * W);
  const std::vector<std::uint8_t> interleaved = turned.toHost();

  std::size_t wrongPlanes = 0, wrongDiagonal = 0, wrongInterleaved = 0;
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t w = 0; w < W; ++w)
        for (std::size_t c = 0; c < C; ++c) {
          const std::uint8_t x = images[nhwc(n, h, w, c)];
          wrongPlanes += planes[nchw(n, h, w, c)] != Normalize{}(x);
          wrongDiagonal += diagonal[((n * W + w) * H + h) * C + c] != x;
          wrongInterleaved += interleaved[((h * W + w) * N + n) * C + c] != x;
        }
  bool right = report("bytes in NHWC to floats in NCHW", wrongPlanes);
  right &= report("images over their diagonal", wrongDiagonal);
  right &= report("images interleaved pixel by pixel", wrongInterleaved);
  return right;
}

int main() { return exitStatusOf("transpose_axes", run); }
