/// \file
/// What combineRows checks before it launches anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/structs/gather.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class In, class Out, class Weight>
constexpr bool requireCombinableRows() {
  using Element = std::remove_const_t<In>;
  using Sum = RowSum<Element, Out>;
  constexpr bool ADDS = std::is_constructible_v<Sum, Element> && std::is_constructible_v<Sum, Weight> &&
                        std::is_constructible_v<Out, Sum>;
  static_assert(!std::is_const_v<Out>, "gpuopt: the elements of out are const");
  static_assert(ADDS || std::is_const_v<Out>,
                "gpuopt: rows are combined in float, or in double: their elements and weights must convert to it, and "
                "it to the elements of out");
  return !std::is_const_v<Out> && ADDS;
}

// Both matrices, and `total` indices, and weights if any.
inline void requireCombines(const NamedView& in, const NamedView& out, const NamedArray& indices,
                            const NamedArray& weights, const char* function) {
  requireSameCols(in, out, function);
  requireNoOverlap(in, out, function);
  for (const NamedArray& array : {indices, weights}) {
    requireArray(array, function);
    requireNoOverlap(array, out, function);
  }
}

template <class In, class Out>
CombineRowsRequest combineRowsRequest(const MatrixView<In>& in, const MatrixView<Out>& out) {
  return {reinterpret_cast<std::uintptr_t>(in.data),
          reinterpret_cast<std::uintptr_t>(out.data),
          out.rows,
          out.cols,
          in.ld,
          out.ld,
          sizeof(In),
          sizeof(Out)};
}

// k rows each.
template <RowCombination COMBINATION, RowIndices INDICES, class In, class Index, class Weight, class Out>
void combineFixed(const char* name, const MatrixView<In>& in, const Index* indices, const Weight* weights,
                  std::size_t k, const MatrixView<Out>& out, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(name);
  if constexpr (requireIndexType<Index>() && requireCombinableRows<In, Out, Weight>()) {
    requireRows(in, "in", name);
    requireRows(out, "out", name);
    requireSize(k, {"k"}, name);
    const std::size_t total = cappedProduct(out.rows, k);
    requireCombines(named(in, "in"), named(out, "out"), namedArray(indices, total, "indices"),
                    namedArray(weights, weights == nullptr ? 0 : total, "weights"), name);
    requireRowIndices(indices, total, in.rows, INDICES, name, stream);
    launchCombineRows<COMBINATION, INDICES, std::remove_const_t<In>, Out>(
        combineRowsRequest(in, out), reinterpret_cast<const IndexWord<Index>*>(indices), weights, FixedBounds{k}, name,
        stream);
  }
}

// Rows from one offset to the next. How many there are only the device knows.
template <RowCombination COMBINATION, RowIndices INDICES, class In, class Index, class Weight, class Offset, class Out>
void combineRagged(const char* name, const MatrixView<In>& in, const Index* indices, const Weight* weights,
                   const Offset* offsets, const MatrixView<Out>& out, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(name);
  if constexpr (requireIndexType<Index>() && requireIndexType<Offset>() && requireCombinableRows<In, Out, Weight>()) {
    requireRows(in, "in", name);
    requireRows(out, "out", name);
    requireArray(namedArray(offsets, out.rows == 0 ? 0 : out.rows + 1, "offsets"), name);
    requireCombines(named(in, "in"), named(out, "out"), namedArray(indices, 0, "indices"),
                    namedArray(weights, 0, "weights"), name);
    launchCombineRows<COMBINATION, INDICES, std::remove_const_t<In>, Out>(
        combineRowsRequest(in, out), reinterpret_cast<const IndexWord<Index>*>(indices), weights,
        OffsetBounds<Offset>{offsets}, name, stream);
  }
}

GPUOPT_DETAIL_END
