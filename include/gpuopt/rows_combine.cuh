/// \file
/// Sums of rows by index, with weights: the combination of a mixture of experts, bags of embeddings.
///
///     gpuopt::combineRows(experts, indices, weights, 8, tokens, stream);  // row r: sum of 8 rows, weighted
///     gpuopt::combineRows(table, indices, 8, bags, stream);               // without weights
///     gpuopt::combineRows(table, indices, weights, offsets, bags, stream);  // rows offsets[r] to offsets[r + 1]
///     gpuopt::combineRows<gpuopt::RowCombination::mean>(table, indices, 8, bags, stream);
///     gpuopt::combineRows<gpuopt::RowCombination::sum, gpuopt::RowIndices::padded>(table, indices, 8, bags, stream);
///
/// **Common to all.** Matrices are MatrixViews or mdspans, row-major in device memory, with rows of any length and any
/// leading dimension, of arithmetic types, __half or __nv_bfloat16. Sums are accumulated in float, or in double if
/// `in` or `out` has doubles, in the order of the indices by fused multiply-adds: the same bits on every run and for
/// every alignment. No rows give zeros. Each call is one launch, asynchronous on `stream`, without scratch memory; it
/// can be captured into a graph. If `out` is empty, nothing is launched.
///
/// **Cost.** One read of each row that the indices name, and one write of `out`. A thread sums up to 16 bytes of a
/// row, with eight rows in flight. Few long lists of rows leave most of the device idle.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: null or misaligned pointers,
/// different lengths of rows, memory of `out` that overlaps that of the inputs. An index outside `in` is undefined
/// behaviour; with GPUOPT_CHECK_POINTERS it throws std::invalid_argument where k is given, after waiting for the
/// stream, unless that is being captured. Errors of the runtime throw CudaError.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/combine_arguments.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// Row r of `out` becomes the sum of weights[r * k + j] times row indices[r * k + j] of `in`, for j < k.
///
/// \param in the rows to sum
/// \param indices out.rows * k integers below in.rows, of any type, in device memory; with RowIndices::padded also
/// negative ones
/// \param weights as many numbers in device memory
/// \param k rows to combine for each row of `out`
/// \param out receives the sums, in rows of as many elements
/// \param stream the launch is queued there
/// \tparam COMBINATION the sum, or the mean: the sum over the number of rows
/// \tparam INDICES RowIndices::padded: negative indices are skipped
template <RowCombination COMBINATION = RowCombination::sum, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Weight, class Out, class = detail::EnableMatrices<In, Out>>
void combineRows(const In& in, const Index* indices, const Weight* weights, std::size_t k, const Out& out,
                 StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::combineRows";
  if (weights == nullptr && k > 0) detail::throwInvalid({NAME, ": weights is null: leave it out for sums"});
  detail::combineFixed<COMBINATION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, weights, k,
                                             detail::rowsOf(out, "out", NAME), stream);
}

/// The same without weights.
template <RowCombination COMBINATION = RowCombination::sum, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Out, class = detail::EnableMatrices<In, Out>>
void combineRows(const In& in, const Index* indices, std::size_t k, const Out& out, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::combineRows";
  detail::combineFixed<COMBINATION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices,
                                             static_cast<const float*>(nullptr), k, detail::rowsOf(out, "out", NAME),
                                             stream);
}

/// The same of any number of rows: row r of `out` combines those from indices[offsets[r]] to indices[offsets[r + 1]],
/// with the weights at the same places.
///
/// \param offsets out.rows + 1 integers of any type in device memory, ascending
template <RowCombination COMBINATION = RowCombination::sum, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Weight, class Offset, class Out, class = detail::EnableMatrices<In, Out>>
void combineRows(const In& in, const Index* indices, const Weight* weights, const Offset* offsets, const Out& out,
                 StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::combineRows";
  detail::combineRagged<COMBINATION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, weights, offsets,
                                              detail::rowsOf(out, "out", NAME), stream);
}

/// The same without weights.
template <RowCombination COMBINATION = RowCombination::sum, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Offset, class Out, class = detail::EnableMatrices<In, Out>>
void combineRows(const In& in, const Index* indices, const Offset* offsets, const Out& out, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::combineRows";
  detail::combineRagged<COMBINATION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices,
                                              static_cast<const float*>(nullptr), offsets,
                                              detail::rowsOf(out, "out", NAME), stream);
}

/// Says in one line how `combineRows` combines rows of these matrices. Nothing is launched. The words may change from
/// version to version.
template <class In, class Out, class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainCombineRows(const In& in, const Out& out) {
  constexpr const char* NAME = "gpuopt::explainCombineRows";
  return detail::planInWords(detail::planCombineRows(
      detail::combineRowsRequest(detail::rowsOf(in, "in", NAME), detail::rowsOf(out, "out", NAME))));
}

GPUOPT_NAMESPACE_END
