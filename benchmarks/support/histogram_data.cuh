/// \file
/// Samples of several distributions for benchmarks of histograms, and counts to compare with.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench {

enum class Distribution { uniform, equal, zipf, runs, normal };

struct DistributionName {
  Distribution distribution;
  const char* name;
};

inline constexpr DistributionName distributions[] = {{Distribution::uniform, "uniform"},
                                                     {Distribution::equal, "equal"},
                                                     {Distribution::zipf, "zipf"},
                                                     {Distribution::runs, "runs"},
                                                     {Distribution::normal, "normal"}};

// 24 random bits: the finaliser of SplitMix64 (Steele et al. 2014).
__device__ inline std::uint32_t randomBits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 40);
}

// A number below 2^24. Of runs, 61 are equal; Zipf's ranks are scattered over the bins.
__device__ inline std::uint32_t sampleAt(std::size_t i, Distribution distribution, std::uint32_t bins) {
  constexpr float UNIT = 1.0f / (1u << 24);
  const std::uint32_t random = randomBits(distribution == Distribution::runs ? i / 61 : i);
  if (distribution == Distribution::equal) return 6207000;
  if (distribution == Distribution::zipf) {
    const float rank = expf(static_cast<float>(random) * UNIT * logf(static_cast<float>(bins)));
    const std::uint64_t bin = static_cast<std::uint64_t>(rank) * 1000003 % bins;
    return static_cast<std::uint32_t>(((2 * bin + 1) << 23) / bins);
  }
  if (distribution != Distribution::normal) return random;
  const float radius = sqrtf(-2 * logf((static_cast<float>(random) + 1) * UNIT));
  const float angle = static_cast<float>(randomBits(~i)) * UNIT * 6.2831853f;
  const float normal = 0.5f + 0.125f * radius * cosf(angle);
  return normal <= 0 ? 0 : normal >= 1 ? (1u << 24) - 1 : static_cast<std::uint32_t>(normal * (1u << 24));
}

// Samples of [0, 1) in floating point, else of all values of the type.
template <class T>
__global__ void fillSamples(T* samples, std::size_t n, Distribution distribution, std::uint32_t bins) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const std::uint32_t sample = sampleAt(i, distribution, bins);
    if constexpr (std::is_floating_point_v<T>)
      samples[i] = static_cast<T>(sample) / (1u << 24);
    else
      samples[i] = static_cast<T>(sample >> (24 - 8 * sizeof(T)));
  }
}

// Keys of [0, bins), and values of [0, 1) that are multiples of 2^-24. Integers are those multiples.
template <class T>
__global__ void fillPairs(int* keys, T* values, std::size_t n, Distribution distribution, std::uint32_t bins) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const std::uint32_t value = randomBits(~i);
    keys[i] = static_cast<int>(std::uint64_t{sampleAt(i, distribution, bins)} * bins >> 24);
    values[i] = std::is_floating_point_v<T> ? static_cast<T>(value) / (1u << 24) : static_cast<T>(value);
  }
}

// The plainest way to count.
template <class T, class SlotOf>
__global__ void countPlainly(const T* samples, std::size_t n, SlotOf slotOf, std::uint32_t bins, unsigned channels,
                             unsigned* counts) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const std::uint32_t slot = slotOf(samples[i]);
    if (slot < bins) atomicAdd(counts + i % channels * bins + slot, 1u);
  }
}

// The same for pixels of three bytes with bins of their own, for pairs of samples in a square of bins, and for sums of
// weights that are multiples of 2^-24: a thread for each.
template <class SlotOf>
__global__ void countOwnChannels(const std::uint8_t* pixels, std::size_t n, SlotOf first, SlotOf second, SlotOf third,
                                 unsigned* counts) {
  const std::size_t pixel = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, i = 3 * pixel;
  if (pixel >= n) return;
  const unsigned slots[] = {first(pixels[i]), second(pixels[i + 1]), third(pixels[i + 2])};
  if (slots[0] < first.bins) atomicAdd(counts + slots[0], 1u);
  if (slots[1] < second.bins) atomicAdd(counts + first.bins + slots[1], 1u);
  if (slots[2] < third.bins) atomicAdd(counts + first.bins + second.bins + slots[2], 1u);
}

template <class SlotOf>
__global__ void countPairs(const float* x, const float* y, SlotOf slotOf, unsigned* counts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned side = slotOf.edges.exact.bins, row = slotOf(x[i]), col = slotOf(y[i]);
  if (row < side && col < side) atomicAdd(counts + row * side + col, 1u);
}

template <class SlotOf>
__global__ void addWeights(const float* samples, const float* weights, SlotOf slotOf, unsigned long long* sums) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned slot = slotOf(samples[i]);
  if (slot < slotOf.edges.exact.bins) atomicAdd(sums + slot, static_cast<unsigned long long>(weights[i] * (1u << 24)));
}

struct AreSumsEqual {
  const float* out;
  const unsigned long long* sums;
  __device__ bool operator()(std::size_t i) const { return out[i] == static_cast<float>(sums[i]) / (1u << 24); }
};

// The plainest way to reduce those pairs by keys: sums and minima of the multiples of 2^-24.
template <class T>
__global__ void reducePlainly(const int* keys, const T* values, std::size_t n, unsigned long long* sums,
                              unsigned* minima) {
  constexpr T UNIT = std::is_floating_point_v<T> ? 1u << 24 : 1;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto multiple = static_cast<std::uint32_t>(values[i] * UNIT);
    atomicAdd(sums + keys[i], static_cast<unsigned long long>(multiple));
    atomicMin(minima + keys[i], multiple);
  }
}

struct AreCountsEqual {
  const unsigned* a;
  const unsigned* b;
  __device__ bool operator()(std::size_t i) const { return a[i] == b[i]; }
};

}  // namespace bench
