/// \file
/// Registers: kernels that are allowed fewer of them than they need, loops that are unrolled, and functions that are
/// called.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cmath>
#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned registerBlock = 256, registerValues = 64;

/// One round over a ring of values: each takes in its neighbour, so that all of them are needed all the time.
__host__ __device__ inline void mixRing(float* values) {
#pragma unroll
  for (unsigned k = 0; k < registerValues; ++k)
    values[k] = fmaf(values[(k + 1) % registerValues], 0.5F, values[k] * 0.25F);
}

/// out[i]: 64 values from in[i], mixed `rounds` times and added up. BLOCKS blocks must fit on a multiprocessor,
/// which leaves each thread 65536 / (256 * BLOCKS) registers; what does not fit goes to local memory.
template <unsigned BLOCKS>
__global__ void __launch_bounds__(registerBlock, BLOCKS)
    mixValues(const float* in, float* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  float values[registerValues];
#pragma unroll
  for (unsigned k = 0; k < registerValues; ++k) values[k] = in[i] + static_cast<float>(k);
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) mixRing(values);
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < registerValues; ++k) sum += values[k];
  out[i] = sum;
}

/// The same, with the first of the ring at `first`: an index that only the launch knows needs memory, not registers.
__global__ void __launch_bounds__(registerBlock)
    mixIndexed(const float* in, float* out, std::size_t n, unsigned rounds, unsigned first) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  float values[registerValues];
  for (unsigned k = 0; k < registerValues; ++k) values[k] = in[i] + static_cast<float>(k);
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round)
#pragma unroll 4
    for (unsigned k = 0; k < registerValues; ++k) {
      const unsigned at = (first + k) % registerValues;
      values[at] = fmaf(values[(at + 1) % registerValues], 0.5F, values[at] * 0.25F);
    }
  float sum = 0;
  for (unsigned k = 0; k < registerValues; ++k) sum += values[k];
  out[i] = sum;
}

using MixKernel = void (*)(const float*, float*, std::size_t, unsigned);

inline void launchMix(MixKernel kernel, const float* in, float* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(kernel, gridFor(n, registerBlock), in, out, n, rounds);
}

inline void launchMixIndexed(const float* in, float* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(mixIndexed, gridFor(n, registerBlock), in, out, n, rounds, 0u);
}

inline std::vector<float> mixOnHost(std::vector<float> in, unsigned rounds) {
  for (float& value : in) {
    float values[registerValues];
    for (unsigned k = 0; k < registerValues; ++k) values[k] = value + static_cast<float>(k);
    for (unsigned round = 0; round < rounds; ++round) mixRing(values);
    value = 0;
    for (const float each : values) value += each;
  }
  return in;
}

// --------------------------------------------------------------------------------------- unrolling

inline constexpr unsigned unrollColumn = 1024;

/// out[i]: the sum of column i of a matrix of unrollColumn rows. UNROLL loads stand together in the loop, so that they
/// are on their way together.
template <int UNROLL>
__global__ void sumColumn(const unsigned* in, unsigned* out, std::size_t columns) {
  const std::size_t i = globalThread();
  if (i >= columns) return;
  unsigned sum = 0;
#pragma unroll UNROLL
  for (unsigned row = 0; row < unrollColumn; ++row) sum += in[row * columns + i];
  out[i] = sum;
}

template <int UNROLL>
void launchSumColumn(const unsigned* in, unsigned* out, std::size_t columns) {
  gpuopt::launch(sumColumn<UNROLL>, gridFor(columns, 128), in, out, columns);
}

inline std::vector<unsigned> columnSumsOnHost(const std::vector<unsigned>& in, std::size_t columns) {
  std::vector<unsigned> sums(columns, 0);
  for (std::size_t i = 0; i < in.size(); ++i) sums[i % columns] += in[i];
  return sums;
}

// --------------------------------------------------------------------------------------- functions

__host__ __device__ __forceinline__ unsigned stepInlined(unsigned x) { return x * 1664525u + 1013904223u; }
__host__ __device__ __noinline__ unsigned stepCalled(unsigned x) { return x * 1664525u + 1013904223u; }

/// out[i]: `rounds` steps from in[i], by a function that is inlined, or called.
template <bool IS_CALLED>
__global__ void countSteps(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  unsigned x = in[i];
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) x = (IS_CALLED ? stepCalled(x) : stepInlined(x)) ^ round;
  out[i] = x;
}

template <bool IS_CALLED>
void launchSteps(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(countSteps<IS_CALLED>, gridFor(n, registerBlock), in, out, n, rounds);
}

inline std::vector<unsigned> stepsOnHost(std::vector<unsigned> values, unsigned rounds) {
  for (unsigned& x : values)
    for (unsigned round = 0; round < rounds; ++round) x = stepInlined(x) ^ round;
  return values;
}

}  // namespace experiments
