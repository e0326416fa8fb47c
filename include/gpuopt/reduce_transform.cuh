/// \file
/// Reductions of a function of the elements: transformReduce, dot.
///
///     double norm2 = gpuopt::transformReduce(data, n, Square{});
///     float product = gpuopt::dot(a, b, n);
///
/// <gpuopt/reduce.cuh>, which includes this header, says what all reductions have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/device/reduce/launch.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// op over f(x) for the elements x, and over `init`; returned to the host, which waits for it.
///
/// Cost: one read of the input.
///
/// \param in,n the elements: a device pointer or iterator, and their number
/// \param f applied to each element on the device; op takes its results. A __device__ lambda says its return type
/// \param op the operation, Plus unless given
/// \param init combined once, from the left. In device memory: deviceValue
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op, class Init,
          class = detail::EnableOperation<Op, Init>>
[[nodiscard]] ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op, Init init,
                                                      StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), n,
                                      detail::deviceFunction<A, It>(f), in);
}

/// op over f(x) for the elements x; returned to the host, which waits for it.
///
///     float norm2 = gpuopt::transformReduce(data, n, [] __device__ (float x) -> float { return x * x; });
///
/// Cost: one read of the input.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
[[nodiscard]] ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op = {}, const Stream& stream = {},
                                                      Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", StreamRef(stream), workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It>>(op), n, detail::deviceFunction<A, It>(f),
                                      in);
}

/// The sum of f(x), on a stream; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F>
[[nodiscard]] ReducedBy<A, Plus, F, It> transformReduce(It in, std::size_t n, F f, StreamRef stream,
                                                        Workspace* workspace = nullptr) {
  return transformReduce<A, Policy>(in, n, f, Plus{}, stream, workspace);
}

/// op over f(x, y) for the elements x, y of two inputs, and over `init`; returned to the host, which waits for it.
///
/// Cost: one read of the inputs. Two arrays of different misalignment are read element by element.
///
/// \param in1,in2,n the elements of two inputs, and the number of each
/// \param f applied to each pair on the device; op takes its results. A __device__ lambda says its return type
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op,
          class Init, class = detail::EnableOperation<Op, Init>>
[[nodiscard]] ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op, Init init,
                                                            StreamRef stream = nullptr,
                                                            Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op, init), n,
                                      detail::deviceFunction<A, It1, It2>(f), in1, in2);
}

/// op over f(x, y) for the elements x, y of two inputs; returned to the host, which waits for it.
///
///     float distance = gpuopt::transformReduce(a, b, n, AbsoluteDifference{}, gpuopt::Maximum{});
///
/// Cost: one read of the inputs. Two arrays of different misalignment are read element by element.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
[[nodiscard]] ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op = {},
                                                            const Stream& stream = {}, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", StreamRef(stream), workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op), n,
                                      detail::deviceFunction<A, It1, It2>(f), in1, in2);
}

/// The sum of f(x, y), on a stream; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F>
[[nodiscard]] ReducedBy<A, Plus, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, StreamRef stream,
                                                              Workspace* workspace = nullptr) {
  return transformReduce<A, Policy>(in1, in2, n, f, Plus{}, stream, workspace);
}

/// transformReduce of a container or span, `transformReduce(v, f[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class F, class... Rest,
          class = detail::EnableRange<const Range>, class = detail::EnableNoRange<const F>>
[[nodiscard]] auto transformReduce(const Range& in, const F& f, const Rest&... rest)
    -> decltype(transformReduce<A, Policy>(detail::dataOf(in), detail::sizeOf(in), f, rest...)) {
  return transformReduce<A, Policy>(detail::dataOf(in), detail::sizeOf(in), f, rest...);
}

/// transformReduce of two containers or spans of one size, `transformReduce(v, w, f[, op[, init]][, stream[,
/// workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range1, class Range2, class F, class... Rest,
          class = detail::EnableRange<const Range1>, class = detail::EnableRange<const Range2>>
[[nodiscard]] auto transformReduce(const Range1& in1, const Range2& in2, const F& f, const Rest&... rest)
    -> decltype(transformReduce<A, Policy>(detail::dataOf(in1), detail::dataOf(in2), detail::sizeOf(in1), f, rest...)) {
  const std::size_t n = detail::commonSize("gpuopt::transformReduce", in1, in2);
  return transformReduce<A, Policy>(detail::dataOf(in1), detail::dataOf(in2), n, f, rest...);
}

/// op over f(x) for the elements x, and over `init`; left in device memory at `out`, asynchronously.
///
/// Cost: one read of the input.
///
/// \param out receives the result, as for reduceInto
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F, class Op, class Init,
          class = detail::EnableOperation<Op, Init>>
void transformReduceInto(It in, std::size_t n, Out&& out, F f, Op op, Init init, StreamRef stream = nullptr,
                         Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), out, n,
                                 detail::deviceFunction<A, It>(f), in);
}

/// op over f(x) for the elements x; left in device memory at `out`, asynchronously.
///
/// Cost: one read of the input.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void transformReduceInto(It in, std::size_t n, Out&& out, F f, Op op = {}, const Stream& stream = {},
                         Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", StreamRef(stream), workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op), out, n, detail::deviceFunction<A, It>(f),
                                 in);
}

/// The sum of f(x), on a stream; left in device memory at `out`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F>
void transformReduceInto(It in, std::size_t n, Out&& out, F f, StreamRef stream, Workspace* workspace = nullptr) {
  transformReduceInto<A, Policy>(in, n, out, f, Plus{}, stream, workspace);
}

/// op over f(x, y) for the elements x, y of two inputs, and over `init`; left in device memory at `out`,
/// asynchronously.
///
/// Cost: one read of the inputs. Two arrays of different misalignment are read element by element.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class Out, class F, class Op,
          class Init, class = detail::EnableOperation<Op, Init>>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, Out&& out, F f, Op op, Init init, StreamRef stream = nullptr,
                         Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op, init), out, n,
                                 detail::deviceFunction<A, It1, It2>(f), in1, in2);
}

/// op over f(x, y) for the elements x, y of two inputs; left in device memory at `out`, asynchronously.
///
/// Cost: one read of the inputs. Two arrays of different misalignment are read element by element.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class Out, class F,
          class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableOperation<Op>,
          class = detail::EnableStream<Stream>>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, Out&& out, F f, Op op = {}, const Stream& stream = {},
                         Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", StreamRef(stream), workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op), out, n,
                                 detail::deviceFunction<A, It1, It2>(f), in1, in2);
}

/// The sum of f(x, y), on a stream; left in device memory at `out`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class Out, class F>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, Out&& out, F f, StreamRef stream,
                         Workspace* workspace = nullptr) {
  transformReduceInto<A, Policy>(in1, in2, n, out, f, Plus{}, stream, workspace);
}

/// transformReduceInto of a container or span, `transformReduceInto(v, out, f[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class F, class... Rest,
          class = detail::EnableRange<const Range>, class = detail::EnableNoRange<const F>>
void transformReduceInto(const Range& in, Out&& out, const F& f, const Rest&... rest) {
  transformReduceInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, f, rest...);
}

/// The sum of a[i] * b[i] over all i, products and sums in the accumulator; returned to the host, which waits for it.
///
/// Cost: one read of the inputs. Two arrays of different misalignment are read element by element.
///
/// \param a,b,n the elements of two inputs, pointers or iterators, and the number of each
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
[[nodiscard]] DotResult<A, It1, It2> dot(It1 a, It2 b, std::size_t n, StreamRef stream = nullptr,
                                         Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::dot", stream, workspace},
                                      detail::foldOf<DotResult<A, It1, It2>>(Plus{}), n,
                                      detail::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

/// dot of two containers or spans of one size, `dot(v, w[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range1, class Range2, class... Rest,
          class = detail::EnableRange<const Range1>, class = detail::EnableRange<const Range2>>
[[nodiscard]] auto dot(const Range1& a, const Range2& b, const Rest&... rest)
    -> decltype(dot<A, Policy>(detail::dataOf(a), detail::dataOf(b), detail::sizeOf(a), rest...)) {
  return dot<A, Policy>(detail::dataOf(a), detail::dataOf(b), detail::commonSize("gpuopt::dot", a, b), rest...);
}

/// The sum of a[i] * b[i] over all i, left in device memory at `out`, asynchronously.
///
/// \param out receives the result, as for reduceInto
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class Out>
void dotInto(It1 a, It2 b, std::size_t n, Out&& out, StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::dotInto", stream, workspace}, detail::foldOf<DotResult<A, It1, It2>>(Plus{}),
                                 out, n, detail::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

/// dotInto of two containers or spans of one size, `dotInto(v, w, out[, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range1, class Range2, class Out,
          class... Rest, class = detail::EnableRange<const Range1>, class = detail::EnableRange<const Range2>>
void dotInto(const Range1& a, const Range2& b, Out&& out, const Rest&... rest) {
  dotInto<A, Policy>(detail::dataOf(a), detail::dataOf(b), detail::commonSize("gpuopt::dotInto", a, b), out, rest...);
}

GPUOPT_OTHER_CALLS(
    transformReduce,
    "(in, n, f), (in1, in2, n, f), or containers with data() and size() without n, then op, init, stream and workspace")
GPUOPT_OTHER_CALLS(transformReduceInto,
                   "(in, n, out, f), (in1, in2, n, out, f), or a container with data() and size() without n, then op, "
                   "init, stream and workspace")

GPUOPT_NAMESPACE_END
