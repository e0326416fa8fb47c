/// \file
/// Reuse of neighbours: a convolution of 5 x 5 points, and a stencil of 7 points in three dimensions. Their last steps
/// are in reuse_ahead.cuh, the launches of all in reuse_steps.cuh.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr int filterSide = 5, filterRadius = 2;
inline constexpr unsigned filterBlockX = 32, filterBlockY = 8;

struct Filter {
  float weights[filterSide][filterSide];
};

struct Picture {
  int width, height;
};

/// The element of a picture, 0 outside.
__host__ __device__ inline float pixelAt(const float* in, Picture size, int x, int y) {
  return x >= 0 && x < size.width && y >= 0 && y < size.height ? in[std::size_t(y) * size.width + x] : 0.0F;
}

/// Step 1. One thread an element, 25 loads from global memory.
__global__ void convolveDirectly(const float* in, float* out, Picture size, Filter filter) {
  const int x = static_cast<int>(blockIdx.x * filterBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * filterBlockY + threadIdx.y);
  if (x >= size.width || y >= size.height) return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < filterSide; ++j)
#pragma unroll
    for (int i = 0; i < filterSide; ++i)
      sum += filter.weights[j][i] * pixelAt(in, size, x + i - filterRadius, y + j - filterRadius);
  out[std::size_t(y) * size.width + x] = sum;
}

/// Step 2. New: the block loads its tile and a halo of 2 elements once, and reads them from shared memory.
__global__ void convolveTile(const float* in, float* out, Picture size, Filter filter) {
  constexpr int WIDTH = filterBlockX + 2 * filterRadius, HEIGHT = filterBlockY + 2 * filterRadius;
  __shared__ float tile[HEIGHT][WIDTH];
  const int left = static_cast<int>(blockIdx.x * filterBlockX), top = static_cast<int>(blockIdx.y * filterBlockY);
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  for (int j = ty; j < HEIGHT; j += filterBlockY)
    for (int i = tx; i < WIDTH; i += filterBlockX)
      tile[j][i] = pixelAt(in, size, left + i - filterRadius, top + j - filterRadius);
  __syncthreads();
  if (left + tx >= size.width || top + ty >= size.height) return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < filterSide; ++j)
#pragma unroll
    for (int i = 0; i < filterSide; ++i) sum += filter.weights[j][i] * tile[ty + j][tx + i];
  out[std::size_t(top + ty) * size.width + left + tx] = sum;
}

inline constexpr int windowRows = 16;  ///< rows of a thread in step 3

/// Step 3. New: no tile. A thread goes down windowRows rows and loads each row's 5 neighbours once; they belong to 5
/// results, which wait in registers. L1 gives neighbouring lanes what they share.
__global__ void convolveWindow(const float* in, float* out, Picture size, Filter filter) {
  const int x = static_cast<int>(blockIdx.x * filterBlockX * filterBlockY + threadIdx.y * filterBlockX + threadIdx.x);
  const int top = static_cast<int>(blockIdx.y) * windowRows;
  if (x >= size.width) return;
  float sums[filterSide] = {};  // sums[j]: of the row j rows below the last complete one
#pragma unroll
  for (int row = -filterRadius; row < windowRows + filterRadius; ++row) {
    float neighbours[filterSide];
#pragma unroll
    for (int i = 0; i < filterSide; ++i) neighbours[i] = pixelAt(in, size, x + i - filterRadius, top + row);
#pragma unroll
    for (int j = 0; j < filterSide; ++j)
#pragma unroll
      for (int i = 0; i < filterSide; ++i) sums[j] += filter.weights[filterSide - 1 - j][i] * neighbours[i];
    const int y = top + row - filterRadius;
    if (row >= filterRadius && y < size.height) out[std::size_t(y) * size.width + x] = sums[0];
#pragma unroll
    for (int j = 0; j + 1 < filterSide; ++j) sums[j] = sums[j + 1];
    sums[filterSide - 1] = 0;
  }
}

/// Eight neighbours of a row from x - 2 on, for x a multiple of 4; in three accesses where none is outside.
__device__ inline void loadEight(const float* in, Picture size, int x, int y, float (&values)[8]) {
  if (x >= 4 && x + 8 <= size.width && size.width % 4 == 0 && y >= 0 && y < size.height) {
    const float* const from = in + std::size_t(y) * size.width + x;
    const float2 left = *reinterpret_cast<const float2*>(from - 2), right = *reinterpret_cast<const float2*>(from + 4);
    const float4 middle = *reinterpret_cast<const float4*>(from);
    values[0] = left.x;
    values[1] = left.y;
    values[2] = middle.x;
    values[3] = middle.y;
    values[4] = middle.z;
    values[5] = middle.w;
    values[6] = right.x;
    values[7] = right.y;
  } else {
    for (int i = 0; i < 8; ++i) values[i] = pixelAt(in, size, x + i - filterRadius, y);
  }
}

__device__ inline void storeFour(float* out, Picture size, int x, int y, const float (&values)[4]) {
  float* const to = out + std::size_t(y) * size.width + x;
  if (size.width % 4 == 0) {
    *reinterpret_cast<float4*>(to) = {values[0], values[1], values[2], values[3]};
  } else {
    for (int i = 0; i < 4; ++i)
      if (x + i < size.width) to[i] = values[i];
  }
}

/// Step 4. New: 4 neighbouring columns a thread, 3 loads for the 8 elements that they need of a row.
__global__ void convolveVectors(const float* in, float* out, Picture size, Filter filter) {
  const int x =
      4 * static_cast<int>(blockIdx.x * filterBlockX * filterBlockY + threadIdx.y * filterBlockX + threadIdx.x);
  const int top = static_cast<int>(blockIdx.y) * windowRows;
  if (x >= size.width) return;
  float sums[filterSide][4] = {};
#pragma unroll
  for (int row = -filterRadius; row < windowRows + filterRadius; ++row) {
    float neighbours[8];
    loadEight(in, size, x, top + row, neighbours);
#pragma unroll
    for (int j = 0; j < filterSide; ++j)
#pragma unroll
      for (int i = 0; i < filterSide; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[j][k] += filter.weights[filterSide - 1 - j][i] * neighbours[i + k];
    const int y = top + row - filterRadius;
    if (row >= filterRadius && y < size.height) storeFour(out, size, x, y, sums[0]);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int j = 0; j + 1 < filterSide; ++j) sums[j][k] = sums[j + 1][k];
      sums[filterSide - 1][k] = 0;
    }
  }
}

inline std::vector<float> convolutionOnHost(const std::vector<float>& in, Picture size, const Filter& filter) {
  std::vector<float> out(in.size(), 0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int j = 0; j < filterSide; ++j)
        for (int i = 0; i < filterSide; ++i)
          out[std::size_t(y) * size.width + x] +=
              filter.weights[j][i] * pixelAt(in.data(), size, x + i - filterRadius, y + j - filterRadius);
  return out;
}

// ------------------------------------------------------------------------------- three dimensions

inline constexpr unsigned volumeBlockX = 32, volumeBlockY = 8;

struct Volume {
  int width, height, depth;
};

__host__ __device__ inline float voxelAt(const float* in, Volume size, int x, int y, int z) {
  const bool isInside = x >= 0 && x < size.width && y >= 0 && y < size.height && z >= 0 && z < size.depth;
  return isInside ? in[(std::size_t(z) * size.height + y) * size.width + x] : 0.0F;
}

/// The sum of an element's neighbours, less 6 times itself.
__host__ __device__ inline float laplacian(float here, float left, float right, float above, float below, float before,
                                           float behind) {
  return left + right + above + below + before + behind - 6 * here;
}

/// Step 1. One thread an element, 7 loads.
__global__ void stencilDirectly(const float* in, float* out, Volume size) {
  const int x = static_cast<int>(blockIdx.x * volumeBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * volumeBlockY + threadIdx.y), z = static_cast<int>(blockIdx.z);
  if (x >= size.width || y >= size.height) return;
  out[(std::size_t(z) * size.height + y) * size.width + x] =
      laplacian(voxelAt(in, size, x, y, z), voxelAt(in, size, x - 1, y, z), voxelAt(in, size, x + 1, y, z),
                voxelAt(in, size, x, y - 1, z), voxelAt(in, size, x, y + 1, z), voxelAt(in, size, x, y, z - 1),
                voxelAt(in, size, x, y, z + 1));
}

inline constexpr int volumePlanes = 32;  ///< planes of a thread from step 2 on

/// Step 2. New: a thread goes through volumePlanes planes, and keeps the elements before, here and behind in registers.
__global__ void stencilPlanes(const float* in, float* out, Volume size) {
  const int x = static_cast<int>(blockIdx.x * volumeBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * volumeBlockY + threadIdx.y);
  const int first = static_cast<int>(blockIdx.z) * volumePlanes;
  if (x >= size.width || y >= size.height) return;
  float before = voxelAt(in, size, x, y, first - 1), here = voxelAt(in, size, x, y, first);
#pragma unroll 4
  for (int z = first; z < first + volumePlanes && z < size.depth; ++z) {
    const float behind = voxelAt(in, size, x, y, z + 1);
    out[(std::size_t(z) * size.height + y) * size.width + x] =
        laplacian(here, voxelAt(in, size, x - 1, y, z), voxelAt(in, size, x + 1, y, z), voxelAt(in, size, x, y - 1, z),
                  voxelAt(in, size, x, y + 1, z), before, behind);
    before = here;
    here = behind;
  }
}

/// Step 3. New: the neighbours in the plane come from a tile with a halo of one element in shared memory.
__global__ void stencilTiles(const float* in, float* out, Volume size) {
  __shared__ float tile[volumeBlockY + 2][volumeBlockX + 2];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x * volumeBlockX) + tx, y = static_cast<int>(blockIdx.y * volumeBlockY) + ty;
  const int first = static_cast<int>(blockIdx.z) * volumePlanes;
  float before = voxelAt(in, size, x, y, first - 1), here = voxelAt(in, size, x, y, first);
  for (int z = first; z < first + volumePlanes && z < size.depth; ++z) {
    const float behind = voxelAt(in, size, x, y, z + 1);
    tile[ty + 1][tx + 1] = here;
    if (tx == 0) tile[ty + 1][0] = voxelAt(in, size, x - 1, y, z);
    if (tx == volumeBlockX - 1) tile[ty + 1][volumeBlockX + 1] = voxelAt(in, size, x + 1, y, z);
    if (ty == 0) tile[0][tx + 1] = voxelAt(in, size, x, y - 1, z);
    if (ty == volumeBlockY - 1) tile[volumeBlockY + 1][tx + 1] = voxelAt(in, size, x, y + 1, z);
    __syncthreads();
    if (x < size.width && y < size.height)
      out[(std::size_t(z) * size.height + y) * size.width + x] = laplacian(
          here, tile[ty + 1][tx], tile[ty + 1][tx + 2], tile[ty][tx + 1], tile[ty + 2][tx + 1], before, behind);
    __syncthreads();
    before = here;
    here = behind;
  }
}

/// Four neighbours along x, for x a multiple of 4. IS_INNER: y is inside, and rows begin at multiples of 16 bytes.
template <bool IS_INNER>
__device__ float4 voxelsAt(const float* in, Volume size, int x, int y, int z) {
  if constexpr (IS_INNER) {
    if (z < 0 || z >= size.depth) return {0, 0, 0, 0};
    return *reinterpret_cast<const float4*>(in + (std::size_t(z) * size.height + y) * size.width + x);
  } else {
    return {voxelAt(in, size, x, y, z), voxelAt(in, size, x + 1, y, z), voxelAt(in, size, x + 2, y, z),
            voxelAt(in, size, x + 3, y, z)};
  }
}

template <bool IS_INNER>
__device__ void stencilFourColumns(const float* in, float* out, Volume size, int x, int y, int first) {
  float4 before = voxelsAt<IS_INNER>(in, size, x, y, first - 1), here = voxelsAt<IS_INNER>(in, size, x, y, first);
#pragma unroll 4
  for (int z = first; z < first + volumePlanes && z < size.depth; ++z) {
    const float4 behind = voxelsAt<IS_INNER>(in, size, x, y, z + 1);
    const float4 above = voxelsAt<IS_INNER>(in, size, x, y - 1, z), below = voxelsAt<IS_INNER>(in, size, x, y + 1, z);
    const float* const row = in + (std::size_t(z) * size.height + y) * size.width;
    const float left = x > 0 ? row[x - 1] : 0, right = x + 4 < size.width ? row[x + 4] : 0;
    const float results[] = {laplacian(here.x, left, here.y, above.x, below.x, before.x, behind.x),
                             laplacian(here.y, here.x, here.z, above.y, below.y, before.y, behind.y),
                             laplacian(here.z, here.y, here.w, above.z, below.z, before.z, behind.z),
                             laplacian(here.w, here.z, right, above.w, below.w, before.w, behind.w)};
    storeFour(out + std::size_t(z) * size.height * size.width, {size.width, size.height}, x, y, results);
    before = here;
    here = behind;
  }
}

/// Step 4. New, instead of the tile: 4 neighbours a thread, by loads and stores of 16 bytes.
__global__ void __launch_bounds__(volumeBlockX* volumeBlockY, 4)
    stencilVectors(const float* in, float* out, Volume size) {
  const int x = 4 * static_cast<int>(blockIdx.x * volumeBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * volumeBlockY + threadIdx.y);
  const int first = static_cast<int>(blockIdx.z) * volumePlanes;
  if (x >= size.width || y >= size.height) return;
  if (y > 0 && y + 1 < size.height && size.width % 4 == 0)
    stencilFourColumns<true>(in, out, size, x, y, first);
  else
    stencilFourColumns<false>(in, out, size, x, y, first);
}

inline std::vector<float> volumeStencilOnHost(const std::vector<float>& in, Volume size) {
  std::vector<float> out;
  out.reserve(in.size());
  for (int z = 0; z < size.depth; ++z)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto at = [&](int dx, int dy, int dz) { return voxelAt(in.data(), size, x + dx, y + dy, z + dz); };
        out.push_back(
            laplacian(at(0, 0, 0), at(-1, 0, 0), at(1, 0, 0), at(0, -1, 0), at(0, 1, 0), at(0, 0, -1), at(0, 0, 1)));
      }
  return out;
}

}  // namespace experiments
