/// \file
/// The launch of a plan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/permute/elements.cuh>
#include <gpuopt/device/permute/matrix_tile.cuh>
#include <gpuopt/device/permute/plan.cuh>
#include <gpuopt/device/permute/tile.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

inline LaunchConfig permuteConfig(unsigned threads, std::size_t blocks, std::size_t sharedBytes, cudaStream_t stream) {
  LaunchConfig config = gridConfig(static_cast<int>(threads), blocks, stream, "gpuopt::permute");
  config.sharedBytes = sharedBytes;
  return config;
}

template <class In, class Out, class Function>
TransposeProblem<In, Out, Function> permuteMatrixProblem(const PermuteKernelPlan& plan, const Function& function) {
  const PermuteMatrix& m = plan.matrix;
  return {reinterpret_cast<const In*>(plan.request.in),
          reinterpret_cast<Out*>(plan.request.out),
          m.rows,
          m.cols,
          m.inLd,
          m.outLd,
          m.batch,
          m.inStride,
          m.outStride,
          function};
}

// Tiles of ROWS x COLS along the first axis and the input's, and blocks along all others.
template <class Tile, class Args>
std::size_t permuteMatrixGrid(const PermuteKernelPlan& plan, Args& args) {
  const PermuteRequest& r = plan.request;
  std::size_t blocks = 1;
  args.inCut = args.outCut = {permuteRank, 0, 0};
  for (unsigned k = 0; k < r.rank; ++k) {
    const std::size_t extent = r.axis[k].extent;
    const std::size_t part = k == 0 ? Tile::ROWS : k == plan.inAxis ? Tile::COLS : 1;
    const std::size_t tiles = ceilDivide(extent, part);
    const auto length = static_cast<unsigned>(smallerOf(extent, part));
    const PermuteCut cut{tiles > 1 ? args.grid.rank : permuteRank, length,
                         static_cast<unsigned>(extent - (tiles - 1) * part)};
    if (k == 0) args.outCut = cut;
    if (k == plan.inAxis) args.inCut = cut;
    if (tiles == 1) continue;
    const auto step = static_cast<std::ptrdiff_t>(part);
    args.grid.axis[args.grid.rank++] = {Divisor(static_cast<unsigned>(tiles)),
                                        r.axis[k].in * step * static_cast<std::ptrdiff_t>(r.inBytes),
                                        r.axis[k].out * step * static_cast<std::ptrdiff_t>(r.outBytes)};
    blocks *= tiles;
  }
  return blocks;
}

template <class In, class Out, class Function>
void launchPermuteMatrixTile(const PermuteKernelPlan& plan, const Function& function, cudaStream_t stream) {
  if constexpr (hasVectorTile(sizeof(In)) && hasVectorTile(sizeof(Out))) {
    using Tile = VectorTileOf<In, Out>;
    const PermuteRequest& r = plan.request;
    PermuteMatrixArgs<In, Out, Function> args{reinterpret_cast<const In*>(r.in),
                                              reinterpret_cast<Out*>(r.out),
                                              static_cast<std::size_t>(r.axis[0].in),
                                              static_cast<std::size_t>(r.axis[plan.inAxis].out),
                                              {},
                                              {},
                                              {},
                                              function};
    const std::size_t blocks = permuteMatrixGrid<Tile>(plan, args);
    launch(permuteMatrixTileKernel<Tile, In, Out, Function>,
           permuteConfig(Tile::THREADS, blocks, sizeof(typename Tile::Storage), stream), args);
  }
}

// The memory of the input: 16-byte accesses may go beyond a run, but not beyond that.
struct PermuteMemory {
  std::uintptr_t begin;
  std::uintptr_t end;
};

inline PermuteMemory inMemoryOf(const PermuteRequest& r) {
  PermuteMemory memory{r.in, r.in + r.inBytes};
  for (unsigned k = 0; k < r.rank; ++k) {
    const auto reach = static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(r.axis[k].extent - 1) * r.axis[k].in *
                                                   static_cast<std::ptrdiff_t>(r.inBytes));
    (r.axis[k].in < 0 ? memory.begin : memory.end) += reach;
  }
  return memory;
}

template <class In, class Out, class Function>
void launchPermuteTile(const PermuteKernelPlan& plan, const Function& function, cudaStream_t stream) {
  const PermuteRequest& r = plan.request;
  const PermuteMemory memory = inMemoryOf(r);
  launch(permuteTileKernel<In, Out, Function>, permuteConfig(permuteThreads, plan.blocks, plan.sharedBytes, stream),
         PermuteTileArgs<In, Out, Function>{reinterpret_cast<const unsigned char*>(r.in) + plan.inOffset,
                                            reinterpret_cast<unsigned char*>(r.out), memory.begin, memory.end,
                                            plan.tile, function});
}

template <class In, class Out, class Function>
void launchPermuteElements(const PermuteKernelPlan& plan, const Function& function, cudaStream_t stream) {
  const PermuteRequest& r = plan.request;
  PermuteElementArgs<In, Out, Function> args{
      reinterpret_cast<const In*>(r.in), reinterpret_cast<Out*>(r.out), r.elements(), r.rank, {}, function};
  const bool isWide = args.elements >= std::size_t{1} << 31;
  for (unsigned k = 0; k < r.rank; ++k)
    args.axis[k] = {isWide ? Divisor() : Divisor(static_cast<unsigned>(r.axis[k].extent)), r.axis[k].extent,
                    r.axis[k].in, r.axis[k].out};
  const auto start = [&](auto kernel, unsigned items) {
    const std::size_t blocks = ceilDivide(args.elements, std::size_t{permuteElementThreads} * items);
    launch(kernel, permuteConfig(permuteElementThreads, blocks, 0, stream), args);
  };
  if (isWide)
    start(permuteElementsKernel<4, true, In, Out, Function>, 4);
  else if (plan.isSmall)
    start(permuteElementsKernel<1, false, In, Out, Function>, 1);
  else
    start(permuteElementsKernel<4, false, In, Out, Function>, 4);
}

template <class In, class Out, class Function>
void launchPermuteKernel(const PermuteKernelPlan& plan, const Function& function, cudaStream_t stream) {
  switch (plan.algorithm) {
    case PermuteAlgorithm::nothing:
    case PermuteAlgorithm::transpose:
      return;
    case PermuteAlgorithm::matrixTile:
      return launchPermuteMatrixTile<In, Out>(plan, function, stream);
    case PermuteAlgorithm::tile:
      return launchPermuteTile<In, Out>(plan, function, stream);
    case PermuteAlgorithm::elements:
      return launchPermuteElements<In, Out>(plan, function, stream);
  }
}

// A plan that is not one of a transposition. Elements that only move do so as the plan's words, which have at least
// their alignment.
template <class In, class Out, class Function>
void launchPermute(const PermuteKernelPlan& plan, const Function& function, cudaStream_t stream) {
  if constexpr (std::is_same_v<In, Out> && std::is_same_v<Function, Identity>) {
    withWordBytes<minAlignment<In>>(plan.request.inBytes, [&](auto bytes) {
      using Moved = Word<decltype(bytes)::value>;
      launchPermuteKernel<Moved, Moved>(plan, function, stream);
    });
  } else {
    launchPermuteKernel<In, Out>(plan, function, stream);
  }
}

GPUOPT_DETAIL_END
