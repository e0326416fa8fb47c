/// \file
/// The kernels of transformRows: a row is loaded once, its statistic computed from registers, and mapped from there.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/transform_row.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The largest blocks of both kernels.
inline constexpr int laneTransformBlock = 256;
inline constexpr int blockTransformBlock = 1024;

// Short rows: each is taken by a group of lanes, a power of two, and each group takes ROWS rows, loaded at once.
template <int VECTORS, int ROWS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(laneTransformBlock)
    laneTransformKernel(const Transform transform, const unsigned lanes) {
  overlapPreviousKernel();
  const unsigned groups = 32 / lanes;
  const std::size_t warp = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t firstRow = warp * (ROWS * groups);
  if (firstRow >= transform.rows) return;
  const auto lane = static_cast<int>(threadIdx.x % lanes);
  const std::size_t groupRow = firstRow + threadIdx.x % 32 / lanes;

  uint4 vectors[ROWS][VECTORS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const auto row = transform.template row<WHOLE>(groupRow + i * groups);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) vectors[i][v] = row.load(lane + v * static_cast<int>(lanes));
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const auto row = transform.template row<WHOLE>(groupRow + i * groups);
    const auto eachVector = [&](auto use) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) use(vectors[i][v], lane + v * static_cast<int>(lanes));
    };
    transformRow(transform, row, eachVector, LaneCombination{lanes}, lane == 0);
  }
}

// Long rows: each is taken by a block, or by a cluster of blocks. KEEPS: each thread keeps its VECTORS vectors in
// registers. Otherwise every pass over the row reads it again, VECTORS vectors at a time.
template <int VECTORS, bool KEEPS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock)
    blockTransformKernel(const Transform transform, const unsigned clusterBlocks) {
  using Combination = BlockCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  overlapPreviousKernel();
  const unsigned rank = blockIdx.x % clusterBlocks;
  Combination combination(storage, clusterBlocks, rank);
  const auto row = transform.template row<WHOLE>(blockIdx.x / clusterBlocks);
  const auto threads = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(rank) * VECTORS * threads + static_cast<int>(threadIdx.x);

  uint4 vectors[VECTORS];
  const auto load = [&](int begin) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) vectors[v] = row.load(begin + v * threads);
  };
  const auto useAll = [&](int begin, auto use) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) use(vectors[v], begin + v * threads);
  };
  if constexpr (KEEPS) load(first);
  const auto eachVector = [&](auto use) {
    if constexpr (KEEPS) {
      useAll(first, use);
    } else {
      const int step = static_cast<int>(clusterBlocks) * VECTORS * threads;
      for (int begin = first; begin < row.vectors; begin += step) {
        load(begin);
        useAll(begin, use);
      }
    }
  };
  transformRow(transform, row, eachVector, combination, rank == 0 && threadIdx.x == 0);
}

GPUOPT_DETAIL_END
