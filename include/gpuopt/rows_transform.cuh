/// \file
/// Rows normalised, quantised or otherwise transformed by a statistic of their own, in one read of each row.
///
///     gpuopt::softmaxRows(in, out, rows, cols);
///     gpuopt::layerNormRows(in, out, rows, cols, gamma, beta, 1e-5f, stream);    // gamma, beta: or nullptr
///     gpuopt::rmsNormRows(gpuopt::MatrixView{in, rows, cols, ld}, gpuopt::MatrixView{out, rows, cols}, gamma, 1e-6f);
///     gpuopt::quantizeRows(in, fp8, rows, cols, scales);                         // one scale for each row
///     gpuopt::quantizeRowBlocks(in, fp8, rows, cols, scales);                    // one for each 128 columns of a row
///     gpuopt::transformRows(in, out, rows, cols, Statistic{}, Map{}, stream);    // your own
///
/// **Forms of the matrices.** Device pointers or containers of dense rows, with rows and cols; or two MatrixViews or
/// mdspans with ld. A batch counts as one matrix if its matrices follow one another. Elements are of any arithmetic
/// type, `__half`, `__nv_bfloat16` or fp8, of different types in `in` and `out`. Computations are in float, in double
/// if the elements of `in` are double; results are rounded to the type of `out`. `out` may be `in`: the same memory,
/// ld and element size.
///
/// **Common to all.** Asynchronous on `stream`; one launch without scratch memory; the same bits on each run. No rows
/// or no columns: nothing happens. Elements between rows (ld > cols) are not written, but may be read.
///
/// **Cost.** Each row is read once and written once, from 1 KiB on at near the speed of a copy, with 16-byte accesses
/// if the rows of both matrices begin alike relative to 16 bytes: dense matrices do, of odd lengths, too. A group of
/// lanes, a warp, a block or (from sm_90 on) a cluster of blocks holds a row in registers: up to 512 KiB, or 64 KiB
/// before sm_90. Many unaligned rows of 41 to 352 elements of 1 or 2 bytes go through shared memory. Longer rows are
/// read again for each pass. `explainTransformRows` says which. More: docs/rows_transform.md.
///
/// **Errors.** std::invalid_argument, which names the function, the parameter and the values, before anything is
/// launched: shapes that differ; ld < cols; null or misaligned pointers; in and out that overlap without being the
/// same; more than 2^30 columns. Errors of the runtime throw CudaError.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_arguments.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// \name Your own statistic and map
/// \{

/// out(r, c) = map(in(r, c), the statistic of row r, c).
///
/// \param in,out matrices of one shape: MatrixViews or mdspans
/// \param statistic an object with these members, const and `__device__`; a Value is a float, or a double if the
/// elements of `in` are double:
///   - `using Partial`: trivially copyable; what is known of a part of a row
///   - `Partial start()`: of no elements
///   - `void add(Partial& partial, Value x)`: and one element more
///   - `Partial merge(Partial a, Partial b)`: of two parts; associative and commutative but for rounding
///   - `Result finish(Partial partial, int cols)`: of the whole row; each thread calls it
/// \param map `map(Value x, Result result, int column)`, const and `__device__`: returns what converts to the element
/// of `out`. If it has `storeResult(std::size_t row, Result result)`, one thread calls that for each row.
/// \param stream the launch is queued there
template <class In, class Out, class Statistic, class Map, class = detail::EnableMatrices<In, Out>>
void transformRows(const In& in, const Out& out, Statistic statistic, Map map, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::transformRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::transformViews(function, stream, from, to, statistic, map);
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class Statistic, class Map, class = detail::EnableDense<In, Out>>
void transformRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, Statistic statistic, Map map,
                   StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::transformRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::transformViews(function, stream, from, to, statistic, map);
}

/// A statistic that needs another one first, such as the deviations from a mean: add() and finish() of `second` get the
/// result of `first` as one argument more. The row is still read once.
template <class First, class Second>
[[nodiscard]] StatisticChain<First, Second> thenStatistic(First first, Second second) {
  return {first, second};
}

/// \}

/// \name Ready-made
/// \{

/// out(r, c) = e^in(r, c) / the sum of e^in(r, k) over all columns k. The maximum of the row is subtracted before, so
/// that nothing overflows. A row with a NaN or an infinity that is positive, or of negative infinities only, gives NaN,
/// as in PyTorch.
template <class In, class Out, class = detail::EnableMatrices<In, Out>>
void softmaxRows(const In& in, const Out& out, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::softmaxRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::transformViews(function, stream, from, to, detail::softmaxStatistic(from), detail::SoftmaxMap{});
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class = detail::EnableDense<In, Out>>
void softmaxRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::softmaxRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::transformViews(function, stream, from, to, detail::softmaxStatistic(from), detail::SoftmaxMap{});
}

/// out(r, c) = (in(r, c) - mean) / sqrt(variance + eps) * gamma[c] + beta[c] with the mean and the population variance
/// of row r. The variance is that of the differences from the mean: no cancellation.
///
/// \param gamma,beta one number for each column, of any element type, on the device: pointers or containers; nullptr: 1
/// and 0
/// \param eps added to the variance
template <class In, class Out, class Gamma, class Beta, class = detail::EnableMatrices<In, Out>>
void layerNormRows(const In& in, const Out& out, const Gamma& gamma, const Beta& beta, double eps = 1e-5,
                   StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::layerNormRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::normViews<true>(function, stream, from, to, detail::layerStatistic(from, eps),
                          detail::columnNumbers(gamma, to.cols, "gamma", function),
                          detail::columnNumbers(beta, to.cols, "beta", function));
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class Gamma, class Beta, class = detail::EnableDense<In, Out>>
void layerNormRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Gamma& gamma, const Beta& beta,
                   double eps = 1e-5, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::layerNormRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::normViews<true>(function, stream, from, to, detail::layerStatistic(from, eps),
                          detail::columnNumbers(gamma, cols, "gamma", function),
                          detail::columnNumbers(beta, cols, "beta", function));
}

/// out(r, c) = in(r, c) / sqrt(mean of the squares of row r + eps) * gamma[c].
///
/// \param gamma one number for each column, or nullptr
/// \param eps added to the mean
template <class In, class Out, class Gamma, class = detail::EnableMatrices<In, Out>>
void rmsNormRows(const In& in, const Out& out, const Gamma& gamma, double eps = 1e-6, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::rmsNormRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::normViews<false>(function, stream, from, to, detail::meanSquareStatistic(from, eps),
                           detail::columnNumbers(gamma, to.cols, "gamma", function));
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class Gamma, class = detail::EnableDense<In, Out>>
void rmsNormRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, const Gamma& gamma, double eps = 1e-6,
                 StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::rmsNormRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::normViews<false>(function, stream, from, to, detail::meanSquareStatistic(from, eps),
                           detail::columnNumbers(gamma, cols, "gamma", function));
}

/// out(r, c) = in(r, c) / the larger of eps and the Euclidean norm of row r.
template <class In, class Out, class = detail::EnableMatrices<In, Out>>
void l2NormRows(const In& in, const Out& out, double eps = 1e-12, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::l2NormRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::transformViews(function, stream, from, to, detail::normStatistic(from, eps), detail::ScaleMap{});
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class = detail::EnableDense<In, Out>>
void l2NormRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, double eps = 1e-12, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::l2NormRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::transformViews(function, stream, from, to, detail::normStatistic(from, eps), detail::ScaleMap{});
}

/// Quantises rows: scales[r] = the largest magnitude of row r / the largest number of `out` (127, 448 for e4m3, 57344
/// for e5m2), or 1 where that is 0 or below the normal numbers of its type (2^-126 of float), so that the row becomes
/// 0; out(r, c) = in(r, c) / scales[r], rounded to nearest. NaN does not count for the scale. An infinity makes the
/// scale infinite and finite elements 0. NaN and infinities become NaN in fp8, 0 in `std::int8_t`.
///
/// \param out elements are `std::int8_t`, `__nv_fp8_e4m3` or `__nv_fp8_e5m2`
/// \param scales receives one number for each row: a pointer to float or double on the device
template <class In, class Out, class Scale, class = detail::EnableMatrices<In, Out>>
void quantizeRows(const In& in, const Out& out, Scale* scales, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::quantizeRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::quantizeViews(function, stream, from, to, scales, INT_MAX);
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class Scale, class = detail::EnableDense<In, Out>>
void quantizeRows(In&& in, Out&& out, std::size_t rows, std::size_t cols, Scale* scales, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::quantizeRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::quantizeViews(function, stream, from, to, scales, INT_MAX);
}

/// The same with a scale for each BLOCK columns of a row, the last of which may be fewer. Block b of row r has
/// scales[r * ceil(cols / BLOCK) + b].
///
/// \tparam BLOCK columns that share a scale
template <int BLOCK = 128, class In, class Out, class Scale, class = detail::EnableMatrices<In, Out>>
void quantizeRowBlocks(const In& in, const Out& out, Scale* scales, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::quantizeRowBlocks";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  detail::quantizeViews(function, stream, from, to, scales, BLOCK);
}

/// The same of dense rows at pointers or in containers.
template <int BLOCK = 128, class In, class Out, class Scale, class = detail::EnableDense<In, Out>>
void quantizeRowBlocks(In&& in, Out&& out, std::size_t rows, std::size_t cols, Scale* scales, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::quantizeRowBlocks";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  detail::quantizeViews(function, stream, from, to, scales, BLOCK);
}

/// \}

/// \name Which kernel, and why
/// \{

/// One line: which kernel transforms these rows on the current device, its launch, the reason, and the bytes that must
/// move. The same for every statistic and map, but that staged rows of more than 136 elements take a warp each where
/// there are gamma or beta. Nothing is launched. Errors: those of transformRows.
template <class In, class Out, class = detail::EnableMatrices<In, Out>>
[[nodiscard]] std::string explainTransformRows(const In& in, const Out& out) {
  constexpr const char* function = "gpuopt::explainTransformRows";
  const auto from = detail::rowsOf(in, "in", function);
  const auto to = detail::rowsOf(out, "out", function);
  return detail::explainTransform(function, from, to);
}

/// The same of dense rows at pointers or in containers.
template <class In, class Out, class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainTransformRows(In&& in, Out&& out, std::size_t rows, std::size_t cols) {
  constexpr const char* function = "gpuopt::explainTransformRows";
  const auto from = detail::denseView(in, rows, cols, "in", function);
  const auto to = detail::denseView(out, rows, cols, "out", function);
  return detail::explainTransform(function, from, to);
}

/// \}

GPUOPT_NAMESPACE_END
