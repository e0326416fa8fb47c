/// \file
/// Rows of a matrix by index: gathered into another matrix, or scattered to one, with a function on the way.
///
///     gpuopt::MatrixView<const float> table{data, 50000, 768};
///     gpuopt::MatrixView<float> rows{out, n, 768};
///
///     gpuopt::gatherRows(table, indices, n, rows, stream);                                // row i = row indices[i]
///     gpuopt::gatherRows<gpuopt::RowIndices::padded>(table, indices, n, rows, stream);    // of -1: zeros
///     gpuopt::gatherRows(table, indices, n, halves, gpuopt::Cast<__half>{}, stream);      // converted on the way
///     gpuopt::scatterRows(rows, indices, n, grid, stream);                                // row indices[i] = row i
///
/// **Common to all.** Matrices are MatrixViews or mdspans, row-major in device memory, with rows of any length, any
/// leading dimension and any trivially copyable elements; a batch whose matrices follow one another counts as one
/// matrix. `indices` are n integers of any type in device memory, or a container of them in place of (indices, n).
/// `function` is any functor or extended lambda for device code with a const call operator, called once for each
/// element; without one, both matrices have elements of one type. Each call is one launch, asynchronous on `stream`,
/// without scratch memory; it can be captured into a graph. If there is nothing to move, nothing is launched.
///
/// **Cost.** One read and one write of each row. Neighbouring threads move neighbouring words, of up to 16 bytes where
/// the addresses, the rows and the leading dimensions are multiples of 16 bytes, else of the largest power of two.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: null or misaligned pointers, too
/// few rows, different lengths of rows, memory of `out` that overlaps that of `in` or the indices. An index outside
/// the matrix is undefined behaviour; with GPUOPT_CHECK_POINTERS it throws std::invalid_argument, too, after waiting
/// for the stream, unless the stream is being captured. Errors of the runtime throw CudaError.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/gather_arguments.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// Row i of `out` becomes row indices[i] of `in`, for every i < n.
///
/// \param in the rows to choose from, as often as the indices say
/// \param indices n integers below in.rows; with RowIndices::padded also negative ones
/// \param n the number of indices
/// \param out at least n rows of as many elements; others keep their values
/// \param function applied to each element on the way
/// \param stream the launch is queued there
/// \tparam INDICES RowIndices::padded: a negative index gives a row of zeros
template <RowIndices INDICES = RowIndices::trusted, class In, class Index, class Out, class F,
          class = detail::EnableMatrices<In, Out>, class = detail::EnableFunction<F>>
void gatherRows(const In& in, const Index* indices, std::size_t n, const Out& out, F function, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::gatherRows";
  detail::moveRows<detail::Indexed::in, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                 detail::rowsOf(out, "out", NAME), function, stream);
}

/// The same without a function.
template <RowIndices INDICES = RowIndices::trusted, class In, class Index, class Out,
          class = detail::EnableMatrices<In, Out>>
void gatherRows(const In& in, const Index* indices, std::size_t n, const Out& out, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::gatherRows";
  detail::moveRows<detail::Indexed::in, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                 detail::rowsOf(out, "out", NAME), Identity{}, stream);
}

/// The same with a container of indices: `gatherRows(in, indices, out[, function][, stream])`.
template <RowIndices INDICES = RowIndices::trusted, class In, class Indices, class Out, class... Args,
          class = detail::EnableMatrices<In, Out>, class = detail::EnableRange<Indices>>
void gatherRows(const In& in, Indices&& indices, const Out& out, const Args&... args) {
  gpuopt::gatherRows<INDICES>(in, detail::dataOf(indices), detail::sizeOf(indices), out, args...);
}

/// Row indices[i] of `out` becomes row i of `in`, for every i < n. Other rows of `out` keep their values.
///
/// \param in at least n rows
/// \param indices n integers below out.rows, all different: a row written twice may end up a mixture; with
/// RowIndices::padded also negative ones
/// \param n the number of indices
/// \param out the rows to write to, of as many elements
/// \param function applied to each element on the way
/// \param stream the launch is queued there
/// \tparam INDICES RowIndices::padded: rows of negative indices are skipped
template <RowIndices INDICES = RowIndices::trusted, class In, class Index, class Out, class F,
          class = detail::EnableMatrices<In, Out>, class = detail::EnableFunction<F>>
void scatterRows(const In& in, const Index* indices, std::size_t n, const Out& out, F function, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::scatterRows";
  detail::moveRows<detail::Indexed::out, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                  detail::rowsOf(out, "out", NAME), function, stream);
}

/// The same without a function.
template <RowIndices INDICES = RowIndices::trusted, class In, class Index, class Out,
          class = detail::EnableMatrices<In, Out>>
void scatterRows(const In& in, const Index* indices, std::size_t n, const Out& out, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::scatterRows";
  detail::moveRows<detail::Indexed::out, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                  detail::rowsOf(out, "out", NAME), Identity{}, stream);
}

/// The same with a container of indices: `scatterRows(in, indices, out[, function][, stream])`.
template <RowIndices INDICES = RowIndices::trusted, class In, class Indices, class Out, class... Args,
          class = detail::EnableMatrices<In, Out>, class = detail::EnableRange<Indices>>
void scatterRows(const In& in, Indices&& indices, const Out& out, const Args&... args) {
  gpuopt::scatterRows<INDICES>(in, detail::dataOf(indices), detail::sizeOf(indices), out, args...);
}

/// \name How rows move
/// One line about the launch of a call with these arguments: the words that threads move, the grid, and the bytes to
/// read and write, those of the indices included. Nothing is launched. Errors are those of the call. The words may
/// change from version to version.
/// \{

/// Says in one line how `gatherRows` moves rows.
template <class In, class Index, class Out, class F = Identity, class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainGatherRows(const In& in, const Index* indices, std::size_t n, const Out& out,
                                            F function = {}) {
  constexpr const char* NAME = "gpuopt::explainGatherRows";
  return detail::explainMoveRows<detail::Indexed::in>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                      detail::rowsOf(out, "out", NAME), function);
}

/// The same with a container of indices.
template <class In, class Indices, class Out, class F = Identity, class = detail::EnableMatrices<In, Out>,
          class = detail::EnableRange<Indices>>
[[nodiscard]] std::string explainGatherRows(const In& in, Indices&& indices, const Out& out, F function = {}) {
  return gpuopt::explainGatherRows(in, detail::dataOf(indices), detail::sizeOf(indices), out, function);
}

/// Says in one line how `scatterRows` moves rows.
template <class In, class Index, class Out, class F = Identity, class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainScatterRows(const In& in, const Index* indices, std::size_t n, const Out& out,
                                             F function = {}) {
  constexpr const char* NAME = "gpuopt::explainScatterRows";
  return detail::explainMoveRows<detail::Indexed::out>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                       detail::rowsOf(out, "out", NAME), function);
}

/// The same with a container of indices.
template <class In, class Indices, class Out, class F = Identity, class = detail::EnableMatrices<In, Out>,
          class = detail::EnableRange<Indices>>
[[nodiscard]] std::string explainScatterRows(const In& in, Indices&& indices, const Out& out, F function = {}) {
  return gpuopt::explainScatterRows(in, detail::dataOf(indices), detail::sizeOf(indices), out, function);
}
/// \}

GPUOPT_NAMESPACE_END
