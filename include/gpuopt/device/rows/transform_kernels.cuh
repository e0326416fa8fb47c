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
inline constexpr int blockTransformBlock = 512;

// Short rows: each is taken by a group of lanes, a power of two, with VECTORS vectors a lane.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(laneTransformBlock)
    laneTransformKernel(const Transform transform, const unsigned lanes) {
  overlapPreviousKernel();
  const std::size_t warp = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t firstRow = warp * (32 / lanes);
  if (firstRow >= transform.rows) return;
  const auto lane = static_cast<int>(threadIdx.x % lanes);
  const auto row = transform.template row<WHOLE>(firstRow + threadIdx.x % 32 / lanes);

  uint4 vectors[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) vectors[v] = row.load(lane + v * static_cast<int>(lanes));
  const auto eachVector = [&](auto use) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) use(vectors[v], lane + v * static_cast<int>(lanes));
  };
  LaneCombination combination{lanes};
  transformRow(transform, row, eachVector, combination, lane == 0);
}

// The vectors of a thread, where a row is spread over a cluster of blocks.
template <int VECTORS>
struct ThreadVectors {
  uint4 vectors[VECTORS];

  template <class Row>
  __device__ void load(const Row& row, int begin) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) vectors[v] = row.load(begin + v * static_cast<int>(blockDim.x));
  }

  template <class Use>
  __device__ void each(int begin, const Use& use) const {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) use(vectors[v], begin + v * static_cast<int>(blockDim.x));
  }
};

// Rows that the registers of a block hold: VECTORS vectors a thread.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock) blockTransformKernel(const Transform transform) {
  using Combination = BlockCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  overlapPreviousKernel();
  Combination combination(storage, 1, 0);
  const auto row = transform.template row<WHOLE>(blockIdx.x);
  const auto begin = static_cast<int>(threadIdx.x);
  ThreadVectors<VECTORS> own;
  own.load(row, begin);
  transformRow(
      transform, row, [&](auto use) { own.each(begin, use); }, combination, threadIdx.x == 0);
}

// The same for rows that the registers of a cluster of blocks hold.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock)
    clusterTransformKernel(const Transform transform, const unsigned clusterBlocks) {
  using Combination = BlockCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  overlapPreviousKernel();
  const unsigned rank = blockIdx.x % clusterBlocks;
  Combination combination(storage, clusterBlocks, rank);
  const auto row = transform.template row<WHOLE>(blockIdx.x / clusterBlocks);
  const auto begin = static_cast<int>(rank * VECTORS * blockDim.x + threadIdx.x);
  ThreadVectors<VECTORS> own;
  own.load(row, begin);
  transformRow(
      transform, row, [&](auto use) { own.each(begin, use); }, combination, rank == 0 && threadIdx.x == 0);
}

// Rows of any length: a block or a cluster reads its row again for each pass, VECTORS vectors a thread at a time.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock)
    rereadTransformKernel(const Transform transform, const unsigned clusterBlocks) {
  using Combination = BlockCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  overlapPreviousKernel();
  const unsigned rank = blockIdx.x % clusterBlocks;
  Combination combination(storage, clusterBlocks, rank);
  const auto row = transform.template row<WHOLE>(blockIdx.x / clusterBlocks);
  const int step = static_cast<int>(clusterBlocks * VECTORS * blockDim.x);
  const auto eachVector = [&](auto use) {
    for (int first = static_cast<int>(rank * VECTORS * blockDim.x); first < row.vectors; first += step) {
      const int begin = first + static_cast<int>(threadIdx.x);
      ThreadVectors<VECTORS> own;
      own.load(row, begin);
      own.each(begin, use);
    }
  };
  transformRow(transform, row, eachVector, combination, rank == 0 && threadIdx.x == 0);
}

GPUOPT_DETAIL_END
