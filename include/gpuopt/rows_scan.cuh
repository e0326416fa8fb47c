/// \file
/// Prefix sums and other scans of the rows or of the columns of a matrix.
///
///     gpuopt::inclusiveScanRows(in, out, rows, cols);                       // sums, as torch.cumsum(in, 1)
///     gpuopt::inclusiveScanColumns(in, out, gpuopt::Maximum{}, stream);     // views or mdspans: torch.cummax(in, 0)
///     gpuopt::exclusiveScanRows(in, out, 0.0f);                             // each begins with 0
///     gpuopt::inclusiveScanRows<gpuopt::Reversed>(in, out);                 // from the last column to the first
///     gpuopt::explainScanRows(in, out);                                     // says which kernel, and why
///
/// **Forms of a matrix.** MatrixViews, mdspans, or pointers, containers and spans of dense rows with (in, out, rows,
/// cols, ...). `out` may be `in` itself; otherwise they do not overlap. Rows may be those of a batch whose matrices
/// follow one another; columns are those of one matrix. Arguments of one name mean the same in all functions, and are
/// described once.
///
/// **Operation.** Any associative one, which need not be commutative: a functor or an extended lambda of two
/// accumulators. Plus unless given. Values are combined in the order of the scan: Reversed gives at i
/// op(...op(op(x[n-1], x[n-2]), ...), x[i]). The order in which operations are grouped depends on the shape, the types
/// and the alignment alone: the same bits each time. Elements and results are of any trivially copyable type; half
/// types accumulate in float (AccumulatorFor), and accumulators have at most 32 bytes.
///
/// **Common to all.** Asynchronous on `stream`, and can be captured. One read and one write of the matrix, in one
/// launch; more launches where blocks that share rows or columns need more words than a Workspace has. Words of 16
/// bytes at any alignment that both sides have in common. Throws std::invalid_argument for shapes that differ, ld <
/// cols, null pointers, and overlaps that are not in place. Technique: words in registers, scans of lanes by shuffles;
/// blocks that share a row or a column publish totals, and wait for those of the blocks before them (after the
/// look-back of Merrill and Garland 2016, but in a fixed order).
///
/// <gpuopt/warp/scan.cuh> and <gpuopt/block/scan.cuh>, included here, have the device functions for your own kernels.
/// More: docs/rows_scan.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/rows/scan_launch.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/scan.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// A scan from the first element to the last.
struct Forward {
  static constexpr bool isReversed = false;  ///< the direction
};

/// A scan from the last element to the first.
struct Reversed {
  static constexpr bool isReversed = true;  ///< the direction
};

/// The inclusive scan of each row: its element i of `out` is op over `init` and its elements 0 to i of `in`.
///
/// \param in the matrix
/// \param out a matrix of the same shape, which may be `in` itself
/// \param op the operation
/// \param init what each row begins with
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op, class Init,
          class = detail::EnableOperation<Op, Init>, class = detail::EnableMatrices<In, Out>>
void inclusiveScanRows(const In& in, const Out& out, Op op, Init init, StreamRef stream = nullptr,
                       Workspace* workspace = nullptr) {
  detail::scanWith<true, Order::isReversed, false, A>("gpuopt::inclusiveScanRows", in, out, stream, workspace, op,
                                                      init);
}

/// The same without `init`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>,
          class = detail::EnableMatrices<In, Out>>
void inclusiveScanRows(const In& in, const Out& out, Op op = {}, const Stream& stream = {},
                       Workspace* workspace = nullptr) {
  detail::scanWith<true, Order::isReversed, false, A>("gpuopt::inclusiveScanRows", in, out, StreamRef(stream),
                                                      workspace, op);
}

/// The sums, on a stream.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out,
          class = detail::EnableMatrices<In, Out>>
void inclusiveScanRows(const In& in, const Out& out, StreamRef stream, Workspace* workspace = nullptr) {
  gpuopt::inclusiveScanRows<Order, A>(in, out, Plus{}, stream, workspace);
}

/// The same for dense rows at pointers, or in containers or spans:
/// `inclusiveScanRows(in, out, rows, cols[, op[, init]][, stream[, workspace]])`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
void inclusiveScanRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Args&... args) {
  detail::requireShape(rows, cols, "gpuopt::inclusiveScanRows");
  gpuopt::inclusiveScanRows<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::inclusiveScanRows"),
                                      detail::denseView(out, rows, cols, "out", "gpuopt::inclusiveScanRows"), args...);
}

/// The exclusive scan of each row: its element i of `out` is op over `init` and its elements 0 to i - 1 of `in`.
///
/// \param init what each row of `out` begins with
/// \param op the operation, Plus unless given
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Init, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Init, Op>,
          class = detail::EnableStream<Stream>, class = detail::EnableMatrices<In, Out>>
void exclusiveScanRows(const In& in, const Out& out, Init init, Op op = {}, const Stream& stream = {},
                       Workspace* workspace = nullptr) {
  detail::scanWith<true, Order::isReversed, true, A>("gpuopt::exclusiveScanRows", in, out, StreamRef(stream), workspace,
                                                     op, init);
}

/// The sums, on a stream.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Init,
          class = detail::EnableOperation<Init>, class = detail::EnableMatrices<In, Out>>
void exclusiveScanRows(const In& in, const Out& out, Init init, StreamRef stream, Workspace* workspace = nullptr) {
  gpuopt::exclusiveScanRows<Order, A>(in, out, init, Plus{}, stream, workspace);
}

/// The same for dense rows at pointers, or in containers or spans:
/// `exclusiveScanRows(in, out, rows, cols, init[, op][, stream[, workspace]])`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
void exclusiveScanRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Args&... args) {
  detail::requireShape(rows, cols, "gpuopt::exclusiveScanRows");
  gpuopt::exclusiveScanRows<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::exclusiveScanRows"),
                                      detail::denseView(out, rows, cols, "out", "gpuopt::exclusiveScanRows"), args...);
}

/// Says in one line which kernel scans the rows of these views, its launch, the bytes that it moves, and why. Nothing
/// is launched; of the pointers only the alignment matters. The words may change from version to version.
///
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op = Plus,
          class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainScanRows(const In& in, const Out& out, Op = {}) {
  return detail::explainScan<true, Order::isReversed, A, Op>("gpuopt::explainScanRows", in, out);
}

/// The same for dense rows at pointers, or in containers or spans.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainScanRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Args&... op) {
  detail::requireShape(rows, cols, "gpuopt::explainScanRows");
  return gpuopt::explainScanRows<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::explainScanRows"),
                                           detail::denseView(out, rows, cols, "out", "gpuopt::explainScanRows"), op...);
}

/// The inclusive scan of each column: its element i of `out` is op over `init` and its elements 0 to i of `in`.
///
/// \param init what each column begins with
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op, class Init,
          class = detail::EnableOperation<Op, Init>, class = detail::EnableMatrices<In, Out>>
void inclusiveScanColumns(const In& in, const Out& out, Op op, Init init, StreamRef stream = nullptr,
                          Workspace* workspace = nullptr) {
  detail::scanWith<false, Order::isReversed, false, A>("gpuopt::inclusiveScanColumns", in, out, stream, workspace, op,
                                                       init);
}

/// The same without `init`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>,
          class = detail::EnableMatrices<In, Out>>
void inclusiveScanColumns(const In& in, const Out& out, Op op = {}, const Stream& stream = {},
                          Workspace* workspace = nullptr) {
  detail::scanWith<false, Order::isReversed, false, A>("gpuopt::inclusiveScanColumns", in, out, StreamRef(stream),
                                                       workspace, op);
}

/// The sums, on a stream.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out,
          class = detail::EnableMatrices<In, Out>>
void inclusiveScanColumns(const In& in, const Out& out, StreamRef stream, Workspace* workspace = nullptr) {
  gpuopt::inclusiveScanColumns<Order, A>(in, out, Plus{}, stream, workspace);
}

/// The same for dense rows at pointers, or in containers or spans:
/// `inclusiveScanColumns(in, out, rows, cols[, op[, init]][, stream[, workspace]])`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
void inclusiveScanColumns(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Args&... args) {
  detail::requireShape(rows, cols, "gpuopt::inclusiveScanColumns");
  gpuopt::inclusiveScanColumns<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::inclusiveScanColumns"),
                                         detail::denseView(out, rows, cols, "out", "gpuopt::inclusiveScanColumns"),
                                         args...);
}

/// The exclusive scan of each column: its element i of `out` is op over `init` and its elements 0 to i - 1 of `in`.
///
/// \param init what each column of `out` begins with
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Init, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Init, Op>,
          class = detail::EnableStream<Stream>, class = detail::EnableMatrices<In, Out>>
void exclusiveScanColumns(const In& in, const Out& out, Init init, Op op = {}, const Stream& stream = {},
                          Workspace* workspace = nullptr) {
  detail::scanWith<false, Order::isReversed, true, A>("gpuopt::exclusiveScanColumns", in, out, StreamRef(stream),
                                                      workspace, op, init);
}

/// The sums, on a stream.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Init,
          class = detail::EnableOperation<Init>, class = detail::EnableMatrices<In, Out>>
void exclusiveScanColumns(const In& in, const Out& out, Init init, StreamRef stream, Workspace* workspace = nullptr) {
  gpuopt::exclusiveScanColumns<Order, A>(in, out, init, Plus{}, stream, workspace);
}

/// The same for dense rows at pointers, or in containers or spans:
/// `exclusiveScanColumns(in, out, rows, cols, init[, op][, stream[, workspace]])`.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
void exclusiveScanColumns(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Args&... args) {
  detail::requireShape(rows, cols, "gpuopt::exclusiveScanColumns");
  gpuopt::exclusiveScanColumns<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::exclusiveScanColumns"),
                                         detail::denseView(out, rows, cols, "out", "gpuopt::exclusiveScanColumns"),
                                         args...);
}

/// Says in one line which kernel scans the columns of these views, its launch, the bytes that it moves, and why.
/// Nothing is launched; of the pointers only the alignment matters. The words may change from version to version.
///
/// \tparam Order Forward or Reversed
/// \tparam A the accumulator; that of AccumulatorFor unless given
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class Op = Plus,
          class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainScanColumns(const In& in, const Out& out, Op = {}) {
  return detail::explainScan<false, Order::isReversed, A, Op>("gpuopt::explainScanColumns", in, out);
}

/// The same for dense rows at pointers, or in containers or spans.
template <class Order = Forward, class A = DefaultAccumulator, class In, class Out, class... Args,
          class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainScanColumns(In&& in, Out&& out, std::size_t rows, std::size_t cols,
                                             const Args&... op) {
  detail::requireShape(rows, cols, "gpuopt::explainScanColumns");
  return gpuopt::explainScanColumns<Order, A>(detail::denseView(in, rows, cols, "in", "gpuopt::explainScanColumns"),
                                              detail::denseView(out, rows, cols, "out", "gpuopt::explainScanColumns"),
                                              op...);
}

GPUOPT_NAMESPACE_END
