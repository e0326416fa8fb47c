/// \file
/// How many cycles a block takes, by the clock of its multiprocessor.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

namespace experiments {

/// The cycles from the block's first warp that begins `work` to the last that ends it. Every thread calls it.
/// Nanoseconds on the emulated device.
template <class Work>
__device__ long long blockCycles(const Work& work) {
  __syncthreads();
  const long long start = clock64();
  work();
  __syncthreads();
  return clock64() - start;
}

}  // namespace experiments
