/// \file
/// Thread coarsening: how many results a thread computes, for a map and a stencil. The matrix product's is a step of
/// matrix_product.cuh.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned coarseBlock = 256;

/// out[i] = 3 in[i] + 1. A thread computes FACTOR results, a block apart, so that lanes stay neighbours.
template <int FACTOR>
__global__ void mapCoarsened(const float* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * coarseBlock * FACTOR + threadIdx.x;
#pragma unroll
  for (int k = 0; k < FACTOR; ++k) {
    const std::size_t i = first + std::size_t{coarseBlock} * k;
    if (i < n) out[i] = 3 * in[i] + 1;
  }
}

template <int FACTOR>
void launchMapCoarsened(const float* in, float* out, std::size_t n) {
  gpuopt::launch(mapCoarsened<FACTOR>, gridFor(ceilDivide(n, FACTOR), coarseBlock), in, out, n);
}

inline std::vector<float> mapOnHost(std::vector<float> values) {
  for (float& value : values) value = 3 * value + 1;
  return values;
}

struct Field {
  unsigned width, height;
};

/// The element of a field, 0 outside.
__host__ __device__ inline float fieldAt(const float* field, Field size, unsigned x, unsigned y) {
  return x < size.width && y < size.height ? field[std::size_t{y} * size.width + x] : 0.0F;
}

/// Each element and its four neighbours, added up. A thread goes down FACTOR rows, and carries two of the five values
/// from each row to the next one.
template <int FACTOR>
__global__ void stencilCoarsened(const float* in, float* out, Field size) {
  const unsigned x = blockIdx.x * coarseBlock + threadIdx.x;
  const unsigned first = blockIdx.y * FACTOR;
  if (x >= size.width) return;
  float above = fieldAt(in, size, x, first - 1), here = fieldAt(in, size, x, first);
#pragma unroll
  for (int k = 0; k < FACTOR; ++k) {
    const unsigned y = first + static_cast<unsigned>(k);
    const float below = fieldAt(in, size, x, y + 1);
    if (y < size.height)
      out[std::size_t{y} * size.width + x] =
          above + here + below + fieldAt(in, size, x - 1, y) + fieldAt(in, size, x + 1, y);
    above = here;
    here = below;
  }
}

template <int FACTOR>
void launchStencilCoarsened(const float* in, float* out, Field size) {
  gpuopt::LaunchConfig config = gridFor(size.width, coarseBlock);
  config.grid.y = static_cast<unsigned>(ceilDivide(size.height, FACTOR));
  gpuopt::launch(stencilCoarsened<FACTOR>, config, in, out, size);
}

inline std::vector<float> stencilOnHost(const std::vector<float>& in, Field size) {
  std::vector<float> out(in.size());
  for (unsigned y = 0; y < size.height; ++y)
    for (unsigned x = 0; x < size.width; ++x)
      out[std::size_t{y} * size.width + x] = fieldAt(in.data(), size, x, y - 1) + fieldAt(in.data(), size, x, y) +
                                             fieldAt(in.data(), size, x, y + 1) + fieldAt(in.data(), size, x - 1, y) +
                                             fieldAt(in.data(), size, x + 1, y);
  return out;
}

}  // namespace experiments
