/// \file
/// The launch of a plan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/column_panel.cuh>
#include <gpuopt/device/transpose/plan.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/run.cuh>
#include <gpuopt/device/transpose/sector_tile.cuh>
#include <gpuopt/device/transpose/skinny.cuh>
#include <gpuopt/device/transpose/small.cuh>
#include <gpuopt/device/transpose/staged.cuh>
#include <gpuopt/device/transpose/subword_maker.cuh>
#include <gpuopt/device/transpose/three_byte_tile.cuh>
#include <gpuopt/device/transpose/tile.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <stdexcept>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

inline LaunchConfig transposeConfig(unsigned threads, std::size_t blocks, std::size_t sharedBytes,
                                    cudaStream_t stream) {
  LaunchConfig config = gridConfig(static_cast<int>(threads), blocks, stream, "gpuopt::transpose");
  config.sharedBytes = sharedBytes;
  return config;
}

template <class Problem>
void launchCopy(const Problem& problem, cudaStream_t stream) {
  constexpr std::size_t WORD = smallerOf<std::size_t>(alignof(typename Problem::Input), 16);
  const std::size_t bytes = problem.rows * problem.cols * problem.batch * sizeof(*problem.in);
  launch(copyVectorKernel<WORD>, transposeConfig(copyThreads, ceilDivide(bytes, 16 * copyThreads), 0, stream),
         reinterpret_cast<const unsigned char*>(problem.in), reinterpret_cast<unsigned char*>(problem.out), bytes);
}

template <class In, class Out, class Function>
void launchSmall(const TransposeProblem<In, Out, Function>& problem, const TransposePlan& plan, cudaStream_t stream) {
  constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
  constexpr TransposeTileShape tile = smallTileShape(SIZE, false);
  constexpr TransposeTileShape tall = smallTileShape(SIZE, true);
  LaunchConfig config = transposeConfig(plan.threads, ceilDivide(problem.rows, plan.tileRows), 0, stream);
  config.grid.y = static_cast<unsigned>(ceilDivide(problem.cols, plan.tileCols));
  if (plan.tileRows == tall.rows)
    launch(transposeSmallKernel<tall.rows, tall.cols, tall.threads, In, Out, Function>, config, problem);
  else
    launch(transposeSmallKernel<tile.rows, tile.cols, tile.threads, In, Out, Function>, config, problem);
}

// Where a function changes the size of an element, the results take shared memory.
template <class In, class Out>
using VectorTileOf = std::conditional_t<
    sizeof(In) == sizeof(Out), SquareTile<In, Out, vectorTile(sizeof(In)).tile, vectorTile(sizeof(In)).side>,
    RectangleTile<In, Out, vectorTileShape(sizeof(In), sizeof(Out)).rows, vectorTileShape(sizeof(In), sizeof(Out)).cols,
                  vectorTileShape(sizeof(In), sizeof(Out)).threads>>;

template <class T>
using HalfBlockTile = SquareTile<T, T, halfBlockTileShape.rows, halfBlockTileShape.threads / halfBlockTileShape.rows>;

template <class T>
using NarrowTile = RectangleTile<T, T, narrowTileShape.rows, narrowTileShape.cols, narrowTileShape.threads>;

template <class T>
using SectorTileOf = SectorTile<T, vectorTile(sizeof(T)).sectorTile, vectorTile(sizeof(T)).sectorSide>;

// blockIdx.x counts the tiles of a column, y and z together the columns of all matrices.
template <class Tile, class In, class Out, class Function>
void launchTile(const TransposeProblem<In, Out, Function>& problem, unsigned regionBits, cudaStream_t stream) {
  constexpr std::size_t MAX_GRID_Y = 65535;
  const std::size_t columns = ceilDivide(problem.cols, Tile::COLS);
  const std::size_t all = columns * problem.batch;
  if (all > MAX_GRID_Y * MAX_GRID_Y) throwInvalid({"gpuopt::transpose: the input needs too many blocks"});
  LaunchConfig config = transposeConfig(Tile::THREADS, ceilDivide(problem.rows, Tile::ROWS), 0, stream);
  config.grid.z = static_cast<unsigned>(ceilDivide(all, MAX_GRID_Y));
  config.grid.y = static_cast<unsigned>(all <= MAX_GRID_Y ? all : ceilDivide(all, config.grid.z));
  const TileGrid grid{static_cast<unsigned>(columns), static_cast<unsigned>(all), regionBits};
  if constexpr (std::is_same_v<Tile, RegisterTile<In, Out>>) {
    launch(transposeRegistersKernel<In, Out, Function>, config, problem, grid);
  } else {
    config.sharedBytes = sizeof(typename Tile::Storage);
    launch(transposeTileKernel<Tile, TransposeProblem<In, Out, Function>>, config, problem, grid);
  }
}

template <class Maker, class Problem>
void launchRun(const Problem& problem, const RunSizes& run, cudaStream_t stream) {
  launch(transposeRunKernel<Maker, typename Problem::Input, typename Problem::Output, decltype(problem.function)>,
         transposeConfig(run.threads, ceilDivide(problem.batch, run.matrices), run.sharedBytes, stream), problem.in,
         problem.out, typename Maker::Args(problem, run), problem.function);
}

template <class T>
void launchPanels(const TransposeProblem<T, T, Identity>& problem, const PanelSizes& panel, cudaStream_t stream) {
  const ColumnPanelArgs args = columnPanelArgs(problem, panel);
  launch(transposeColumnPanelsKernel<T>,
         transposeConfig(panelThreads, problem.batch * args.panels, sharedFor(std::size_t{args.rows} * args.pitch),
                         stream),
         problem.in, problem.out, args);
}

template <bool TO_RECORDS, class In, class Out, class Function>
void launchSkinny(const TransposeProblem<In, Out, Function>& problem, const SkinnySizes& sizes, cudaStream_t stream) {
  using Layout = SkinnyLayout<TO_RECORDS, In, Out, Function>;
  const SkinnyArgs args = skinnyArgs<Layout>(problem, sizes);
  launch(transposeSkinnyKernel<Layout, TransposeProblem<In, Out, Function>>,
         transposeConfig(sizes.threads, args.tiles * problem.batch, sizes.sharedBytes, stream), problem, args);
}

template <class Tile, class In, class Out, class Function>
void launchStaged(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  using Layout = StagedLayout<Tile, In, Out, Function>;
  const StagedArgs args = stagedArgs<Layout>(problem);
  launch(transposeStagedKernel<Layout, TransposeProblem<In, Out, Function>>,
         transposeConfig(Layout::BLOCK, std::size_t{args.rowTiles} * args.colTiles * problem.batch,
                         stagedBytes<Layout>(args), stream),
         problem, args);
}

// Which kernels are for elements of these types. The plan knows it by their sizes; here it says which kernels are
// compiled.
template <class In, class Out, class Function>
struct TransposeKernels {
  using Layout = RunLayout<In, Out, Function>;
  using RunMaker = std::conditional_t<(Layout::PACK > 1), SubwordMaker<Layout>, ElementMaker<Layout>>;
  static constexpr bool onlyMoves = std::is_same_v<In, Out> && std::is_same_v<Function, Identity>;
  static constexpr bool vectors = hasVectorTile(sizeof(In)) && hasVectorTile(sizeof(Out));
  static constexpr bool sectors = onlyMoves && vectors && sizeof(In) < 16;
  static constexpr bool threeBytes = onlyMoves && std::is_same_v<In, ThreeByteElement>;
  static constexpr bool permutes = onlyMoves && isWord<In> && sizeof(In) <= 2;
  static constexpr bool halfBlocks = onlyMoves && vectors && sizeof(In) == 4;
  static constexpr bool narrow = onlyMoves && vectors && sizeof(In) == 16;
  static constexpr bool panels = onlyMoves && sizeof(In) >= 8 && sizeof(In) <= 16 && alignof(In) >= 4;
};

template <class In, class Out, class Function>
void launchPlan(const TransposeProblem<In, Out, Function>& problem, const TransposePlan& plan, cudaStream_t stream) {
  using Algorithm = TransposeAlgorithm;
  using Kernels = TransposeKernels<In, Out, Function>;
  switch (plan.algorithm) {
    case Algorithm::nothing:
      return;
    case Algorithm::copy:
      if constexpr (Kernels::onlyMoves) return launchCopy(problem, stream);
      break;
    case Algorithm::smallTile:
      if constexpr (smallTakes<In, Out>) return launchSmall(problem, plan, stream);
      break;
    case Algorithm::permutedRun:
      if constexpr (Kernels::permutes) return launchRun<BytePermutationMaker<In>>(problem, plan.run, stream);
      break;
    case Algorithm::run:
      return launchRun<typename Kernels::RunMaker>(problem, plan.run, stream);
    case Algorithm::columnPanel:
      if constexpr (Kernels::panels) return launchPanels(problem, plan.panel, stream);
      break;
    case Algorithm::skinny:
      return plan.skinny.toRecords ? launchSkinny<true>(problem, plan.skinny, stream)
                                   : launchSkinny<false>(problem, plan.skinny, stream);
    case Algorithm::registers:
      if constexpr (Kernels::vectors) return launchTile<RegisterTile<In, Out>>(problem, plan.regionBits, stream);
      break;
    case Algorithm::sectorTile:
      if constexpr (Kernels::sectors) return launchTile<SectorTileOf<In>>(problem, plan.regionBits, stream);
      break;
    case Algorithm::tile:
      if constexpr (Kernels::halfBlocks)
        if (plan.threads == halfBlockTileShape.threads)
          return launchTile<HalfBlockTile<In>>(problem, plan.regionBits, stream);
      if constexpr (Kernels::narrow)
        if (plan.tileCols == narrowTileShape.cols) return launchTile<NarrowTile<In>>(problem, plan.regionBits, stream);
      if constexpr (Kernels::vectors) return launchTile<VectorTileOf<In, Out>>(problem, plan.regionBits, stream);
      break;
    case Algorithm::threeByteTile:
      if constexpr (Kernels::threeBytes) return launchTile<ThreeByteTile>(problem, plan.regionBits, stream);
      break;
    case Algorithm::stagedTile:
      return plan.isWide ? launchStaged<StagedTileOf<sizeof(In), sizeof(Out), true>>(problem, stream)
                         : launchStaged<StagedTileOf<sizeof(In), sizeof(Out), false>>(problem, stream);
  }
  throw std::logic_error("gpuopt::transpose: the plan is one for other elements");
}

// The same problem on raw bytes: types of one size and alignment share their kernels.
template <std::size_t ALIGN, class T>
TransposeProblem<RawElement<sizeof(T), ALIGN>, RawElement<sizeof(T), ALIGN>, Identity> rawProblem(
    const TransposeProblem<T, T, Identity>& problem) {
  using Raw = RawElement<sizeof(T), ALIGN>;
  return {reinterpret_cast<const Raw*>(problem.in),
          reinterpret_cast<Raw*>(problem.out),
          problem.rows,
          problem.cols,
          problem.inLd,
          problem.outLd,
          problem.batch,
          problem.inStride,
          problem.outStride,
          Identity{}};
}

template <class Problem>
TransposePlan planOf(const Problem& problem) {
  return planTranspose(transposeRequest(problem));
}

// The plan is one for this problem.
template <class In, class Out, class Function>
void launchTranspose(const TransposeProblem<In, Out, Function>& problem, const TransposePlan& plan,
                     cudaStream_t stream) {
  if constexpr (TransposeKernels<In, Out, Function>::onlyMoves) {
    constexpr std::size_t WIDEST = widestWord<sizeof(In)>;
    constexpr std::size_t ALIGN = minAlignment<In>;
    if (ALIGN == WIDEST || plan.word == WIDEST)
      launchPlan(rawProblem<WIDEST>(problem), plan, stream);
    else
      launchPlan(rawProblem<ALIGN>(problem), plan, stream);
  } else {
    launchPlan(problem, plan, stream);
  }
}

GPUOPT_DETAIL_END
