/// \file
/// What CUDA does to pictures and points of OpenGL, in whole numbers, so that the host finds the same.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <cstddef>

struct PictureSize {
  int width, height;
};

inline constexpr int BLOCK_X = 32, BLOCK_Y = 8;

inline gpuopt::LaunchConfig configOf(PictureSize size) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((size.width + BLOCK_X - 1) / BLOCK_X),
                     static_cast<unsigned>((size.height + BLOCK_Y - 1) / BLOCK_Y));
  config.block = dim3(BLOCK_X, BLOCK_Y);
  return config;
}

// ---------------------------------------------------------------------------- a generated texture

/// Rings around the middle, red; the other colours rise from left to right and from bottom to top.
__host__ __device__ inline uchar4 ringAt(PictureSize size, int x, int y) {
  const int dx = x - size.width / 2, dy = y - size.height / 2;
  return {static_cast<unsigned char>((dx * dx + dy * dy) / 32), static_cast<unsigned char>(x),
          static_cast<unsigned char>(y), 255};
}

__global__ void drawRings(cudaSurfaceObject_t surface, PictureSize size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < size.width && y < size.height)
    surf2Dwrite(ringAt(size, x, y), surface, x * static_cast<int>(sizeof(uchar4)), y);
}

/// The same to a buffer, in rows without gaps.
__global__ void storeRings(uchar4* pixels, PictureSize size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < size.width && y < size.height) pixels[static_cast<std::size_t>(y) * size.width + x] = ringAt(size, x, y);
}

// -------------------------------------------------------------------------------- post-processing

__host__ __device__ inline int brightness(uchar4 colour) { return (colour.x + 2 * colour.y + colour.z) / 4; }

/// Sobel's filter: how much the brightness changes. pixel(x, y): the colour, also beyond the edges.
template <class Pixel>
__host__ __device__ uchar4 edgeAt(const Pixel& pixel, int x, int y) {
  const auto at = [&](int dx, int dy) { return brightness(pixel(x + dx, y + dy)); };
  const int across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1),
            down = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  const int change = (across < 0 ? -across : across) + (down < 0 ? -down : down);
  const auto level = static_cast<unsigned char>(change < 255 ? change : 255);
  return {level, level, level, 255};
}

struct TexturePixels {
  cudaTextureObject_t texture;
  __device__ uchar4 operator()(int x, int y) const {
    return tex2D<uchar4>(texture, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
  }
};

__global__ void findEdges(cudaTextureObject_t from, cudaSurfaceObject_t to, PictureSize size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < size.width && y < size.height)
    surf2Dwrite(edgeAt(TexturePixels{from}, x, y), to, x * static_cast<int>(sizeof(uchar4)), y);
}

// ------------------------------------------------------------------------------------ moved points

/// In pixels. Half pixels are their centres.
struct Point {
  float2 position, velocity;
};

__host__ __device__ inline void move(float& position, float& velocity, float end) {
  position += velocity;
  if (position >= 0 && position < end) return;
  position = position < 0 ? -position : 2 * end - position;
  velocity = -velocity;
}

/// After a step; points turn round at the edges.
__host__ __device__ inline Point moved(Point point, PictureSize size) {
  move(point.position.x, point.velocity.x, static_cast<float>(size.width));
  move(point.position.y, point.velocity.y, static_cast<float>(size.height));
  return point;
}

__global__ void movePoints(Point* points, int count, PictureSize size) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) points[i] = moved(points[i], size);
}
