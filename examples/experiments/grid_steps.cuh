/// \file
/// Steps of a grid, each of which needs the results that all blocks have computed in the step before.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <gpuopt/grid/arrival.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cooperative_groups.h>

#include <vector>

namespace experiments {

inline constexpr unsigned gridStepBlock = 256;

/// How the blocks wait for each other between two steps.
enum class GridBarrier {
  launch,        ///< each step is a launch
  programmatic,  ///< the same; a launch may begin before the one before has ended, and waits for it itself
  ticket,        ///< every other step is done by one block: by the last one that draws a ticket
  gridSync       ///< one cooperative launch, whose blocks are all resident, and grid.sync()
};

/// Two arrays of a word for each block, read and written in turns, and the counter of the tickets, which is 0 between
/// launches.
struct GridWords {
  unsigned *even, *odd, *counter;
};

/// A step: block b adds 1 to what the block after it had.
__device__ inline void stepOf(unsigned block, const unsigned* from, unsigned* to) {
  to[block] = from[(block + 1) % gridDim.x] + 1;
}

template <bool OVERLAPS>
__global__ void oneStep(const unsigned* from, unsigned* to) {
  if constexpr (OVERLAPS) gpuopt::detail::overlapPreviousKernel();
  if (threadIdx.x == 0) stepOf(blockIdx.x, from, to);
}

/// Two steps: the last block that has done the first one does the second one for all.
__global__ void twoSteps(GridWords words) {
  __shared__ bool isLast;
  if (threadIdx.x == 0) {
    stepOf(blockIdx.x, words.even, words.odd);
    isLast = gpuopt::detail::arriveLast(words.counter, gridDim.x);
  }
  __syncthreads();
  if (!isLast) return;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) stepOf(block, words.odd, words.even);
}

__global__ void allSteps(GridWords words, unsigned steps) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned step = 0; step < steps; ++step) {
    if (step > 0) grid.sync();
    if (threadIdx.x == 0 && step % 2 == 0) stepOf(blockIdx.x, words.even, words.odd);
    if (threadIdx.x == 0 && step % 2 == 1) stepOf(blockIdx.x, words.odd, words.even);
  }
}

inline void launchAllSteps(GridWords words, unsigned blocks, unsigned steps) {
  void* arguments[] = {&words, &steps};
  gpuopt::check(cudaLaunchCooperativeKernel(allSteps, dim3(blocks), dim3(gridStepBlock), arguments, 0, nullptr),
                "cudaLaunchCooperativeKernel");
}

/// An even number of steps; the results are in words.even.
inline void launchGridSteps(GridBarrier how, const GridWords& words, unsigned blocks, unsigned steps) {
  if (how == GridBarrier::gridSync) return launchAllSteps(words, blocks, steps);
  gpuopt::LaunchConfig config = gridFor(std::size_t{blocks} * gridStepBlock, gridStepBlock);
  config.programmatic = how == GridBarrier::programmatic;
  for (unsigned step = 0; step < steps; step += 2) {
    if (how == GridBarrier::ticket) {
      gpuopt::launch(twoSteps, config, words);
    } else {
      const auto kernel = how == GridBarrier::programmatic ? oneStep<true> : oneStep<false>;
      gpuopt::launch(kernel, config, words.even, words.odd);
      gpuopt::launch(kernel, config, words.odd, words.even);
    }
  }
}

inline std::vector<unsigned> gridStepsOnHost(const std::vector<unsigned>& in, unsigned steps) {
  std::vector<unsigned> out(in.size());
  for (std::size_t block = 0; block < in.size(); ++block) out[block] = in[(block + steps) % in.size()] + steps;
  return out;
}

}  // namespace experiments
