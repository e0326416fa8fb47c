/// \file
/// Reductions to more than one number: extremes, also with the sum or the index, mean and variance.
///
///     auto [smallest, largest] = gpuopt::minMax(data, n);
///     auto [value, index] = gpuopt::argMin(data, n);
///     auto [speed, fastest] = gpuopt::argMax(particles, n, Speed{});   // of f(x)
///     gpuopt::meanVarianceInto(data, n, out, stream);
///
/// **Extremes** are the smallest and the largest element, as Minimum and Maximum define them. With a NaN among the
/// elements both are NaN. n = 0 gives the neutral elements, for floating point +inf and -inf. Elements are arithmetic,
/// __half or __nv_bfloat16 (their values come back as float, or as A).
///
/// Every function reads its input once. `out` of the asynchronous forms is as for reduceInto. <gpuopt/reduce.cuh>,
/// which includes this header, says what all reductions have in common. Arguments of one name mean the same in all
/// functions, and are described once.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/reduce/launch.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// The smallest and the largest element; returned to the host, which waits for it.
///
/// \param in,n the elements: a device pointer or iterator, and their number
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] MinMax<detail::Extreme<A, It>> minMax(It in, std::size_t n, StreamRef stream = nullptr,
                                                    Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::minMax", stream, workspace}, detail::MinMaxOf<detail::Extreme<A, It>>{},
                                      n, Identity{}, in);
}

/// minMax of a container or span, `minMax(v[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto minMax(const Range& in, const Rest&... rest)
    -> decltype(minMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return minMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// What minMax returns, a MinMax, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void minMaxInto(It in, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::minMaxInto", stream, workspace}, detail::MinMaxOf<detail::Extreme<A, It>>{},
                                 out, n, Identity{}, in);
}

/// minMaxInto of a container or span, `minMaxInto(v, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void minMaxInto(const Range& in, Out&& out, const Rest&... rest) {
  minMaxInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

/// Sum, smallest and largest element in one pass. A is the accumulator of the sum alone: the extremes have the type
/// that minMax gives them by default; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] SumMinMax<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>> sumMinMax(
    It in, std::size_t n, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>(
      {"gpuopt::sumMinMax", stream, workspace},
      detail::SumMinMaxOf<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>>{}, n, Identity{}, in);
}

/// sumMinMax of a container or span, `sumMinMax(v[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto sumMinMax(const Range& in, const Rest&... rest)
    -> decltype(sumMinMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return sumMinMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// What sumMinMax returns, a SumMinMax, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void sumMinMaxInto(It in, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::sumMinMaxInto", stream, workspace},
                                 detail::SumMinMaxOf<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>>{},
                                 out, n, Identity{}, in);
}

/// sumMinMaxInto of a container or span, `sumMinMaxInto(v, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void sumMinMaxInto(const Range& in, Out&& out, const Rest&... rest) {
  sumMinMaxInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

/// The smallest element and the index of its first occurrence, for which -0 and +0 are equal. With a NaN among the
/// elements, the first NaN. n = 0 gives the index ArgResult::none; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] ArgResult<detail::Extreme<A, It>> argMin(It in, std::size_t n, StreamRef stream = nullptr,
                                                       Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMin", stream, workspace},
                                      detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{n}, n, Identity{}, in);
}

/// The smallest f(x) and the index of the first element x that has it, with ties and NaN as above; returned to the
/// host, which waits for it.
///
/// \param f applied to each element, on the device. A __device__ lambda says its return type
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F,
          class = detail::EnableOperation<F>>
[[nodiscard]] ArgResult<ReducedBy<A, Minimum, F, It>> argMin(It in, std::size_t n, F f, StreamRef stream = nullptr,
                                                             Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMin", stream, workspace},
                                      detail::ArgExtreme<ReducedBy<A, Minimum, F, It>, Minimum>{n}, n,
                                      detail::deviceFunction<A, It>(f), in);
}

/// argMin of a container or span, `argMin(v[, f][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto argMin(const Range& in, const Rest&... rest)
    -> decltype(argMin<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return argMin<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// What argMin returns, an ArgResult, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void argMinInto(It in, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMinInto", stream, workspace},
                                 detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{n}, out, n, Identity{}, in);
}

/// The smallest f(x) and the index of the first element x that has it, with ties and NaN as above; left in device
/// memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F,
          class = detail::EnableOperation<F>>
void argMinInto(It in, std::size_t n, Out&& out, F f, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMinInto", stream, workspace},
                                 detail::ArgExtreme<ReducedBy<A, Minimum, F, It>, Minimum>{n}, out, n,
                                 detail::deviceFunction<A, It>(f), in);
}

/// argMinInto of a container or span, `argMinInto(v, out[, f][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void argMinInto(const Range& in, Out&& out, const Rest&... rest) {
  argMinInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

/// The largest element and the index of its first occurrence, for which -0 and +0 are equal. With a NaN among the
/// elements, the first NaN. n = 0 gives the index ArgResult::none; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] ArgResult<detail::Extreme<A, It>> argMax(It in, std::size_t n, StreamRef stream = nullptr,
                                                       Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMax", stream, workspace},
                                      detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{n}, n, Identity{}, in);
}

/// The largest f(x) and the index of the first element x that has it, with ties and NaN as above; returned to the host,
/// which waits for it.
///
/// \param f applied to each element, on the device. A __device__ lambda says its return type
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F,
          class = detail::EnableOperation<F>>
[[nodiscard]] ArgResult<ReducedBy<A, Maximum, F, It>> argMax(It in, std::size_t n, F f, StreamRef stream = nullptr,
                                                             Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMax", stream, workspace},
                                      detail::ArgExtreme<ReducedBy<A, Maximum, F, It>, Maximum>{n}, n,
                                      detail::deviceFunction<A, It>(f), in);
}

/// argMax of a container or span, `argMax(v[, f][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto argMax(const Range& in, const Rest&... rest)
    -> decltype(argMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return argMax<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// What argMax returns, an ArgResult, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void argMaxInto(It in, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMaxInto", stream, workspace},
                                 detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{n}, out, n, Identity{}, in);
}

/// The largest f(x) and the index of the first element x that has it, with ties and NaN as above; left in device memory
/// at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F,
          class = detail::EnableOperation<F>>
void argMaxInto(It in, std::size_t n, Out&& out, F f, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMaxInto", stream, workspace},
                                 detail::ArgExtreme<ReducedBy<A, Maximum, F, It>, Maximum>{n}, out, n,
                                 detail::deviceFunction<A, It>(f), in);
}

/// argMaxInto of a container or span, `argMaxInto(v, out[, f][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void argMaxInto(const Range& in, Out&& out, const Rest&... rest) {
  argMaxInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

/// Number, mean and population variance of the elements in one pass. A, float for float and halves and double otherwise
/// unless named, is a floating-point type. Partial results are combined by the formula of Chan, Golub and LeVeque
/// (1979): stable where the difference of the sums of squares is not. n = 0 gives zeros; returned to the host, which
/// waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] MeanVariance<detail::Moment<A, It>> meanVariance(It in, std::size_t n, StreamRef stream = nullptr,
                                                               Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::meanVariance", stream, workspace},
                                      detail::Moments<detail::Moment<A, It>>{n}, n, Identity{}, in);
}

/// meanVariance of a container or span, `meanVariance(v[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto meanVariance(const Range& in, const Rest&... rest)
    -> decltype(meanVariance<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return meanVariance<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// What meanVariance returns, a MeanVariance, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void meanVarianceInto(It in, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::meanVarianceInto", stream, workspace},
                                 detail::Moments<detail::Moment<A, It>>{n}, out, n, Identity{}, in);
}

/// meanVarianceInto of a container or span, `meanVarianceInto(v, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void meanVarianceInto(const Range& in, Out&& out, const Rest&... rest) {
  meanVarianceInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

GPUOPT_NAMESPACE_END
