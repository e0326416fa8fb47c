/// \file
/// The kernels of transformRows: a row is loaded once, its statistic computed from registers, and mapped from there.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/device/rows/transform_cluster.cuh>
#include <gpuopt/device/rows/transform_join.cuh>
#include <gpuopt/device/rows/transform_matrix.cuh>
#include <gpuopt/device/rows/transform_staged.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// The largest blocks of the kernels.
inline constexpr int laneTransformBlock = 256;
inline constexpr int stagedTransformBlock = 128;
// Of 56 registers a thread. For lanes that keep numbers of columns the compiler chooses, 0: of at least 1 it takes 90
// for 11 elements. Of many elements it would choose too few.
template <bool KEEPS_NUMBERS, int ELEMENTS>
inline constexpr int stagedTransformBlocksPerSm = !KEEPS_NUMBERS                   ? 9
                                                  : ELEMENTS > int{stagedElements} ? 2
                                                                                   : 0;
inline constexpr int blockTransformBlock = 512;
// The most vectors of a thread of a cluster where rows are few, and registers suffice for what warps join.
inline constexpr int joinedVectors = 2;
// The most where it also pays to load what columns have before the statistic is known: with two, one row of 129280
// takes 8.0 -> 7.1 us with cold caches, but eight rows in a graph 3.75 -> 3.96 (RMS norm, H200, 2026-11-28).
inline constexpr int heldOperandVectors = 1;

// The vectors of a thread: from `begin` on, `step` apart.
template <int VECTORS>
struct ThreadVectors {
  int begin;
  int step;
  uint4 vectors[VECTORS];

  __device__ ThreadVectors(unsigned first, unsigned apart)
      : begin(static_cast<int>(first)), step(static_cast<int>(apart)) {}

  template <class Row>
  __device__ void load(const Row& row) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) vectors[v] = row.load(begin + v * step);
  }

  template <class Use>
  __device__ void each(const Use& use) const {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) use(vectors[v], begin + v * step);
  }
};

// A map with the operands of a vector, which were loaded before.
template <class Map, class Operands>
struct MapWithOperands {
  static constexpr bool LOADS_COLUMNS = true;
  static constexpr bool TAKES_ANY_COLUMN = takesAnyColumn<Map>;
  const Map& map;
  const Operands& operands;

  template <int COUNT, VectorColumns COLUMNS>
  __device__ const Operands& load(int) const {
    return operands;
  }
  template <class Value, class Result>
  __device__ auto operator()(Value x, const Result& result, int) const {
    return map(x, result, operands, 0);
  }
  template <class Value, class Result>
  __device__ auto operator()(Value x, const Result& result, const Operands&, int i) const {
    return map(x, result, operands, i);
  }
};

// What a map loads for the vectors of a thread: here nothing before it is called.
template <int VECTORS, class Row, class Map, bool HOLDS>
struct HeldOperands {
  __device__ HeldOperands(const ThreadVectors<VECTORS>&, const Row&, const Map&) {}

  template <class Result>
  __device__ void store(const ThreadVectors<VECTORS>& own, const Row& row, const Map& map, const Result& result) const {
    own.each([&](const uint4& vector, int v) { row.store(vector, v, map, result); });
  }
};

// Where registers suffice: the loads need not wait for the statistic.
template <int VECTORS, class Row, class Map>
struct HeldOperands<VECTORS, Row, Map, true> {
  using Operands = std::decay_t<decltype(std::declval<const Row&>().operands(std::declval<const Map&>(), 0))>;
  Operands operands[VECTORS];

  __device__ HeldOperands(const ThreadVectors<VECTORS>& own, const Row& row, const Map& map) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
      if (own.begin + v * own.step < row.vectors) operands[v] = row.operands(map, own.begin + v * own.step);
  }

  template <class Result>
  __device__ void store(const ThreadVectors<VECTORS>& own, const Row& row, const Map& map, const Result& result) const {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
      row.store(own.vectors[v], own.begin + v * own.step, MapWithOperands<Map, Operands>{map, operands[v]}, result);
  }
};

// Short rows: each is taken by a group of lanes, a power of two, with VECTORS vectors a lane.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(laneTransformBlock)
    laneTransformKernel(const Transform transform, const unsigned lanes) {
  overlapPreviousKernel();
  const std::size_t warp = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t firstRow = warp * (32 / lanes);
  if (firstRow >= transform.rows) return;
  const unsigned lane = threadIdx.x % lanes;
  const auto row = transform.template row<WHOLE>(firstRow + threadIdx.x % 32 / lanes);
  ThreadVectors<VECTORS> own(lane, lanes);
  own.load(row);
  LaneCombination combination{lanes};
  transformRow(
      transform, row, [&](auto use) { own.each(use); }, NoEnds{}, combination, lane == 0);
}

// The same for rows of which LANES lanes also take the ends. Rows behind the last have neither vectors nor ends.
template <int VECTORS, int LANES, class Transform>
GPUOPT_KERNEL void __launch_bounds__(laneTransformBlock) endsTransformKernel(const Transform transform) {
  overlapPreviousKernel();
  const std::size_t warp = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t firstRow = warp * (32 / LANES);
  if (firstRow >= transform.rows) return;
  const unsigned lane = threadIdx.x % LANES;
  const auto row = transform.template longRow<false>(firstRow + threadIdx.x % 32 / LANES);
  ThreadVectors<VECTORS> own(lane, LANES);
  own.load(row);
  const auto ends = endsOf<LANES>(row, lane);
  LaneCombination combination{LANES};
  transformRow(
      transform, row, [&](auto use) { own.each(use); }, ends, combination, lane == 0);
}

// Unaligned rows without gaps: LANES lanes take each row of a span of `spanRows`, for which a warp has `spanBytes` of
// dynamic shared memory, or twice as many.
template <int LANES, int ELEMENTS, class Transform>
GPUOPT_KERNEL void __launch_bounds__(stagedTransformBlock,
                                     stagedTransformBlocksPerSm<loadsColumns<decltype(Transform::map)>, ELEMENTS>)
    stagedTransformKernel(const Transform transform, const unsigned spanRows, const unsigned spanBytes) {
  using Spans = WarpSpans<Transform>;
  __shared__ typename Spans::Arrivals arrivals[stagedTransformBlock / 32];
  Spans spans(transform, arrivals[threadIdx.x / 32], spanRows, spanBytes);  // while the previous kernel ends
  overlapPreviousKernel();
  spans.start();
  const StagedLane<LANES, ELEMENTS, Transform> lane(transform);
  const unsigned cols = static_cast<unsigned>(transform.cols), ofGroup = spanRows * LANES / 32;
  const unsigned begin = threadIdx.x % 32 / LANES * ofGroup;
  spans.each([&](auto* data, std::size_t firstRow, unsigned rows) {
    for (unsigned r = begin; r < begin + ofGroup; ++r) lane(data + r * cols, firstRow + r, r < rows);
  });
}

// Rows that the registers of a block hold: VECTORS vectors a thread.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock) blockTransformKernel(const Transform transform) {
  using Combination = BlockCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  overlapPreviousKernel();
  Combination combination(storage);
  const auto row = transform.template longRow<WHOLE>(blockIdx.x);
  ThreadVectors<VECTORS> own(threadIdx.x, blockDim.x);
  own.load(row);
  const auto ends = endsOf(row, threadIdx.x);
  transformRow(
      transform, row, [&](auto use) { own.each(use); }, ends, combination, threadIdx.x == 0);
}

// The same for rows that the registers of a cluster of blocks hold, whose number is a power of two. L2 fetches the part
// of a row for the cluster that comes `ahead` rows later.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock)
    clusterTransformKernel(const Transform transform, const unsigned clusterBlocks, const unsigned ahead) {
  using Combination = typename ClusterCombinationOf<typename Transform::Statistic, (VECTORS <= joinedVectors)>::type;
  using Map = decltype(transform.map);
  __shared__ typename Combination::Storage storage;
  const unsigned rank = blockIdx.x & (clusterBlocks - 1);
  Combination combination(storage, clusterBlocks, rank);  // while the previous kernel ends
  overlapPreviousKernel();
  const auto row = transform.template longRow<WHOLE>(blockIdx.x >> __popc(clusterBlocks - 1));
  ThreadVectors<VECTORS> own(rank * VECTORS * blockDim.x + threadIdx.x, blockDim.x);
  own.load(row);
  const auto ends = endsOf(row, rank * blockDim.x + threadIdx.x);
  if (ahead > 0 && threadIdx.x == 0)
    transform.template longRow<WHOLE>(row.index + ahead).prefetch(own.begin, static_cast<int>(VECTORS * blockDim.x));
  using Statistic = typename Transform::Statistic;
  constexpr bool HOLDS = loadsColumns<Map> && JoinedStatistic<Statistic>::EXISTS && VECTORS <= heldOperandVectors;
  const HeldOperands<VECTORS, std::decay_t<decltype(row)>, Map, HOLDS> operands(own, row, transform.map);
  const auto result = resultOfRow(
      transform, row, [&](auto use) { own.each(use); }, ends, combination, rank == 0 && threadIdx.x == 0);
  operands.store(own, row, transform.map, result);
  ends.store(transform.map, result);
}

// Rows of any length: a block or a cluster reads its row again for each pass, VECTORS vectors a thread at a time.
template <int VECTORS, bool WHOLE, class Transform>
GPUOPT_KERNEL void __launch_bounds__(blockTransformBlock)
    rereadTransformKernel(const Transform transform, const unsigned clusterBlocks) {
  using Combination = ClusterCombination<typename Transform::Statistic>;
  __shared__ typename Combination::Storage storage;
  const unsigned rank = blockIdx.x & (clusterBlocks - 1);
  Combination combination(storage, clusterBlocks, rank);  // while the previous kernel ends
  overlapPreviousKernel();
  const auto row = transform.template longRow<WHOLE>(blockIdx.x >> __popc(clusterBlocks - 1));
  const int step = static_cast<int>(clusterBlocks * VECTORS * blockDim.x);
  const auto eachVector = [&](auto use) {
    for (int first = static_cast<int>(rank * VECTORS * blockDim.x); first < row.vectors; first += step) {
      ThreadVectors<VECTORS> own(static_cast<unsigned>(first) + threadIdx.x, blockDim.x);
      own.load(row);
      own.each(use);
    }
  };
  const auto ends = endsOf(row, rank * blockDim.x + threadIdx.x);
  transformRow(transform, row, eachVector, ends, combination, rank == 0 && threadIdx.x == 0);
}

GPUOPT_DETAIL_END
