/// \file
/// Rows added to rows by index: gradients of embeddings, contributions of a mesh's elements to its nodes.
///
///     gpuopt::addRows(rows, indices, n, table, stream);                              // row indices[i] += row i
///     gpuopt::addRows<gpuopt::RowAddition::atomic>(rows, indices, n, table, stream);  // for few rows
///     gpuopt::addRows<gpuopt::RowAddition::deterministic, gpuopt::RowIndices::padded>(rows, indices, n, table);
///
/// **Common to all.** Matrices are MatrixViews or mdspans, row-major in device memory, with rows of any length and any
/// leading dimension; `out` has elements of float, double, __half or __nv_bfloat16, `in` of these or any arithmetic
/// type. `indices` are n integers of any type in device memory, or a container of them in place of (indices, n); any
/// number of them may be equal. Asynchronous on `stream`; can be captured into a graph. Rows of `out` that no index
/// names are neither read nor written. If there is nothing to add, nothing is launched.
///
/// **Deterministic**, the default: the same bits on every run, on every GPU and for every alignment. Each row of `out`
/// is read, the rows for it are added in the order of the indices in float, or in double if a side has doubles, and it
/// is written once, with one rounding to its type. Up to 6144 indices, unless 16384 vectors of 16 bytes or more go to
/// each row of `out` on average, that is one launch without scratch memory, in which each block selects the indices of
/// its rows. Other indices are grouped by a stable sort by counting, in scratch memory of 20 bytes for each index and
/// 16 for each row of `out` that can be named, allocated in the order of the stream. From 256 MiB of rows of 64 to 1024
/// bytes on, of which 4 to 10 go to each row of `out` on average, their positions are first listed in 16 slots of each
/// row of `out`, and only those of rows with more are grouped: about 200 bytes more of scratch memory for each row of
/// `out`. Sums are rounded once for each 2^24 indices, or 2^23 if they are listed. `out` has fewer than 2^32 rows.
///
/// **Atomic**: each element is converted to the type of `out` and added by an atomic operation, in any order and with a
/// rounding each: other bits each time. From sm_90 on, 16 bytes at a time. One launch without scratch memory. From
/// 256 MiB of rows of 64 bytes and more on, of which 4 to 128 go to each row of `out` on average, their positions are
/// first listed in slots of the rows, and each list is added up in float or double before one atomic addition: scratch
/// memory of up to 56 bytes for each of up to 2^23 indices.
///
/// **Cost.** One read of each row of `in`, one read and one write of each row of `out` that is named. The deterministic
/// form first reads the indices; of many, it also writes and reads their positions twice. A thread adds up to 16 bytes
/// of a row, with several rows in flight; blocks add long lists together.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: null or misaligned pointers, too
/// few rows, different lengths of rows, memory of `out` that overlaps that of `in` or the indices. An index outside
/// `out` is undefined behaviour; with GPUOPT_CHECK_POINTERS it throws std::invalid_argument, too, after waiting for the
/// stream, unless the stream is being captured. Errors of the runtime throw CudaError.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/device/rows/add_arguments.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// Adds row i of `in` to row indices[i] of `out`, for every i < n.
///
/// \param in at least n rows
/// \param indices n integers below out.rows, equal ones as often as wanted; with RowIndices::padded also negative ones
/// \param n the number of indices
/// \param out the rows to add to, of as many elements
/// \param stream the launches are queued there
/// \tparam ADDITION RowAddition::atomic: faster, with other bits each time
/// \tparam INDICES RowIndices::padded: rows of negative indices are skipped
template <RowAddition ADDITION = RowAddition::deterministic, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Out, class = detail::EnableMatrices<In, Out>>
void addRows(const In& in, const Index* indices, std::size_t n, const Out& out, StreamRef stream = {}) {
  constexpr const char* NAME = "gpuopt::addRows";
  detail::addRowsOf<ADDITION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                       detail::rowsOf(out, "out", NAME), stream);
}

/// The same with a container of indices.
template <RowAddition ADDITION = RowAddition::deterministic, RowIndices INDICES = RowIndices::trusted, class In,
          class Indices, class Out, class = detail::EnableMatrices<In, Out>, class = detail::EnableRange<Indices>>
void addRows(const In& in, Indices&& indices, const Out& out, StreamRef stream = {}) {
  gpuopt::addRows<ADDITION, INDICES>(in, detail::dataOf(indices), detail::sizeOf(indices), out, stream);
}

/// Says in one line how `addRows` adds rows: the passes that group the indices, scratch memory, the launch of the
/// addition, and the bytes that move. Nothing is launched. Errors are those of the call. The words may change from
/// version to version.
///
/// \tparam ADDITION as of `addRows`
/// \tparam INDICES as of `addRows`
template <RowAddition ADDITION = RowAddition::deterministic, RowIndices INDICES = RowIndices::trusted, class In,
          class Index, class Out, class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainAddRows(const In& in, const Index* indices, std::size_t n, const Out& out) {
  constexpr const char* NAME = "gpuopt::explainAddRows";
  return detail::explainAddRowsOf<ADDITION, INDICES>(NAME, detail::rowsOf(in, "in", NAME), indices, n,
                                                     detail::rowsOf(out, "out", NAME));
}

/// The same with a container of indices.
template <RowAddition ADDITION = RowAddition::deterministic, RowIndices INDICES = RowIndices::trusted, class In,
          class Indices, class Out, class = detail::EnableMatrices<In, Out>, class = detail::EnableRange<Indices>>
[[nodiscard]] std::string explainAddRows(const In& in, Indices&& indices, const Out& out) {
  return gpuopt::explainAddRows<ADDITION, INDICES>(in, detail::dataOf(indices), detail::sizeOf(indices), out);
}

GPUOPT_NAMESPACE_END
