/// \file
/// Reductions of the columns of a matrix: sums and other folds, extremes, positions, moments.
///
///     gpuopt::reduceColumns(matrix, rows, cols, sums);
///     gpuopt::argMaxColumns(matrix, rows, cols, ld, found, stream);
///
/// The forms of a matrix and of `out` are those of <gpuopt/reduce_rows.cuh>.
///
/// **Common to all.** Asynchronous on `stream`; one launch, and for a batch one for each of its matrices. No columns:
/// nothing happens. No rows: folds give `init` or the neutral element, the others what their array functions give for
/// n = 0. Throws std::invalid_argument for ld < cols, null pointers, overlapping `in` and `out`, and for no rows
/// without init and neutral element. Elements between rows (ld > cols) are not read. Accumulators have up to 1 KiB.
///
/// **Cost.** One read of the matrix at near the speed of a plain sum, by 16-byte vectors wherever rows begin. Three
/// inputs are read element by element, which costs narrow types (half, bytes) speed: rows shorter than 16 vectors that
/// have gaps between them and are not multiples of 16 bytes; matrices with fewer rows than it takes (16 at most) until
/// the misalignment of the rows repeats; and iterators. Partial results of columns that several blocks share need the
/// Workspace. The order of operations depends on the shape, ld, the types and the alignment of `in`. Technique:
/// neighbouring threads read neighbouring columns, so that every access is a full line, and add up their columns in
/// registers; threads of the same columns combine through shared memory, blocks by a ticket per tile. A thread takes
/// rows of equal misalignment; where there are gaps between rows, what is before the first and after the last 16-byte
/// boundary of a row is read by elements.
///
/// `<A, Policy>`, `stream` and `workspace` are those of all reductions: <gpuopt/reduce.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/columns.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/matrix_input.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// out[c] = op over in[r * ld + c] for all rows r, and over `init` where it is given.
///
/// \param in,rows,cols,ld the matrix
/// \param out receives the results, one for each column
/// \param op the operation, Plus unless given
/// \param init combined once with each result, from the left; op's neutral element unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out, class Op,
          class Init, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op, Init>>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op, Init init,
                   StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::reduceColumns", stream, workspace},
                                detail::foldOf<Reduced<A, Op, It>>(op, init), in, Identity{}, {rows, cols, ld}, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op = {},
                   const Stream& stream = {}, Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::reduceColumns", StreamRef(stream), workspace},
                                detail::foldOf<Reduced<A, Op, It>>(op), in, Identity{}, {rows, cols, ld}, out);
}

/// The sums, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void reduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream,
                   Workspace* workspace = nullptr) {
  reduceColumns<A, Policy>(in, rows, cols, ld, out, Plus{}, stream, workspace);
}

/// The same for the other forms of a matrix: `reduceColumns(matrix, out[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void reduceColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::reduceColumns", [](const auto&... each) { reduceColumns<A, Policy>(each...); }, in, args...);
}

/// Says in one line which kernel `reduceColumns` launches for this matrix, with its grid, the bytes to read and write,
/// and why. Nothing is launched. Errors are those of the call. The words may change from version to version. Forms:
/// `explainReduceColumns(in, rows, cols[, ld][, op])`, `explainReduceColumns(view[, op])`.
///
/// \param in a matrix in any form
/// \param args the rest of that form, then the operation, Plus unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args>
[[nodiscard]] std::string explainReduceColumns(const In& in, const Args&... args) {
  constexpr const char* FUNCTION = "gpuopt::explainReduceColumns";
  const auto explain = [](auto data, const detail::MatrixShape& shape, auto op) {
    using Value = Reduced<A, decltype(op), decltype(data)>;
    return detail::explainColumns<Policy>(FUNCTION, detail::foldOf<Value>(op), data, shape);
  };
  return detail::explainMatrix<false>(FUNCTION, explain, in, args...);
}

/// out[c] = op over f(in[r * ld + c]) for all rows r, and over `init` where it is given.
///
/// \param f applied to each element, on the device; op takes its results
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out, class F,
          class Op, class Init, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op, Init>>
void transformReduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, Op op, Init init,
                            StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::transformReduceColumns", stream, workspace},
                                detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), in, detail::deviceFunction<A, It>(f),
                                {rows, cols, ld}, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out, class F,
          class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void transformReduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, Op op = {},
                            const Stream& stream = {}, Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::transformReduceColumns", StreamRef(stream), workspace},
                                detail::foldOf<ReducedBy<A, Op, F, It>>(op), in, detail::deviceFunction<A, It>(f),
                                {rows, cols, ld}, out);
}

/// The sums of f of the elements, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out, class F,
          class = detail::EnableIterators<It, Out>>
void transformReduceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, StreamRef stream,
                            Workspace* workspace = nullptr) {
  transformReduceColumns<A, Policy>(in, rows, cols, ld, out, f, Plus{}, stream, workspace);
}

/// The same for the other forms of a matrix:
/// `transformReduceColumns(matrix, out, f[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void transformReduceColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::transformReduceColumns", [](const auto&... each) { transformReduceColumns<A, Policy>(each...); }, in,
      args...);
}

/// Smallest and largest element of each column, as a MinMax.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void minMaxColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                   Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::minMaxColumns", stream, workspace},
                                detail::MinMaxOf<detail::Extreme<A, It>>{}, in, Identity{}, {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `minMaxColumns(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void minMaxColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::minMaxColumns", [](const auto&... each) { minMaxColumns<A, Policy>(each...); }, in, args...);
}

/// The smallest element of each column and the row of its first occurrence, as an ArgResult. Ties and NaN as in
/// argMin.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void argMinColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                   Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::argMinColumns", stream, workspace},
                                detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{rows}, in, Identity{},
                                {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `argMinColumns(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void argMinColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::argMinColumns", [](const auto&... each) { argMinColumns<A, Policy>(each...); }, in, args...);
}

/// The largest element of each column and the row of its first occurrence, as an ArgResult. Ties and NaN as in
/// argMax.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void argMaxColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                   Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::argMaxColumns", stream, workspace},
                                detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{rows}, in, Identity{},
                                {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `argMaxColumns(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void argMaxColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::argMaxColumns", [](const auto&... each) { argMaxColumns<A, Policy>(each...); }, in, args...);
}

/// Mean and population variance of each column, as a MeanVariance; numerically as in meanVariance.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void meanVarianceColumns(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                         Workspace* workspace = nullptr) {
  detail::launchColumns<Policy>({"gpuopt::meanVarianceColumns", stream, workspace},
                                detail::Moments<detail::Moment<A, It>>{rows}, in, Identity{}, {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `meanVarianceColumns(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void meanVarianceColumns(In&& in, Args&&... args) {
  detail::withMatrix<false>(
      "gpuopt::meanVarianceColumns", [](const auto&... each) { meanVarianceColumns<A, Policy>(each...); }, in, args...);
}

GPUOPT_NAMESPACE_END
