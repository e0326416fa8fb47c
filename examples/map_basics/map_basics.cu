/// \file
/// The calls of <gpuopt/map.cuh>: a function of each element of an array, of two arrays, and of elements only read.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/map.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

constexpr unsigned BINS = 16;

// From a byte to a fraction.
struct Normalise {
  __host__ __device__ float operator()(unsigned char value) const { return static_cast<float>(value) / 255; }
};

struct Brighten {
  float gamma;
  __host__ __device__ void operator()(float& value) const { value = powf(value, gamma); }
};

struct Blend {
  float share;
  __host__ __device__ float operator()(float a, float b) const { return share * a + (1 - share) * b; }
};

__host__ __device__ unsigned binOf(float value) {
  const auto bin = static_cast<unsigned>(value * BINS);
  return bin < BINS ? bin : BINS - 1;
}

// Stores elsewhere than in the element, which may be const then.
struct Count {
  int* bins;
  __device__ void operator()(float value) const { atomicAdd(bins + binOf(value), 1); }
};

bool run() {
  const std::size_t n = 100003;
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * i * 31 % 251);
  const DeviceArray<unsigned char> pixels(bytes);
  const DeviceArray<float> plain(n), bright(n), both(n);
  const DeviceArray<int> bins(std::vector<int>(BINS, 0));

  gpuopt::transform(pixels.data(), n, plain.data(), Normalise{});                // to another type
  gpuopt::transform(plain.data(), n, bright.data(), gpuopt::Identity{});         // a copy
  gpuopt::forEach(bright.data(), n, Brighten{0.5f});                             // changes each element
  gpuopt::transform(plain.data(), bright.data(), n, both.data(), Blend{0.25f});  // of two arrays
  const float* const read = both.data();
  gpuopt::forEach(read, n, Count{bins.data()});  // reads each element

  const std::vector<float> found = both.toHost();
  std::vector<int> expectedBins(BINS, 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = Normalise{}(bytes[i]);
    float brighter = value;
    Brighten{0.5f}(brighter);
    wrong += std::fabs(found[i] - Blend{0.25f}(value, brighter)) > 1e-5f ? 1 : 0;
    ++expectedBins[binOf(found[i])];
  }
  const bool right = wrong == 0 && bins.toHost() == expectedBins;
  std::printf("%zu pixels: %s\n", n, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("map_basics", run); }
