/// \file
/// A table in constant memory, in global memory, and in global memory through the read-only path.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cmath>
#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned spaceWords = 1024;
inline constexpr unsigned spaceBlock = 256;

__constant__ unsigned constantWords[spaceWords];

struct ConstantTable {
  __device__ unsigned operator()(unsigned i) const { return constantWords[i]; }
};
struct GlobalTable {
  const unsigned* words;
  __device__ unsigned operator()(unsigned i) const { return words[i]; }
};
struct ReadOnlyTable {
  const unsigned* words;
  __device__ unsigned operator()(unsigned i) const { return __ldg(words + i); }
};

inline void setConstantTable(const unsigned* words) {
  gpuopt::check(cudaMemcpyToSymbol(constantWords, words, sizeof constantWords), "cudaMemcpyToSymbol");
}

/// out[i]: the sum of `rounds` words of the table. laneStep 0: a warp reads one word at a time; 1: its lanes
/// read 32 neighbours; 33: 32 words of as many lines.
template <class Table>
__global__ void lookUp(Table table, unsigned* out, std::size_t n, unsigned rounds, unsigned laneStep) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const unsigned first = threadIdx.x % 32 * laneStep + blockIdx.x;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned round = 0; round < rounds; ++round) sum += table((first + round) % spaceWords);
  out[i] = sum;
}

template <class Table>
void launchLookUp(Table table, unsigned* out, std::size_t n, unsigned rounds, unsigned laneStep) {
  gpuopt::launch(lookUp<Table>, gridFor(n, spaceBlock), table, out, n, rounds, laneStep);
}

inline std::vector<unsigned> lookUpOnHost(const std::vector<unsigned>& words, std::size_t n, unsigned rounds,
                                          unsigned laneStep) {
  std::vector<unsigned> out(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (unsigned round = 0; round < rounds; ++round)
      out[i] += words[(i % 32 * laneStep + i / spaceBlock + round) % spaceWords];
  return out;
}

// ------------------------------------------------------------------------------ coefficients of all

inline constexpr unsigned coefficients = 16;

/// As a parameter of a kernel, by value: parameters are in constant memory.
struct ParameterCoefficients {
  float values[coefficients];
  __device__ float operator()(unsigned k) const { return values[k]; }
};
struct ConstantCoefficients {
  __device__ float operator()(unsigned k) const { return __uint_as_float(constantWords[k]); }
};
struct GlobalCoefficients {
  const float* values;
  __device__ float operator()(unsigned k) const { return values[k]; }
};

/// Copies the coefficients to shared memory first, or does not.
enum class Staging { none, shared };

/// out[i]: `rounds` times the polynomial with these coefficients, from in[i] on, each argument being the last value.
template <Staging STAGING, class Source>
__global__ void evaluate(Source source, const float* in, float* out, std::size_t n, unsigned rounds) {
  [[maybe_unused]] __shared__ float shared[coefficients];
  if constexpr (STAGING == Staging::shared) {
    if (threadIdx.x < coefficients) shared[threadIdx.x] = source(threadIdx.x);
    __syncthreads();
  }
  const std::size_t i = globalThread();
  if (i >= n) return;
  float x = in[i];
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    float value = 0;
#pragma unroll
    for (unsigned k = 0; k < coefficients; ++k) {
      if constexpr (STAGING == Staging::shared)
        value = fmaf(value, x, shared[k]);
      else
        value = fmaf(value, x, source(k));
    }
    x = value;
  }
  out[i] = x;
}

template <Staging STAGING, class Source>
void launchEvaluate(Source source, const float* in, float* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(evaluate<STAGING, Source>, gridFor(n, spaceBlock), source, in, out, n, rounds);
}

inline std::vector<float> evaluateOnHost(const ParameterCoefficients& coefficient, std::vector<float> values,
                                         unsigned rounds) {
  for (float& x : values)
    for (unsigned round = 0; round < rounds; ++round) {
      float value = 0;
      for (const float each : coefficient.values) value = std::fmaf(value, x, each);
      x = value;
    }
  return values;
}

}  // namespace experiments
