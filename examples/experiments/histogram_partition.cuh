/// \file
/// Histograms of more bins than shared memory has room for: a partition brings the values of neighbouring bins together
/// first.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"
#include "histogram.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned manyBins = 1u << 20;
inline constexpr unsigned rangeBins = 1u << 13;  ///< bins that a block counts in shared memory
inline constexpr unsigned binRanges = manyBins / rangeBins;
inline constexpr unsigned valuesOfThread = 16;
inline constexpr unsigned tileValues = histogramBlock * valuesOfThread;
inline constexpr unsigned blocksOfRange = 4;
static_assert(binRanges <= histogramBlock, "thread r has range r");

/// Memory for a partition of n values.
struct PartitionMemory {
  unsigned short* values;  ///< n of them, range by range; within its range a value has 13 bits
  unsigned* sizes;         ///< of each range; zeros before
  unsigned* ends;          ///< of each range in `values`; begins of ranges while they are filled
};

/// Step 1. Every value is one atomic in global memory.
__global__ void countManyGlobally(const unsigned* data, std::size_t n, unsigned* bins) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += threads) atomicAdd(&bins[data[i]], 1u);
}

/// Step 2. New: shared memory again. Block b reads all values, and counts those of range b.
__global__ void countRangesOfAll(const unsigned* data, std::size_t n, unsigned* bins) {
  __shared__ unsigned own[rangeBins];
  for (unsigned i = threadIdx.x; i < rangeBins; i += histogramBlock) own[i] = 0;
  __syncthreads();
  for (std::size_t i = threadIdx.x; i < n; i += histogramBlock)
    if (data[i] / rangeBins == blockIdx.x) atomicAdd(&own[data[i] % rangeBins], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < rangeBins; i += histogramBlock) bins[blockIdx.x * rangeBins + i] += own[i];
}

/// Step 3. New: values are read twice only. Four kernels: the first counts how many values each range has,
__global__ void sizeRanges(const unsigned* data, std::size_t n, PartitionMemory memory) {
  __shared__ unsigned own[binRanges];
  if (threadIdx.x < binRanges) own[threadIdx.x] = 0;
  __syncthreads();
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = globalThread(); i < n; i += threads) atomicAdd(&own[data[i] / rangeBins], 1u);
  __syncthreads();
  if (threadIdx.x < binRanges) atomicAdd(&memory.sizes[threadIdx.x], own[threadIdx.x]);
}

/// the second where each range begins,
__global__ void placeRanges(PartitionMemory memory) {
  unsigned begin = 0;
  for (unsigned range = 0; range < threadIdx.x; ++range) begin += memory.sizes[range];
  memory.ends[threadIdx.x] = begin;
}

/// the third writes values to their ranges, a tile of the block at a time, which takes room for all its values of a
/// range at once,
__global__ void partitionValues(const unsigned* data, std::size_t n, PartitionMemory memory) {
  __shared__ unsigned counts[binRanges], begins[binRanges];
  for (std::size_t first = std::size_t{blockIdx.x} * tileValues; first < n;
       first += std::size_t{gridDim.x} * tileValues) {
    if (threadIdx.x < binRanges) counts[threadIdx.x] = 0;
    __syncthreads();
    unsigned values[valuesOfThread], ranks[valuesOfThread];
#pragma unroll
    for (unsigned v = 0; v < valuesOfThread; ++v) {
      const std::size_t i = first + v * histogramBlock + threadIdx.x;
      values[v] = i < n ? data[i] : manyBins;
      if (i < n) ranks[v] = atomicAdd(&counts[values[v] / rangeBins], 1u);
    }
    __syncthreads();
    if (threadIdx.x < binRanges) begins[threadIdx.x] = atomicAdd(&memory.ends[threadIdx.x], counts[threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (unsigned v = 0; v < valuesOfThread; ++v)
      if (values[v] < manyBins)
        memory.values[begins[values[v] / rangeBins] + ranks[v]] = static_cast<unsigned short>(values[v] % rangeBins);
  }
}

/// and the last counts range by range in shared memory, by several blocks each.
__global__ void countPartition(PartitionMemory memory, unsigned* bins) {
  __shared__ unsigned own[rangeBins];
  for (unsigned i = threadIdx.x; i < rangeBins; i += histogramBlock) own[i] = 0;
  __syncthreads();
  const unsigned range = blockIdx.x / blocksOfRange, part = blockIdx.x % blocksOfRange;
  const unsigned end = memory.ends[range], begin = end - memory.sizes[range];
  for (unsigned i = begin + part * histogramBlock + threadIdx.x; i < end; i += blocksOfRange * histogramBlock)
    atomicAdd(&own[memory.values[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < rangeBins; i += histogramBlock)
    if (own[i] > 0) atomicAdd(&bins[range * rangeBins + i], own[i]);
}

using ManyBinsLaunch = void (*)(const unsigned*, std::size_t, unsigned*, const PartitionMemory&, unsigned);

struct ManyBinsStep {
  const char* name;
  ManyBinsLaunch launch;  ///< adds to bins, which are zeros before; `blocks` fill the device
};

inline void launchManyGlobally(const unsigned* data, std::size_t n, unsigned* bins, const PartitionMemory&,
                               unsigned blocks) {
  gpuopt::launch(countManyGlobally, gridFor(std::size_t{blocks} * histogramBlock, histogramBlock), data, n, bins);
}

inline void launchRangesOfAll(const unsigned* data, std::size_t n, unsigned* bins, const PartitionMemory&, unsigned) {
  gpuopt::launch(countRangesOfAll, gridFor(std::size_t{binRanges} * histogramBlock, histogramBlock), data, n, bins);
}

inline void launchPartitioned(const unsigned* data, std::size_t n, unsigned* bins, const PartitionMemory& memory,
                              unsigned blocks) {
  const auto all = gridFor(std::size_t{blocks} * histogramBlock, histogramBlock);
  gpuopt::check(cudaMemsetAsync(memory.sizes, 0, binRanges * sizeof(unsigned)), "cudaMemsetAsync");
  gpuopt::launch(sizeRanges, all, data, n, memory);
  gpuopt::launch(placeRanges, gridFor(binRanges, binRanges), memory);
  gpuopt::launch(partitionValues, all, data, n, memory);
  gpuopt::launch(countPartition, gridFor(std::size_t{binRanges} * blocksOfRange * histogramBlock, histogramBlock),
                 memory, bins);
}

inline constexpr ManyBinsStep manyBinsSteps[] = {
    {"global atomics", launchManyGlobally},
    {"a range a block, which reads all", launchRangesOfAll},
    {"partition by ranges", launchPartitioned},
};

inline std::vector<unsigned> manyBinsOnHost(const std::vector<unsigned>& data) {
  std::vector<unsigned> bins(manyBins, 0);
  for (const unsigned value : data) ++bins[value];
  return bins;
}

}  // namespace experiments
