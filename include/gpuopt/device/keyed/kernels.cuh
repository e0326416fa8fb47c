/// \file
/// The kernel of histograms that reads its input once and counts on the way, and the one that goes through
/// the cells of a result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/keyed/edges.cuh>
#include <gpuopt/device/keyed/runs.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/grid/dependency.cuh>

GPUOPT_DETAIL_BEGIN

// Counts in shared memory, and then adds to the result; or counts in the result at once. `followsClearing`: the
// previous kernel clears the result, and may not have ended.
template <class Counters, class Source>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    histogramKernel(const Source source, const StepArgs shape, const typename Counters::Args args,
                    const bool followsClearing) {
  bool isCounted = false;
  if constexpr (Counters::FOLLOWS_RUNS && canHaveRuns<Source>)
    isCounted = args.followsRuns && consistsOfRuns(source, shape, args.slots);
  if (!followsClearing) waitForPreviousKernel();
  if (isCounted) return;
  const Counters counters(args);
  if constexpr (Counters::IS_SHARED) {
    counters.clear();
    shareTable(source.f);
    __syncthreads();
  }
  const auto take = [&](const auto& values) { counters.take(values); };
  takeSteps<Counters::template ITEMS<Source>>(source, shape, counters.block(), counters.blocks(), take,
                                              [&] { counters.endTile(); });
  if constexpr (Counters::IS_SHARED) {
    __syncthreads();
    waitForPreviousKernel();
    counters.addTo(counters.block(), counters.blocks());
  }
}

// Calls forCell(i) for each cell of a result. If it PREPARES the result, the next kernel may begin meanwhile.
template <class ForCell>
GPUOPT_KERNEL void eachCellKernel(ForCell forCell, const unsigned cells) {
  if constexpr (ForCell::PREPARES)
    letNextKernelOverlap();
  else
    waitForPreviousKernel();
  forCell.start();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) forCell(i);
}

template <class Cell>
struct FillCells {
  static constexpr bool PREPARES = true;
  Cell* cells;
  Cell first;

  __device__ void start() const {}
  __device__ void operator()(unsigned i) const { cells[i] = first; }
};

GPUOPT_DETAIL_END
