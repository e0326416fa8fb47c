/// \file
/// How the threads of a permutation's tile share the vectors of its output rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>

GPUOPT_DETAIL_BEGIN

constexpr unsigned permuteThreads = 256;

// How threads share the vectors of the output rows. Lanes are neighbours along a row, a number of rows are neighbours
// in a warp, and several warps go along the same rows.
struct PermuteLanes {
  Divisor lanes;       // along a row
  unsigned rows;       // of a warp
  unsigned warps;      // along a row
  unsigned vectors;    // that all threads along a row take at a time
  unsigned rowStep;    // rows that all threads take at a time
  unsigned rowCycle;   // a multiple of rowStep, after which rows are equally misaligned
  unsigned rotations;  // two bits for each 8 lanes of a warp: which element of a vector is gathered first
};

// The first row and vector of a thread; none if the row is not less than rowStep.
struct PermuteStart {
  unsigned row;
  unsigned vector;
};

__host__ __device__ inline PermuteStart permuteStart(const PermuteLanes& by, unsigned thread) {
  const unsigned slot = by.lanes.divide(thread);
  const unsigned lane = thread - slot * by.lanes.divisor;
  const unsigned group = slot / by.rows;
  return {group / by.warps * by.rows + slot % by.rows, group % by.warps * by.lanes.divisor + lane};
}

// The element of a vector that a thread gathers first.
__host__ __device__ inline unsigned permuteRotation(const PermuteLanes& by, unsigned thread) {
  return by.rotations >> (thread % 32 / 8 * 2) & 3;
}

GPUOPT_DETAIL_END
