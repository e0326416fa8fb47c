/// \file
/// The launch of reduceColumns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/reduce/column_tiles.cuh>
#include <gpuopt/device/reduce/columns_plan.cuh>
#include <gpuopt/device/reduce/reducer.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// In blocks of as many threads as the plan says: of the two sizes, or of the one that there is for the source.
template <class Policy, class Source, class Reducer, class Out>
void launchColumnTiles(const ReduceCall& call, const Reducer& reducer, const Source& source,
                       const ReduceColumnsPlan& plan, const Out& out) {
  constexpr std::size_t BYTES = sizeof(typename Reducer::Partial);
  constexpr int BLOCK = columnsBlock<Policy>(Source::STEP, BYTES), WIDE = flatBlock<Policy>(Source::STEP, BYTES);
  if (plan.grid.threads == WIDE)
    launchGrid(call, plan.grid, columnsKernel<WIDE, Policy, Source, Reducer, Out>, source, reducer, plan.tiles, out);
  else
    launchGrid(call, plan.grid, columnsKernel<BLOCK, Policy, Source, Reducer, Out>, source, reducer, plan.tiles, out);
}

template <class Reducer, class View>
ReduceColumnsRequest reduceColumnsRequest(const View& view, const MatrixShape& matrix) {
  ReduceColumnsRequest request;
  request.matrix = matrix;
  request.elementBytes = sizeof(typename View::Element);
  request.stepElements = View::Source::STEP;
  request.partialBytes = sizeof(typename Reducer::Partial);
  request.resultBytes = sizeof(typename Reducer::Result);
  request.head = view.stepsFromBoundary().head;
  request.flatHead = matrix.ld == matrix.cols ? view.flat(matrix.rows * matrix.cols).head : 0;
  request.areAligned = view.hasAlignedRows(matrix);
  return request;
}

template <class Policy, class View, class Reducer, class Out>
void launchColumnsOf(const ReduceCall& call, const Reducer& reducer, const View& view, const MatrixShape& matrix,
                     const Out& out) {
  using Algorithm = ReduceColumnsAlgorithm;
  const ReduceColumnsPlan plan = planReduceColumns<Policy>(reduceColumnsRequest<Reducer>(view, matrix));
  const auto launchFor = [&](const auto& source) { launchColumnTiles<Policy>(call, reducer, source, plan, out); };
  switch (plan.algorithm) {
    case Algorithm::nothing:
      return;
    case Algorithm::flat:
      return launchFor(view.flat(matrix.rows * matrix.cols));
    case Algorithm::steps:
      return launchFor(view.stepsFromBoundary());
    case Algorithm::elements:
      return launchFor(view.elementwise().steps());
  }
}

// Calls use(view) with a view whose partial results fit into shared memory. A warp that reads vectors needs memory for
// a partial result of each of their elements; where these are too large, it reads elements.
template <class Policy, class Reducer, class View, class Use>
void withColumnsView(const View& view, const Use& use) {
  constexpr std::size_t WARP_PARTIALS = 32 * sizeof(typename Reducer::Partial);
  static_assert(WARP_PARTIALS <= Policy::sharedBytes,
                "gpuopt: the accumulator of a column is too large: 32 of them must fit into 32 KiB");
  if constexpr (WARP_PARTIALS * View::Source::STEP <= Policy::sharedBytes)
    use(view);
  else
    use(view.elementwise());
}

// Reduces f of the elements of each column.
template <class Policy, class It, class F, class Reducer, class Out>
void launchColumns(const ReduceCall& call, const Reducer& reducer, It in, const F& f, const MatrixShape& matrix,
                   const Out& results) {
  [[maybe_unused]] const CallRange range(call.function);
  const auto out = boxedOutput(results);
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>()) {
    requireMatrix(in, matrix, out, matrix.cols, call.function);
    if (matrix.cols == 0) return;
    requireResult(reducer, matrix.rows, "rows", call.function);
    withColumnsView<Policy, Reducer>(viewOf(in, f), [&](const auto& view) {
      if (matrix.rows < maxShortElements)
        launchColumnsOf<Policy>(call, withShortIndices(reducer), view, matrix, out);
      else
        launchColumnsOf<Policy>(call, reducer, view, matrix, out);
    });
  }
}

template <class Policy, class Reducer, class It>
std::string columnsInWords(const char* function, It in, const MatrixShape& matrix) {
  requireMatrix(in, matrix, nullptr, 0, function);
  std::string text;
  withColumnsView<Policy, Reducer>(viewOf(in, Identity{}), [&](const auto& view) {
    text = planInWords(planReduceColumns<Policy>(reduceColumnsRequest<Reducer>(view, matrix)));
  });
  return text;
}

template <class Policy, class Reducer, class It>
std::string explainColumns(const char* function, const Reducer& reducer, It in, const MatrixShape& matrix) {
  if (matrix.cols > 0) requireResult(reducer, matrix.rows, "rows", function);
  return columnsInWords<Policy, Reducer>(function, in, matrix);
}

GPUOPT_DETAIL_END
