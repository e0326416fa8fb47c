/// \file
/// The last steps of convolution and stencil: threads load ahead of what they compute.
// SPDX-License-Identifier: MIT
#pragma once

#include "reuse.cuh"

#include <cstddef>

namespace experiments {

inline constexpr unsigned aheadBlock = 256;
static_assert(aheadBlock == filterBlockX * filterBlockY && aheadBlock == volumeBlockX * volumeBlockY);

// Loads without branches: whether an element is there is a predicate, and later loads need not wait.
__device__ inline float oneIf(const float* from, bool isThere) {
  float one = 0;
  if (isThere) one = __ldg(from);
  return one;
}
__device__ inline float2 twoIf(const float* from, bool isThere) {
  float2 two = {0, 0};
  if (isThere) two = __ldg(reinterpret_cast<const float2*>(from));
  return two;
}

/// Four neighbours, of which the first `count` are there. IS_ALIGNED: all or none, at a multiple of 16 bytes.
template <bool IS_ALIGNED>
__device__ float4 fourIf(const float* from, int count) {
  float4 four = {0, 0, 0, 0};
  if constexpr (IS_ALIGNED) {
    if (count > 0) four = __ldg(reinterpret_cast<const float4*>(from));
  } else {
    four = {oneIf(from, count > 0), oneIf(from + 1, count > 1), oneIf(from + 2, count > 2), oneIf(from + 3, count > 3)};
  }
  return four;
}

// --------------------------------------------------------------------------------------- convolution

/// Eight neighbours of a row from x - 2 on, for x a multiple of 4; 0 outside. IS_ALIGNED: so is the width.
template <bool IS_ALIGNED>
__device__ void loadRow(const float* in, Picture size, int x, int y, bool isWanted, float (&row)[8]) {
  const bool isThere = isWanted && y >= 0 && y < size.height;
  const float* const from = in + std::ptrdiff_t(y) * size.width + x;
  if constexpr (IS_ALIGNED) {
    const float2 left = twoIf(from - 2, isThere && x > 0), right = twoIf(from + 4, isThere && x + 4 < size.width);
    const float4 middle = fourIf<true>(from, isThere ? 4 : 0);
    row[0] = left.x, row[1] = left.y, row[2] = middle.x, row[3] = middle.y;
    row[4] = middle.z, row[5] = middle.w, row[6] = right.x, row[7] = right.y;
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) row[i] = oneIf(from + i - 2, isThere && x + i >= 2 && x + i - 2 < size.width);
  }
}

/// A row belongs to five results, of which it completes sums[at].
__device__ inline void addRow(float (&sums)[filterSide][4], const Filter& filter, const float (&row)[8], int at) {
#pragma unroll
  for (int j = 0; j < filterSide; ++j)
#pragma unroll
    for (int i = 0; i < filterSide; ++i)
#pragma unroll
      for (int k = 0; k < 4; ++k) sums[(at + j) % filterSide][k] += filter.weights[filterSide - 1 - j][i] * row[i + k];
}

inline constexpr int rowsAhead = 2;

// Rows of a block. On an H200, 2026-11-23, of 42, 56, 83 and 168 this was best: 0.85, 0.87, 0.86 and 0.83 of a copy.
// 168 fill the GPU with one wave of blocks.
inline constexpr int aheadRows = 56;

/// Rows first to last - 1 of four columns. Unrolled until all indices of registers are constants.
template <bool IS_ALIGNED>
__device__ void convolveRows(const float* in, float* out, Picture size, const Filter& filter, int x, int first,
                             int last) {
  float sums[filterSide][4] = {}, ahead[rowsAhead][8];
#pragma unroll
  for (int a = 0; a < rowsAhead; ++a) loadRow<IS_ALIGNED>(in, size, x, first - filterRadius + a, true, ahead[a]);
  for (int base = first - filterRadius; base < last + filterRadius; base += filterSide * rowsAhead) {
#pragma unroll
    for (int u = 0; u < filterSide * rowsAhead; ++u) {
      const int row = base + u, y = row - filterRadius;
      addRow(sums, filter, ahead[u % rowsAhead], u % filterSide);
      loadRow<IS_ALIGNED>(in, size, x, row + rowsAhead, row + rowsAhead < last + filterRadius, ahead[u % rowsAhead]);
      if (y >= first && y < last) storeFour(out, size, x, y, sums[u % filterSide]);
#pragma unroll
      for (int k = 0; k < 4; ++k) sums[u % filterSide][k] = 0;
    }
  }
}

/// Step 5. New: two rows are on their way while one is used, and windows are longer, because four rows are read twice
/// where two of them meet.
__global__ void __launch_bounds__(aheadBlock, 3)
    convolveAhead(const float* in, float* out, Picture size, Filter filter) {
  const int thread = static_cast<int>(threadIdx.y * filterBlockX + threadIdx.x);
  const int x = 4 * (static_cast<int>(blockIdx.x * aheadBlock) + thread);
  const int pieces = static_cast<int>(gridDim.y), rows = (size.height + pieces - 1) / pieces;
  const int first = static_cast<int>(blockIdx.y) * rows, last = min(first + rows, size.height);
  if (x >= size.width) return;
  if (size.width % 4 == 0)
    convolveRows<true>(in, out, size, filter, x, first, last);
  else
    convolveRows<false>(in, out, size, filter, x, first, last);
}

// ------------------------------------------------------------------------------- three dimensions

inline constexpr int rowsTogether = 2;

// Planes of a block. On an H200, 2026-11-23, of 16, 32, 64 and 128: 0.92, 0.91, 0.91 and 0.81 of a copy.
inline constexpr int aheadPlanes = 16;

/// What a thread of the stencil knows of its columns before it begins.
struct Surroundings {
  int count[rowsTogether];  ///< elements of its rows that are there
  int above, below;         ///< and of the rows on either side
  bool hasLeft, hasRight;
};

__device__ inline Surroundings surroundingsOf(Volume size, int x, int y) {
  Surroundings around{};
  const int columns = min(4, size.width - x);
#pragma unroll
  for (int r = 0; r < rowsTogether; ++r) around.count[r] = y + r < size.height ? columns : 0;
  around.above = y > 0 && y < size.height ? columns : 0;
  around.below = y + rowsTogether < size.height ? columns : 0;
  around.hasLeft = x > 0;
  around.hasRight = x + 4 < size.width;
  return around;
}

/// Two rows of four columns, planes first to last - 1. The plane after the next one is on its way.
template <bool IS_ALIGNED>
__device__ void stencilTwoRows(const float* in, float* out, Volume size, int x, int y, int first, int last) {
  const Surroundings around = surroundingsOf(size, x, y);
  const int width = size.width, end = min(last + 1, size.depth);
  const std::ptrdiff_t plane = std::ptrdiff_t(width) * size.height;
  const float* at = in + plane * first + std::ptrdiff_t(y) * width + x;
  float* to = out + (at - in);
  float4 ring[4][rowsTogether];  // planes z - 1, z, z + 1, z + 2
  const auto rowIf = [&](int p, int z, int r) {
    return fourIf<IS_ALIGNED>(at + p * plane + r * width, z >= 0 && z < end ? around.count[r] : 0);
  };
#pragma unroll
  for (int p = 0; p < 3; ++p)
#pragma unroll
    for (int r = 0; r < rowsTogether; ++r) ring[p][r] = rowIf(p - 1, first - 1 + p, r);
  for (int base = first; base < last; base += 4) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int z = base + u;
      const bool isWanted = z < last;
      const float4 above = fourIf<IS_ALIGNED>(at - width, isWanted ? around.above : 0);
      const float4 below = fourIf<IS_ALIGNED>(at + rowsTogether * width, isWanted ? around.below : 0);
      float left[rowsTogether], right[rowsTogether];
#pragma unroll
      for (int r = 0; r < rowsTogether; ++r) {
        left[r] = oneIf(at + r * width - 1, around.hasLeft && isWanted && around.count[r] > 0);
        right[r] = oneIf(at + r * width + 4, around.hasRight && isWanted && around.count[r] > 0);
      }
      float4(&here)[rowsTogether] = ring[(u + 1) % 4];
#pragma unroll
      for (int r = 0; r < rowsTogether; ++r) {
        ring[(u + 3) % 4][r] = rowIf(2, z + 2, r);
        const float4 &before = ring[u % 4][r], &behind = ring[(u + 2) % 4][r];
        const float4 upper = r == 0 ? above : here[0], lower = r == 0 ? here[1] : below;
        const float results[] = {laplacian(here[r].x, left[r], here[r].y, upper.x, lower.x, before.x, behind.x),
                                 laplacian(here[r].y, here[r].x, here[r].z, upper.y, lower.y, before.y, behind.y),
                                 laplacian(here[r].z, here[r].y, here[r].w, upper.z, lower.z, before.z, behind.z),
                                 laplacian(here[r].w, here[r].z, right[r], upper.w, lower.w, before.w, behind.w)};
        if (isWanted && around.count[r] > 0) storeFour(to - x, {width, size.height}, x, r, results);
      }
      at += plane;
      to += plane;
    }
  }
}

/// Step 5. New: two rows a thread, which are each other's neighbours above and below, and a plane ahead.
__global__ void __launch_bounds__(aheadBlock, 3) stencilAhead(const float* in, float* out, Volume size) {
  const int x = 4 * static_cast<int>(blockIdx.x * volumeBlockX + threadIdx.x);
  const int y = rowsTogether * static_cast<int>(blockIdx.y * volumeBlockY + threadIdx.y);
  const int pieces = static_cast<int>(gridDim.z), planes = (size.depth + pieces - 1) / pieces;
  const int first = static_cast<int>(blockIdx.z) * planes, last = min(first + planes, size.depth);
  if (x >= size.width || y >= size.height) return;
  if (size.width % 4 == 0)
    stencilTwoRows<true>(in, out, size, x, y, first, last);
  else
    stencilTwoRows<false>(in, out, size, x, y, first, last);
}

}  // namespace experiments
