/// \file
/// How a kernel is launched: grid, block, shared memory, stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_TYPES_BEGIN

/// The configuration of one launch: chosen by occupancyConfig or maxOccupancyConfig, or filled in by hand.
/// What a hand-written one leaves out has the value that `<<<grid, block>>>` would give it.
struct LaunchConfig {
  dim3 grid{1};                     ///< blocks of the grid
  dim3 block{1};                    ///< threads of a block
  std::size_t sharedBytes = 0;      ///< dynamic shared memory of a block, in bytes
  cudaStream_t stream = nullptr;    ///< where the launch is queued
  int blocksPerMultiprocessor = 0;  ///< blocks resident at once on a multiprocessor; 0: nobody asked
  double occupancy = 0;  ///< resident warps over the multiprocessor's maximum, 0 to 1; 0: nobody asked
  unsigned cluster = 1;  ///< blocks of a cluster, along x; more than 1 needs compute capability 9.0
  /// The kernel may start before the one ahead of it in the stream has ended and waits for it itself
  /// (programmatic dependent launch). Devices before compute capability 9.0 ignore it.
  bool programmatic = false;
};

GPUOPT_TYPES_END
