/// \file
/// Histograms of bytes, step by step: ever fewer atomics, and ever fewer threads that want the same word.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned histogramBins = 256;
inline constexpr unsigned histogramBlock = 256;

/// Step 1. Every element is one atomic in global memory; all threads of the device share 256 words.
__global__ void histogramGlobal(const unsigned char* data, std::size_t n, unsigned* bins) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += threads) atomicAdd(&bins[data[i]], 1u);
}

/// Step 2 and 3. New: a histogram of its own for the block, or COPIES of them, each for some of its threads,
/// in shared memory; they are added to the others only in the end. With several copies fewer lanes of
/// different warps meet. Left: lanes of one warp that have the same value.
template <unsigned COPIES>
__global__ void histogramPrivate(const unsigned char* data, std::size_t n, unsigned* bins) {
  __shared__ unsigned own[COPIES][histogramBins];
  for (unsigned i = threadIdx.x; i < COPIES * histogramBins; i += histogramBlock)
    own[i / histogramBins][i % histogramBins] = 0;
  __syncthreads();

  unsigned* mine = own[threadIdx.x / 32 % COPIES];
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += threads) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();

  unsigned sum = 0;
  for (unsigned copy = 0; copy < COPIES; ++copy) sum += own[copy][threadIdx.x];
  if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
}

inline constexpr unsigned runBytes = 16;

/// The bytes from data[first] on, 16 of them or what is left, by one load where all are there. `data` is
/// aligned to 16 bytes.
__device__ inline unsigned loadRun(const unsigned char* data, std::size_t n, std::size_t first,
                                   unsigned (&words)[runBytes / 4]) {
  if (first + runBytes <= n) {
    const uint4 run = *reinterpret_cast<const uint4*>(data + first);
    words[0] = run.x, words[1] = run.y, words[2] = run.z, words[3] = run.w;
    return runBytes;
  }
  const auto count = static_cast<unsigned>(n - first);
#pragma unroll
  for (unsigned i = 0; i < runBytes; ++i) {
    if (i % 4 == 0) words[i / 4] = 0;
    if (i < count) words[i / 4] |= unsigned{data[first + i]} << 8 * (i % 4);
  }
  return count;
}

/// Step 4. New: a thread takes 16 neighbours at once, and equal ones in a row are one atomic. That helps
/// where neighbours are alike, as in pictures.
__global__ void histogramAggregated(const unsigned char* data, std::size_t n, unsigned* bins) {
  __shared__ unsigned own[histogramBins];
  own[threadIdx.x] = 0;
  __syncthreads();

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = runBytes * globalThread(); first < n; first += runBytes * threads) {
    unsigned words[runBytes / 4];
    const unsigned count = loadRun(data, n, first, words);
    unsigned value = words[0] & 255, alike = 1;
#pragma unroll
    for (unsigned i = 1; i < runBytes; ++i) {
      const unsigned next = words[i / 4] >> 8 * (i % 4) & 255;
      if (i < count && next != value) {
        atomicAdd(&own[value], alike);
        value = next;
        alike = 0;
      }
      if (i < count) ++alike;
    }
    atomicAdd(&own[value], alike);
  }
  __syncthreads();
  if (own[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/// Step 5. New: the lanes of a warp that have the same value find each other, and one adds for all. No word
/// is wanted by two lanes of a warp any more.
__global__ void histogramMatched(const unsigned char* data, std::size_t n, unsigned* bins) {
  __shared__ unsigned own[histogramBins];
  own[threadIdx.x] = 0;
  __syncthreads();

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const unsigned lane = threadIdx.x % 32;
  for (std::size_t first = globalThread() - lane; first < n; first += threads) {  // the same for all lanes
    const unsigned value = first + lane < n ? data[first + lane] : histogramBins;
    const unsigned same = __match_any_sync(0xFFFFFFFFu, value);
    const bool isFirst = (same & ((1u << lane) - 1)) == 0;
    if (isFirst && value < histogramBins) atomicAdd(&own[value], static_cast<unsigned>(__popc(same)));
  }
  __syncthreads();
  if (own[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

using HistogramKernel = void (*)(const unsigned char*, std::size_t, unsigned*);

struct HistogramStep {
  const char* name;
  HistogramKernel kernel;
};

inline constexpr HistogramStep histogramSteps[] = {
    {"global atomics", histogramGlobal},
    {"one histogram a block", histogramPrivate<1>},
    {"one histogram a warp", histogramPrivate<histogramBlock / 32>},
    {"runs of equal values", histogramAggregated},
    {"equal values of a warp", histogramMatched},
};

/// Adds to bins, which are zeros before. `blocks` fill the device: its blocks are many values each.
inline void launchHistogram(const HistogramStep& step, const unsigned char* data, std::size_t n, unsigned* bins,
                            unsigned blocks) {
  gpuopt::launch(step.kernel, gridFor(std::size_t{blocks} * histogramBlock, histogramBlock), data, n, bins);
}

inline std::vector<unsigned> histogramOnHost(const std::vector<unsigned char>& data) {
  std::vector<unsigned> bins(histogramBins, 0);
  for (const unsigned char value : data) ++bins[value];
  return bins;
}

}  // namespace experiments
