/// \file
/// Filters and addressing modes: by the texture units, and the same by hand.
// SPDX-License-Identifier: MIT
#pragma once

#include "texture_object.cuh"

#include <cmath>
#include <cstddef>
#include <vector>

namespace experiments {

/// Where a sample is taken, in elements.
struct ImagePoint {
  float x, y, z;
};

inline constexpr int samplesOfThread = 16;

/// Sample `number` of the result at an index: 11 / 16 of an element from one result to the next. All weights are
/// sixteenths, so that results are exact.
__host__ __device__ inline ImagePoint samplePoint(int x, int y, int z, int number) {
  const int column = number % 4, row = number / 4;
  return {float(11 * x + 3 * column + 1) / 16, float(11 * y + 5 * row + 3) / 16, float(11 * z + number + 5) / 16};
}

// ------------------------------------------------------------------------- arithmetic on elements

__host__ __device__ inline float asFloats(float v) { return v; }
__host__ __device__ inline float4 asFloats(float4 v) { return v; }
__host__ __device__ inline float4 asFloats(uchar4 v) {
  constexpr float UNIT = 1.0F / 255;
  return {UNIT * float(v.x), UNIT * float(v.y), UNIT * float(v.z), UNIT * float(v.w)};
}

/// The value between two, by the weight of the second one.
__host__ __device__ inline float between(float a, float b, float weight) { return a + weight * (b - a); }
__host__ __device__ inline float4 between(float4 a, float4 b, float weight) {
  return {between(a.x, b.x, weight), between(a.y, b.y, weight), between(a.z, b.z, weight), between(a.w, b.w, weight)};
}

__host__ __device__ inline float channelSum(float v) { return v; }
__host__ __device__ inline float channelSum(float4 v) { return v.x + v.y + v.z + v.w; }

// ----------------------------------------------------------------------------------------- filters

/// The nearest element, or between two, four or eight.
enum class Filtering { point, bilinear, trilinear };

/// The texture units do it all. RESULT: float or float4.
template <Filtering FILTERING, class Result>
struct FilteringTexture {
  cudaTextureObject_t texture;
  __device__ Result operator()(ImagePoint at) const {
    if constexpr (FILTERING == Filtering::trilinear)
      return tex3D<Result>(texture, at.x, at.y, at.z);
    else
      return tex2D<Result>(texture, at.x, at.y);
  }
};

__host__ __device__ inline int clampedIndex(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/// Elements from plain memory, addresses and weights by hand.
template <Filtering FILTERING, class T>
struct FilterByHand {
  const T* data;
  ImageSize size;

  __host__ __device__ auto element(int x, int y, int z) const {
    return asFloats(
        data[size.indexOf(clampedIndex(x, size.width), clampedIndex(y, size.height), clampedIndex(z, size.depth))]);
  }
  __host__ __device__ auto plane(int x, int y, int z, float a, float b) const {
    return between(between(element(x, y, z), element(x + 1, y, z), a),
                   between(element(x, y + 1, z), element(x + 1, y + 1, z), a), b);
  }

  __host__ __device__ auto operator()(ImagePoint at) const {
    if constexpr (FILTERING == Filtering::point) {
      return element(int(floorf(at.x)), int(floorf(at.y)), 0);
    } else {
      const float left = floorf(at.x - 0.5F), top = floorf(at.y - 0.5F), front = floorf(at.z - 0.5F);
      const float a = at.x - 0.5F - left, b = at.y - 0.5F - top, c = at.z - 0.5F - front;
      const int x = int(left), y = int(top), z = int(front);
      if constexpr (FILTERING == Filtering::bilinear)
        return plane(x, y, 0, a, b);
      else
        return between(plane(x, y, z, a, b), plane(x, y, z + 1, a, b), c);
    }
  }
};

inline constexpr int filterThreadsX = 32, filterThreadsY = 8;

inline gpuopt::LaunchConfig pixelConfig(ImageSize size) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(unsigned(ceilDivide(std::size_t(size.width), filterThreadsX)),
                     unsigned(ceilDivide(std::size_t(size.height), filterThreadsY)), unsigned(size.depth));
  config.block = dim3(filterThreadsX, filterThreadsY);
  return config;
}

/// The thread's element of a picture or volume.
__device__ inline int pixelX() { return int(blockIdx.x) * filterThreadsX + int(threadIdx.x); }
__device__ inline int pixelY() { return int(blockIdx.y) * filterThreadsY + int(threadIdx.y); }

/// The sum of 16 samples for each element of `size`.
template <class Sampler>
__global__ void sampleImage(Sampler sampler, ImageSize size, float* out) {
  const int x = pixelX(), y = pixelY(), z = int(blockIdx.z);
  if (!size.holds(x, y, z)) return;
  float sum = 0;
#pragma unroll
  for (int number = 0; number < samplesOfThread; ++number) sum += channelSum(sampler(samplePoint(x, y, z, number)));
  out[size.indexOf(x, y, z)] = sum;
}

template <class Sampler>
void launchSamples(Sampler sampler, float* out, ImageSize size) {
  gpuopt::launch(sampleImage<Sampler>, pixelConfig(size), sampler, size, out);
}

template <Filtering FILTERING, class T>
std::vector<float> samplesOnHost(const std::vector<T>& values, ImageSize from, ImageSize size) {
  const FilterByHand<FILTERING, T> sampler{values.data(), from};
  std::vector<float> out(size.count(), 0);
  for (int z = 0; z < size.depth; ++z)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int number = 0; number < samplesOfThread; ++number)
          out[size.indexOf(x, y, z)] += channelSum(sampler(samplePoint(x, y, z, number)));
  return out;
}

// -------------------------------------------------------------------------------- addressing modes

/// What is at an index outside.
enum class Outside { clamp, border, wrap, mirror };

inline constexpr cudaTextureAddressMode addressModeOf(Outside outside) {
  return outside == Outside::clamp    ? cudaAddressModeClamp
         : outside == Outside::border ? cudaAddressModeBorder
         : outside == Outside::wrap   ? cudaAddressModeWrap
                                      : cudaAddressModeMirror;
}

/// The index inside; -1 is the border. No further outside than once the length.
template <Outside OUTSIDE>
__host__ __device__ int indexInside(int i, int n) {
  if constexpr (OUTSIDE == Outside::clamp)
    return clampedIndex(i, n);
  else if constexpr (OUTSIDE == Outside::border)
    return i >= 0 && i < n ? i : -1;
  else if constexpr (OUTSIDE == Outside::wrap)
    return i < 0 ? i + n : i >= n ? i - n : i;
  else
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

template <Outside OUTSIDE>
struct EdgesByHand {
  const float* data;
  ImageSize size;
  __host__ __device__ float operator()(int x, int y) const {
    const int column = indexInside<OUTSIDE>(x, size.width), row = indexInside<OUTSIDE>(y, size.height);
    return column < 0 || row < 0 ? 0.0F : data[size.indexOf(column, row, 0)];
  }
};
struct EdgesInElements {
  cudaTextureObject_t texture;
  __device__ float operator()(int x, int y) const { return tex2D<float>(texture, float(x) + 0.5F, float(y) + 0.5F); }
};
/// Coordinates from 0 to 1: `across` and `down` are the size of an element.
struct EdgesNormalized {
  cudaTextureObject_t texture;
  float across, down;
  __device__ float operator()(int x, int y) const {
    return tex2D<float>(texture, (float(x) + 0.5F) * across, (float(y) + 0.5F) * down);
  }
};

inline constexpr int edgeRadius = 2;  ///< 25 reads for a result

/// The sum of the 5 x 5 elements around each element of a picture.
template <class Reader>
__global__ void addNeighbours(Reader reader, ImageSize size, float* out) {
  const int x = pixelX(), y = pixelY();
  if (!size.holds(x, y, 0)) return;
  float sum = 0;
#pragma unroll
  for (int dy = -edgeRadius; dy <= edgeRadius; ++dy)
#pragma unroll
    for (int dx = -edgeRadius; dx <= edgeRadius; ++dx) sum += reader(x + dx, y + dy);
  out[size.indexOf(x, y, 0)] = sum;
}

template <class Reader>
void launchNeighbours(Reader reader, float* out, ImageSize size) {
  gpuopt::launch(addNeighbours<Reader>, pixelConfig(size), reader, size, out);
}

template <Outside OUTSIDE>
std::vector<float> neighboursOnHost(const std::vector<float>& values, ImageSize size) {
  const EdgesByHand<OUTSIDE> reader{values.data(), size};
  std::vector<float> out(size.count(), 0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int dy = -edgeRadius; dy <= edgeRadius; ++dy)
        for (int dx = -edgeRadius; dx <= edgeRadius; ++dx) out[size.indexOf(x, y, 0)] += reader(x + dx, y + dy);
  return out;
}

}  // namespace experiments
