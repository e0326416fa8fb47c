/// \file
/// Launch configurations for a given number of blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/launch_config.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Programmatic dependent launch: the kernel itself waits for its predecessor.
inline LaunchConfig gridConfig(int block, std::size_t blocks, cudaStream_t stream, const char* function) {
  if (blocks > 0x7fffffff) throwInvalid({function, ": the input needs too many blocks"});
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(blocks));
  config.block = dim3(static_cast<unsigned>(block));
  config.stream = stream;
  config.programmatic = true;
  return config;
}

GPUOPT_DETAIL_END
