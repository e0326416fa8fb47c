/// \file
/// The configuration of a kernel launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_TYPES_BEGIN

/// The configuration of one launch, from occupancyConfig or maxOccupancyConfig or written by hand. The defaults are
/// those of `<<<grid, block>>>`.
struct LaunchConfig {
  dim3 grid{1};                     ///< blocks in the grid
  dim3 block{1};                    ///< threads per block
  std::size_t sharedBytes = 0;      ///< dynamic shared memory per block
  cudaStream_t stream = nullptr;    ///< the stream of the launch
  int blocksPerMultiprocessor = 0;  ///< resident blocks per multiprocessor; 0: not queried
  double occupancy = 0;             ///< resident warps over the maximum, 0 to 1; 0: not queried
  unsigned cluster = 1;             ///< blocks per cluster, along x; more than 1 needs compute capability 9.0
  /// Programmatic dependent launch: the kernel may start before its predecessor in the stream has ended, and waits for
  /// it itself. Ignored before compute capability 9.0.
  bool programmatic = false;
};

GPUOPT_TYPES_END
