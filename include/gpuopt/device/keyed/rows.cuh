/// \file
/// A histogram of each row of a matrix: blocks take rows in turn, or parts of long ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

// How rows are shared out: `parts` blocks count a row.
struct RowShape {
  MatrixShape matrix;
  unsigned parts;
};

// Steps in flight per thread: more would not fit into the registers.
template <class Source>
inline constexpr int rowItems = clampTo(keyedItems<Source> / 2, 1, 2);

template <class View, class Take>
__device__ inline void takeRow(const View& view, const RowShape& shape, std::size_t row, unsigned part,
                               const Take& take) {
  using Source = typename View::Source;
  const Source source = view.template range<16>(row * shape.matrix.ld, shape.matrix.cols);
  const std::size_t steps = (shape.matrix.cols - source.head) / Source::STEP;
  const StepArgs own{0, steps, static_cast<unsigned>(shape.matrix.cols - steps * Source::STEP)};
  takeSteps<rowItems<Source>>(source, own, part, shape.parts, take, NoTileEnd{});
}

// Calls take(row, part) for each task of the calling block.
template <class Take>
__device__ inline void takeTasks(const RowShape& shape, const Take& take) {
  const std::size_t tasks = shape.matrix.rows * shape.parts;
  for (std::size_t task = blockIdx.x; task < tasks; task += gridDim.x)
    take(task / shape.parts, static_cast<unsigned>(task % shape.parts));
}

// Counters are in shared memory. A block that has a row for itself stores the counts, unless they are to be added.
template <bool STORES, class View, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    rowHistogramKernel(const View view, const RowShape shape, const unsigned slots, Count* counts) {
  waitForPreviousKernel();
  const SharedCounters counters;
  takeTasks(shape, [&](std::size_t row, unsigned part) {
    clearShared(sharedCounterWords(slots));
    __syncthreads();
    takeRow(view, shape, row, part, [&](const auto& values) { counters.take(values); });
    __syncthreads();
    addToResult<STORES>(counts + row * slots, slots, part, shape.parts,
                        [](unsigned slot) { return dynamicShared<unsigned>()[slot]; });
    __syncthreads();
  });
}

template <class View, class Count>
GPUOPT_KERNEL void __launch_bounds__(keyedThreads, 1)
    rowGlobalHistogramKernel(const View view, const RowShape shape, const GlobalCounters<Count> counters) {
  waitForPreviousKernel();
  takeTasks(shape, [&](std::size_t row, unsigned part) {
    const GlobalCounters<Count> own{counters.slots, counters.counts + row * counters.slots};
    takeRow(view, shape, row, part, [&](const auto& values) { own.take(values); });
  });
}

struct RowPlan {
  unsigned threads;
  std::size_t blocks;
  std::size_t sharedBytes;
  bool isShared;  // whether counters are in shared memory; else every element is added to the result
  RowShape shape;
};

// A thread for each step of a row. Rows are split if there are fewer of them than multiprocessors.
inline RowPlan planRows(const MatrixShape& matrix, const HistogramShape& shape) {
  RowPlan plan{};
  const std::size_t steps = ceilDivide(matrix.cols, shape.stepElements);
  plan.threads = static_cast<unsigned>(clampTo(roundUp(steps, 32), std::size_t{64}, std::size_t{keyedThreads}));
  const std::size_t wanted = ceilDivide(shape.multiprocessors, matrix.rows);
  const std::size_t useful = ceilDivide(steps, plan.threads);
  const std::size_t parts = largerOf(smallerOf(wanted, useful), ceilDivide(matrix.cols, mostBlockElements));
  plan.isShared = shape.slots <= counterWords(shape);
  plan.shape = {matrix, static_cast<unsigned>(parts)};
  plan.sharedBytes = plan.isShared ? roundUp(sharedCounterWords(shape.slots) * 4, 16) : 0;
  const std::size_t resident = largerOf(std::size_t{2048} / plan.threads, std::size_t{1});
  plan.blocks = smallerOf(matrix.rows * parts, shape.multiprocessors * resident);
  return plan;
}

inline std::string planInWords(const RowPlan& plan) {
  const char* const counters = plan.isShared ? "shared memory, " : "global memory, ";
  const char* const reason = plan.isShared ? "the counters of a row fit into shared memory"
                                           : "the counters of a row do not fit into shared memory";
  const std::string blocks =
      message({counters, plan.blocks, plan.blocks == 1 ? " block of " : " blocks of ", plan.threads, " threads"});
  return plan.shape.parts == 1 ? message({blocks, ", a row for each in turn: ", reason})
                               : message({blocks, ", ", plan.shape.parts, " of them for each row: ", reason});
}

template <class View, class Count>
GPUOPT_HIDDEN void launchRowHistograms(const HistogramCall<Count>& call, const MatrixShape& matrix, const View& view) {
  using Source = typename View::Source;
  const HistogramShape shape = elementShape<Source>(matrix.cols, call.slots);
  const RowPlan plan = planRows(matrix, shape);
  const bool stores = !call.adds && plan.shape.parts == 1 && plan.isShared;
  if (!stores && !call.adds)
    check(cudaMemsetAsync(call.counts, 0, matrix.rows * call.slots * sizeof(Count), call.stream), "cudaMemsetAsync");
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, call.stream, call.function);
  config.sharedBytes = plan.sharedBytes;
  const auto slots = static_cast<unsigned>(call.slots);
  if (!plan.isShared)
    return launch(rowGlobalHistogramKernel<View, Count>, config, view, plan.shape,
                  GlobalCounters<Count>{slots, call.counts});
  const auto kernel = stores ? rowHistogramKernel<true, View, Count> : rowHistogramKernel<false, View, Count>;
  launch(kernel, config, view, plan.shape, slots, call.counts);
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
  if (matrix.cols > 0)
    return launchRowHistograms(call, matrix, viewOf(deviceIterator(in, span, function, "in"), slotOfElement));
  if (!Policy::ADDS) clearCounts(HistogramCall<Count>{function, stream, counts, all, false});
}

GPUOPT_DETAIL_END
