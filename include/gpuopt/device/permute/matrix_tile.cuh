/// \file
/// Permutations whose fastest axes are long: tiles of aligned matrices, along any number of other axes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/permute/grid.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class In, class Out, class Function>
struct PermuteMatrixArgs {
  const In* in;
  Out* out;
  std::size_t inLd;  // elements
  std::size_t outLd;
  PermuteGrid grid;
  PermuteCut inCut;   // columns of the input
  PermuteCut outCut;  // rows
  Function function;
};

template <class Tile, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(Tile::THREADS, smallerOf<int>(Tile::BLOCKS, RESIDENT_THREADS / Tile::THREADS))
    permuteMatrixTileKernel(const PermuteMatrixArgs<In, Out, Function> args) {
  waitForPreviousKernel();
  const PermuteTileIndex index = permuteTileIndex(args.grid, args.inCut, args.outCut, {permuteRank, 1, 1});
  const unsigned rows = index.isOutLast ? args.outCut.last : args.outCut.length;
  const unsigned cols = index.isInLast ? args.inCut.last : args.inCut.length;
  const Tile tile(*dynamicShared<typename Tile::Storage>());
  const auto in = reinterpret_cast<const In*>(reinterpret_cast<const unsigned char*>(args.in) + index.in);
  const auto out = reinterpret_cast<Out*>(reinterpret_cast<unsigned char*>(args.out) + index.out);
  tile.load(in, args.inLd, rows, cols, args.function);
  __syncthreads();
  tile.store(out, args.outLd, rows, cols);
}

GPUOPT_DETAIL_END
