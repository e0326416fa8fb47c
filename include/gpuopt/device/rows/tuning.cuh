/// \file
/// Tuning of the kernels that move rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// --- gatherRows and scatterRows

inline constexpr unsigned moveRowsBlock = 256;
// Words in flight per thread: few words spread over all multiprocessors.
inline constexpr unsigned moveRowsLoads = 4, moveFewRowsLoads = 1;
// Without it, ptxas saves registers and loads wait for each other.
inline constexpr int moveRowsBlocksPerSm = 1024 / moveRowsBlock;

struct MoveRowsTuning {
  std::size_t fewWords = std::size_t{1} << 17;  // up to which a thread moves one word
};

// --- combineRows

inline constexpr int combineRowsBlock = 256;
inline constexpr unsigned combineRowsLoads = 8;  // rows in flight per thread
inline constexpr int combineRowsBlocksPerSm = 768 / combineRowsBlock;

GPUOPT_DETAIL_END
