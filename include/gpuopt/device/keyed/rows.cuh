/// \file
/// A histogram of each row of a matrix: blocks take rows in turn, or parts of long ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// How rows are shared out: `parts` blocks count a row.
struct RowArgs {
  MatrixShape matrix;
  unsigned parts;
};

// Steps in flight per thread: more would not fit into the registers.
template <class Source>
inline constexpr int rowItems = clampTo(keyedItems<Source> / 2, 1, 2);

template <class View, class Take>
__device__ inline void takeRow(const View& view, const RowArgs& shape, std::size_t row, unsigned part,
                               const Take& take) {
  using Source = typename View::Source;
  const Source source = view.template range<16>(row * shape.matrix.ld, shape.matrix.cols);
  const std::size_t steps = (shape.matrix.cols - source.head) / Source::STEP;
  const StepArgs own{0, steps, static_cast<unsigned>(shape.matrix.cols - steps * Source::STEP)};
  takeSteps<rowItems<Source>>(source, own, part, shape.parts, take, NoTileEnd{});
}

// Calls take(row, part) for each task of the calling block.
template <class Take>
__device__ inline void takeTasks(const RowArgs& shape, const Take& take) {
  const std::size_t tasks = shape.matrix.rows * shape.parts;
  for (std::size_t task = blockIdx.x; task < tasks; task += gridDim.x)
    take(task / shape.parts, static_cast<unsigned>(task % shape.parts));
}

// A block that has a row for itself stores the counts, unless they are to be added.
template <class Counters, class View>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    rowHistogramKernel(const View view, const RowArgs shape, const typename Counters::Args args) {
  waitForPreviousKernel();
  takeTasks(shape, [&](std::size_t row, unsigned part) {
    const Counters own({args.slots, args.counts + row * args.slots});
    if constexpr (Counters::IS_SHARED) {
      own.clear();
      __syncthreads();
    }
    takeRow(view, shape, row, part, [&](const auto& values) { own.take(values); });
    if constexpr (Counters::IS_SHARED) {
      __syncthreads();
      own.addTo(part, shape.parts);
      __syncthreads();
    }
  });
}

template <class View, class Count>
GPUOPT_HIDDEN void launchRowHistograms(const HistogramCall<Count>& call, const MatrixShape& matrix, const View& view) {
  KeyedRowsRequest request{keyedRequest<typename View::Source>(matrix.cols, call.slots, countCell<Count>()),
                           matrix.rows};
  request.row.adds = call.adds;
  const KeyedRowsPlan plan = planKeyedRows(request);
  const RowArgs shape{matrix, plan.parts};
  const std::size_t all = matrix.rows * call.slots;
  if (plan.clearing == KeyedClearing::memory)
    clearCounts(HistogramCall<Count>{call.function, call.stream, call.counts, all, false});
  if (plan.blocks == 0) return;
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, call.stream, call.function);
  config.sharedBytes = plan.sharedBytes;
  const SlotsArgs<Count> args{static_cast<unsigned>(call.slots), call.counts};
  if (!plan.isShared)
    launch(rowHistogramKernel<GlobalCounters<Count>, View>, config, view, shape, args);
  else if (!call.adds && plan.parts == 1)
    launch(rowHistogramKernel<SharedCounters<true, Count>, View>, config, view, shape, args);
  else
    launch(rowHistogramKernel<SharedCounters<false, Count>, View>, config, view, shape, args);
}

struct NoOutput {};

inline void requireOneMatrix(std::size_t batch, const char* function) {
  if (batch != 1) throwInvalid({function, ": in.batch is ", batch, ": pass one matrix at a time"});
}

// The counters of each row, of those of a container. There are rows.
inline std::size_t perRow(std::size_t counters, std::size_t rows, const char* function) {
  if (counters % rows != 0)
    throwInvalid({function, ": counts has ", counters, " elements, not as many for each of ", rows, " rows"});
  return counters / rows;
}

// Checks the arguments, and launches if there is anything to do.
template <class Policy, class It, class F, class Count>
void histogramOfRows(const char* function, It in, const MatrixShape& matrix, Count* counts, std::size_t slots,
                     const F& slotOfElement, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  requireMatrix(in, matrix, NoOutput{}, 0, function);
  if (matrix.rows > PTRDIFF_MAX / sizeof(Count) / slots)
    throwInvalid({function, ": ", matrix.rows, " rows of ", slots, " counters are more than memory can hold"});
  const std::size_t all = matrix.rows * slots;
  if (all == 0) return;
  requireCounts(counts, all, function);
  const std::size_t span = matrix.cols == 0 ? 0 : (matrix.rows - 1) * matrix.ld + matrix.cols;
  requireApart(Unwrap<It>::pointer(in), span, counts, all, function);
  const HistogramCall<Count> call{function, stream, counts, slots, Policy::ADDS};
  launchRowHistograms(call, matrix, viewOf(deviceIterator(in, span, function, "in"), slotOfElement));
}

GPUOPT_DETAIL_END
