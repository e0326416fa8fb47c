/// \file
/// Ways through pictures and volumes: reads from plain memory and through textures, writes to memory and surfaces.
// SPDX-License-Identifier: MIT
#pragma once

#include "texture_object.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned imageBlock = 256, imageItems = 1024;  ///< threads of a block, elements of its tile

struct ImagePlace {
  int x, y, z;
};

/// A block takes a tile of TX x TY x TZ elements, and each warp of it PX x PY x PZ neighbours at once.
template <int PX, int PY, int PZ, int TX, int TY, int TZ>
struct ImageWalk {
  static_assert(PX * PY * PZ == 32 && TX * TY * TZ == int(imageItems), "a warp has 32 lanes, a tile 1024 elements");
  static constexpr ImagePlace TILE{TX, TY, TZ};

  /// Element `item` of a tile.
  __host__ __device__ static ImagePlace at(ImagePlace tile, unsigned item) {
    const int lane = int(item % 32), patch = int(item / 32);
    constexpr int ACROSS = TX / PX, DOWN = TY / PY;
    return {tile.x * TX + patch % ACROSS * PX + lane % PX, tile.y * TY + patch / ACROSS % DOWN * PY + lane / PX % PY,
            tile.z * TZ + patch / ACROSS / DOWN * PZ + lane / PX / PY};
  }
};

using AlongRows = ImageWalk<32, 1, 1, 1024, 1, 1>;
using DownColumns = ImageWalk<1, 32, 1, 1, 1024, 1>;
using FlatPatches = ImageWalk<8, 4, 1, 32, 32, 1>;
using AlongX = ImageWalk<32, 1, 1, 256, 4, 1>;
using AlongY = ImageWalk<1, 32, 1, 1, 256, 4>;
using AlongZ = ImageWalk<1, 1, 32, 4, 1, 256>;
using DeepPatches = ImageWalk<4, 4, 2, 16, 8, 8>;

/// Elements without an order, of a window of 64 x 64 that overlaps those of the next blocks.
struct InWindow {
  static constexpr ImagePlace TILE{32, 32, 1};

  __host__ __device__ static ImagePlace at(ImagePlace tile, unsigned item) {
    unsigned h = (item + imageItems * unsigned(tile.x + 31 * tile.y)) * 2654435761U;
    h = (h ^ (h >> 15)) * 2246822519U;
    h ^= h >> 13;
    return {tile.x * TILE.x + int(h % 64), tile.y * TILE.y + int(h / 64 % 64), tile.z};
  }
};

template <class Walk>
dim3 tilesOf(ImageSize size) {
  const auto tiles = [](int n, int tile) { return unsigned(ceilDivide(std::size_t(n), std::size_t(tile))); };
  return {tiles(size.width, Walk::TILE.x), tiles(size.height, Walk::TILE.y), tiles(size.depth, Walk::TILE.z)};
}

template <class Walk>
gpuopt::LaunchConfig walkConfig(ImageSize size) {
  gpuopt::LaunchConfig config;
  config.grid = tilesOf<Walk>(size);
  config.block = dim3(imageBlock);
  return config;
}

/// The results of sumElements: one a thread.
template <class Walk>
std::size_t walkers(ImageSize size) {
  const dim3 tiles = tilesOf<Walk>(size);
  return std::size_t{imageBlock} * tiles.x * tiles.y * tiles.z;
}

// ------------------------------------------------------------------------------------------- reads

struct PlainImage {
  const float* data;
  ImageSize size;
  __device__ float operator()(ImagePlace at) const { return data[size.indexOf(at.x, at.y, at.z)]; }
};
/// The middle of an element is half an element from its beginning.
struct FlatTexture {
  cudaTextureObject_t texture;
  __device__ float operator()(ImagePlace at) const {
    return tex2D<float>(texture, float(at.x) + 0.5F, float(at.y) + 0.5F);
  }
};
struct DeepTexture {
  cudaTextureObject_t texture;
  __device__ float operator()(ImagePlace at) const {
    return tex3D<float>(texture, float(at.x) + 0.5F, float(at.y) + 0.5F, float(at.z) + 0.5F);
  }
};

__device__ inline ImagePlace blockTile() { return {int(blockIdx.x), int(blockIdx.y), int(blockIdx.z)}; }

/// Each thread adds up the four elements of its block's tile that are its own.
template <class Walk, class Image>
__global__ void sumElements(Image image, ImageSize size, float* out) {
  float sum = 0;
#pragma unroll
  for (unsigned first = 0; first < imageItems; first += imageBlock) {
    const ImagePlace at = Walk::at(blockTile(), first + threadIdx.x);
    if (size.holds(at.x, at.y, at.z)) sum += image(at);
  }
  const std::size_t block = (std::size_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * imageBlock + threadIdx.x] = sum;
}

template <class Walk, class Image>
void launchSums(Image image, float* out, ImageSize size) {
  gpuopt::launch(sumElements<Walk, Image>, walkConfig<Walk>(size), image, size, out);
}

template <class Walk>
std::vector<float> sumsOnHost(const std::vector<float>& values, ImageSize size) {
  const dim3 tiles = tilesOf<Walk>(size);
  std::vector<float> sums(walkers<Walk>(size), 0);
  for (std::size_t i = 0; i < sums.size() * (imageItems / imageBlock); ++i) {
    const std::size_t block = i / imageItems, item = i % imageItems;
    const ImagePlace tile{int(block % tiles.x), int(block / tiles.x % tiles.y), int(block / tiles.x / tiles.y)};
    const ImagePlace at = Walk::at(tile, unsigned(item));
    if (size.holds(at.x, at.y, at.z))
      sums[block * imageBlock + item % imageBlock] += values[size.indexOf(at.x, at.y, at.z)];
  }
  return sums;
}

// ------------------------------------------------------------------------------------------ writes

struct PlainTarget {
  float* data;
  ImageSize size;
  __device__ void operator()(ImagePlace at, float value) const { data[size.indexOf(at.x, at.y, at.z)] = value; }
};
/// The first coordinate of a surface is in bytes.
struct SurfaceTarget {
  cudaSurfaceObject_t surface;
  __device__ void operator()(ImagePlace at, float value) const {
    surf2Dwrite(value, surface, at.x * int(sizeof(float)), at.y);
  }
};

__host__ __device__ inline float elementToWrite(ImagePlace at) { return float((at.x * 37 + at.y * 101) % 4093); }

template <class Walk, class Target>
__global__ void writeElements(Target target, ImageSize size) {
#pragma unroll
  for (unsigned first = 0; first < imageItems; first += imageBlock) {
    const ImagePlace at = Walk::at(blockTile(), first + threadIdx.x);
    if (size.holds(at.x, at.y, at.z)) target(at, elementToWrite(at));
  }
}

template <class Walk, class Target>
void launchWrites(Target target, ImageSize size) {
  gpuopt::launch(writeElements<Walk, Target>, walkConfig<Walk>(size), target, size);
}

inline std::vector<float> writtenOnHost(ImageSize size) {
  std::vector<float> values;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) values.push_back(elementToWrite({x, y, 0}));
  return values;
}

}  // namespace experiments
