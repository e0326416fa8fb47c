/// \file
/// Reductions of the rows of a matrix: sums and other folds, extremes, positions, moments.
///
///     gpuopt::reduceRows(matrix, rows, cols, sums);
///     gpuopt::meanVarianceRows(matrix, rows, cols, ld, moments, stream);
///     gpuopt::transformReduceRows(matrix, rows, cols, norms, Square{});
///
/// **Forms of a matrix.** A device pointer of any element alignment, or a random-access iterator that device code can
/// read, with rows, cols and ld (elements from row to row; left out, rows are contiguous):
///
///     gpuopt::reduceRows(data, rows, cols, ld, out);
///     gpuopt::reduceRows(data, rows, cols, out);
///     gpuopt::reduceRows(view, out);                 // a MatrixView or an mdspan, also of three extents: a batch
///     gpuopt::reduceRows(vector, rows, cols, out);   // thrust::device_vector, std::span, ...
///
/// A batch gives the results of its matrices one after another. `out` is device memory, a container there, or a
/// random-access iterator that device code can write; results convert to its type, as long as nothing is lost.
///
/// **Common to all.** Asynchronous on `stream`; one launch, and for a batch whose matrices are not contiguous one for
/// each of them. No rows: nothing happens. No columns: folds give `init` or the neutral element, the others what their
/// array functions give for n = 0. Throws std::invalid_argument for ld < cols, null pointers, overlapping `in` and
/// `out`, and for no columns without init and neutral element. Elements between rows (ld > cols) do not count, but may
/// be read if `in` is a pointer.
///
/// **Cost.** One read of the matrix at near the speed of a plain sum, whatever its shape; short rows with large gaps
/// (below 2 KB, ld > 2 cols) want `in`, ld and cols to be multiples of 16 bytes. Partial results of rows that several
/// blocks share need the Workspace. The order of operations depends on the shape, the types and, by the alignment of
/// the rows, on `in`. Technique: the reduction ladder applied to rows: by its length, a group of lanes, a warp, a
/// block, or several blocks take a row.
///
/// `<A, Policy>`, `stream` and `workspace` are those of all reductions: <gpuopt/reduce.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/matrix_input.cuh>
#include <gpuopt/device/reduce/rows.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// out[r] = op over in[r * ld + c] for all columns c, and over `init` where it is given.
///
/// \param in,rows,cols,ld the matrix
/// \param out receives the results, one for each row
/// \param op the operation, Plus unless given
/// \param init combined once with each result, from the left; op's neutral element unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out, class Op,
          class Init, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op, Init>>
void reduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op, Init init,
                StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::reduceRows", stream, workspace}, detail::foldOf<Reduced<A, Op, It>>(op, init),
                             in, Identity{}, {rows, cols, ld}, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op>,
          class = detail::EnableStream<Stream>>
void reduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op = {},
                const Stream& stream = {}, Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::reduceRows", StreamRef(stream), workspace},
                             detail::foldOf<Reduced<A, Op, It>>(op), in, Identity{}, {rows, cols, ld}, out);
}

/// The sums, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void reduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream,
                Workspace* workspace = nullptr) {
  reduceRows<A, Policy>(in, rows, cols, ld, out, Plus{}, stream, workspace);
}

/// The same for the other forms of a matrix: `reduceRows(matrix, out[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void reduceRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::reduceRows", [](const auto&... each) { reduceRows<A, Policy>(each...); }, in, args...);
}

/// Says in one line which kernel `reduceRows` launches for this matrix, with its grid, the bytes to read and write, and
/// why. Nothing is launched. Errors are those of the call. The words may change from version to version. Forms:
/// `explainReduceRows(in, rows, cols[, ld][, op])`, `explainReduceRows(view[, op])`.
///
/// \param in a matrix in any form
/// \param args the rest of that form, then the operation, Plus unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args>
[[nodiscard]] std::string explainReduceRows(const In& in, const Args&... args) {
  constexpr const char* FUNCTION = "gpuopt::explainReduceRows";
  const auto explain = [](auto data, const detail::MatrixShape& shape, auto op) {
    using Value = Reduced<A, decltype(op), decltype(data)>;
    return detail::explainRows<Policy>(FUNCTION, detail::foldOf<Value>(op), data, shape);
  };
  return detail::explainMatrix<true>(FUNCTION, explain, in, args...);
}

/// out[r] = op over f(in[r * ld + c]) for all columns c, and over `init` where it is given.
///
/// \param f applied to each element, on the device; op takes its results
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out, class F, class Op,
          class Init, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op, Init>>
void transformReduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, Op op, Init init,
                         StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::transformReduceRows", stream, workspace},
                             detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), in, detail::deviceFunction<A, It>(f),
                             {rows, cols, ld}, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out, class F,
          class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void transformReduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, Op op = {},
                         const Stream& stream = {}, Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::transformReduceRows", StreamRef(stream), workspace},
                             detail::foldOf<ReducedBy<A, Op, F, It>>(op), in, detail::deviceFunction<A, It>(f),
                             {rows, cols, ld}, out);
}

/// The sums of f of the elements, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out, class F,
          class = detail::EnableIterators<It, Out>>
void transformReduceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, F f, StreamRef stream,
                         Workspace* workspace = nullptr) {
  transformReduceRows<A, Policy>(in, rows, cols, ld, out, f, Plus{}, stream, workspace);
}

/// The same for the other forms of a matrix:
/// `transformReduceRows(matrix, out, f[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void transformReduceRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::transformReduceRows", [](const auto&... each) { transformReduceRows<A, Policy>(each...); }, in, args...);
}

/// Smallest and largest element of each row, as a MinMax.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void minMaxRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::minMaxRows", stream, workspace}, detail::MinMaxOf<detail::Extreme<A, It>>{}, in,
                             Identity{}, {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `minMaxRows(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void minMaxRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::minMaxRows", [](const auto&... each) { minMaxRows<A, Policy>(each...); }, in, args...);
}

/// The smallest element of each row and the column of its first occurrence, as an ArgResult. Ties and NaN as in
/// argMin.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void argMinRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::argMinRows", stream, workspace},
                             detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{cols}, in, Identity{},
                             {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `argMinRows(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void argMinRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::argMinRows", [](const auto&... each) { argMinRows<A, Policy>(each...); }, in, args...);
}

/// The largest element of each row and the column of its first occurrence, as an ArgResult. Ties and NaN as in
/// argMax.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void argMaxRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::argMaxRows", stream, workspace},
                             detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{cols}, in, Identity{},
                             {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `argMaxRows(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void argMaxRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::argMaxRows", [](const auto&... each) { argMaxRows<A, Policy>(each...); }, in, args...);
}

/// Mean and population variance of each row, as a MeanVariance; numerically as in meanVariance.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class It, class Out,
          class = detail::EnableIterators<It, Out>>
void meanVarianceRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream = nullptr,
                      Workspace* workspace = nullptr) {
  detail::launchRows<Policy>({"gpuopt::meanVarianceRows", stream, workspace},
                             detail::Moments<detail::Moment<A, It>>{cols}, in, Identity{}, {rows, cols, ld}, out);
}

/// The same for the other forms of a matrix: `meanVarianceRows(matrix, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceRowsPolicy, class In, class... Args,
          class = detail::EnableMatrixForm<In, Args...>>
void meanVarianceRows(In&& in, Args&&... args) {
  detail::withMatrix<true>(
      "gpuopt::meanVarianceRows", [](const auto&... each) { meanVarianceRows<A, Policy>(each...); }, in, args...);
}

GPUOPT_NAMESPACE_END
