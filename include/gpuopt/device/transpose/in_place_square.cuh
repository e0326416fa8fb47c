/// \file
/// Transposition of square matrices in place: each block exchanges a pair of tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/tile_vector.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/device/transpose/in_place_plan.cuh>
#include <gpuopt/device/transpose/in_place_tiles.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Each half of the block moves one tile of the pair; on the diagonal one half idles.
template <class Tile>
GPUOPT_KERNEL void __launch_bounds__(2 * Tile::THREADS) pairKernel(const Squares<typename Tile::Element> squares) {
  overlapPreviousKernel();
  const bool isLower = threadIdx.x >= Tile::THREADS;
  const unsigned thread = threadIdx.x % Tile::THREADS;
  const TilePair pair = squares.triangle.pair();
  if (!squares.triangle.contains(pair)) return;
  const TileMove<typename Tile::Element, Tile::TILE> move(squares, pair, isLower);
  Tile tile(squares, move, thread);
  const bool idles = isLower && pair.row == pair.col;
  if (!idles) tile.load();
  __syncthreads();
  if (!idles) tile.store();
}

// The plan has chosen the tile, or the smaller one; here it says which are compiled.
template <class Tile, class E>
void launchPairs(const SquareArgs<E>& shape, const InPlacePlan& plan, cudaStream_t stream) {
  if constexpr (2 * Tile::BYTES > commonShared)
    if (plan.tile.side != Tile::TILE) return launchPairs<typename Tile::Smaller>(shape, plan, stream);
  const Squares<E> squares{shape, {shape.n, Tile::TILE, plan.order}};
  LaunchConfig config =
      gridConfig(static_cast<int>(plan.tile.threads), plan.blocks, stream, "gpuopt::transposeInPlace");
  config.sharedBytes = plan.tile.sharedBytes;
  launch(pairKernel<Tile>, config, squares);
}

// `batch` matrices of n x n elements. n and batch are not 0.
template <class Tuning = SquareTuningSm90, class T>
void launchTransposeSquareInPlace(T* data, std::size_t n, std::size_t ld, std::size_t batch, std::size_t stride,
                                  cudaStream_t stream) {
  withRawElements(data, [&](auto* elements) {
    using E = std::remove_pointer_t<decltype(elements)>;
    const SquareArgs<E> shape{elements, n, ld, stride, batch};
    const InPlacePlan plan = planSquareInPlace<Tuning>(inPlaceRequest(elements, n, n, ld, batch, stride));
    if constexpr (movesByVectors<E>) {
      using Tile = VectorPairTile<E, Tuning::vectorTile(sizeof(E)), Tuning::vectorThreads(sizeof(E))>;
      if (plan.algorithm == InPlaceAlgorithm::vectorPairs) return launchPairs<Tile>(shape, plan, stream);
    }
    launchPairs<WordPairTile<E, Tuning::wordTileBytes>>(shape, plan, stream);
  });
}

GPUOPT_DETAIL_END
