/// \file
/// When transformRows takes which kernel, and with what block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Vectors are of 16 bytes of the input.
struct TransformTuning {
  std::size_t warpVectors = 128;      // up to which a warp takes a row
  std::size_t twoVectors = 32;        // up to which a lane keeps 2 vectors, above 4
  std::size_t laneThreads = 128;      // of a block whose warps work alone, at most laneTransformBlock
  std::size_t fourVectors = 2048;     // up to which a thread of a block keeps 4 vectors, above 8
  std::size_t blockThreads = 512;     // at most
  std::size_t clusterBlocks = 8;      // at most
  std::size_t fewVectors = 65536;     // in all, up to which a thread keeps one vector
  std::size_t fewRowsVectors = 2048;  // from which few rows are split among as many blocks as there can be
};

GPUOPT_DETAIL_END
