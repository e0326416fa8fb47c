/// \file
/// What the ladders' arrays and matrices hold.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ladders {

/// The element at an index: a hash. Unsigned ones take any value; floats are in [1, 2) and use the whole
/// mantissa.
template <class T>
__host__ __device__ inline T elementAt(std::size_t index) {
  std::uint64_t h = index * 0x9E3779B97F4A7C15ull + 1;
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
  const auto word = static_cast<std::uint32_t>(h >> 32);
  if constexpr (std::is_same_v<T, float>)
    return 1 + static_cast<float>(word >> 9) * 0x1p-23F;
  else
    return word;
}

template <class T>
__global__ void fillKernel(T* data, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    data[i] = elementAt<T>(i);
}

/// Threads that go through n elements together.
inline gpuopt::LaunchConfig loopConfig(std::size_t n) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((std::min)((n + 255) / 256, std::size_t{4096})));
  config.block = dim3(256);
  return config;
}

template <class T>
void fill(T* data, std::size_t n) {
  gpuopt::launch(fillKernel<T>, loopConfig(n), data, n);
}

}  // namespace ladders
