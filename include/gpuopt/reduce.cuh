/// \file
/// Reductions: of a warp, of a block, of whole arrays, of rows, columns and segments.
///
///     float total = gpuopt::reduce(data, n);                         // waits for the value
///     gpuopt::reduceInto(data, n, out, gpuopt::Maximum{}, stream);   // asynchronous, out on the device
///     double norm2 = gpuopt::transformReduce(data, n, Square{});     // a function on the way
///     float product = gpuopt::dot(a, b, n);
///     auto [value, index] = gpuopt::argMin(data, n);
///     gpuopt::reduceRows(matrix, rows, cols, ld, out);               // one result per row
///     gpuopt::reduceColumns(matrix, rows, cols, ld, out);
///     gpuopt::reduceSegments(data, offsets, segments, out);          // of [offsets[s], offsets[s + 1])
///
/// Device functions for your own kernels are in <gpuopt/warp/reduce.cuh> and <gpuopt/block/reduce.cuh>, included here:
/// `warpReduce`, `warpAllReduce`, `blockReduce<BLOCK>`, `blockAllReduce<BLOCK>`.
///
/// **Common to all host functions.** One kernel launch at every n. The input, `in`, is a device pointer of any element
/// alignment, or any random-access iterator that device code can read; arrays of trivially copyable elements are read
/// 16 bytes at a time. The operation is associative and callable on the device. The functions whose names end in
/// `Into`, and those of rows, columns and segments, are asynchronous on `stream`, never synchronise, and can be
/// captured into a graph; those that return a value wait until the kernel has stored it. With a `workspace` they
/// allocate nothing; without one, memory is allocated on the first call on a stream and kept. Bad arguments throw
/// std::invalid_argument before anything is launched, errors of the runtime CudaError. n = 0 is no error: the result is
/// `init`, or the operation's neutral element (where neither exists: std::invalid_argument).
///
/// **Template arguments** have one order in all of them, `<A, Policy>`. A is the accumulator, to which elements are
/// converted; DefaultAccumulator leaves the choice to AccumulatorFor. Policy is one of these, or a type derived from
/// one:
/// - ReducePolicy, the default for arrays: the operation is commutative, too. The same bits on every run and device.
/// - ByLength: the same bits also at every alignment of the input.
/// - InOrder: the operation need not be commutative; operands are combined in the order of the input.
/// - ReduceRowsPolicy, ReduceColumnsPolicy, ReduceSegmentsPolicy: the defaults of reduceRows, reduceColumns and
///   reduceSegments.
///
/// What NaN, signed zero, order and rounding do: docs/reductions.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/reduce/launch.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_segments.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// \name Folds
/// op over all elements, each converted to the accumulator, and over `init` where it is given. The plain form returns
/// the value; `Into` leaves it in device memory at `out`. Cost: one read of the input. Technique: the classical
/// reduction ladder to its end (docs/reductions.md).
/// \{

/// \param in,n the elements: a device pointer or iterator, and their number
/// \param op the operation, Plus unless given
/// \param init combined once, from the left; op's neutral element unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
Reduced<A, Op, It> reduce(It in, std::size_t n, Op op, Init init, cudaStream_t stream = nullptr,
                          Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::reduce", stream, workspace},
                                      detail::foldOf<Reduced<A, Op, It>>(op, init), n, Identity{}, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
Reduced<A, Op, It> reduce(It in, std::size_t n, Op op = {}, cudaStream_t stream = nullptr,
                          Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::reduce", stream, workspace}, detail::foldOf<Reduced<A, Op, It>>(op), n,
                                      Identity{}, in);
}

/// \param out receives the result: device memory, or any that the device can write
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceInto(It in, std::size_t n, Reduced<A, Op, It>* out, Op op, Init init, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::reduceInto", stream, workspace},
                                 detail::foldOf<Reduced<A, Op, It>>(op, init), out, n, Identity{}, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
void reduceInto(It in, std::size_t n, Reduced<A, Op, It>* out, Op op = {}, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::reduceInto", stream, workspace}, detail::foldOf<Reduced<A, Op, It>>(op), out,
                                 n, Identity{}, in);
}

/// \}

/// \name Folds of a function of the elements
/// op over f(x) for the elements x of one input, or f(x, y) for those of two. f is callable on the device and, for its
/// result type, on the host. Cost: one read of the inputs. Two arrays of different misalignment are read element by
/// element.
/// \{

/// \param in,n the elements, and their number
/// \param f applied to each element, or to each pair of elements; op takes its results
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op, class Init,
          class = detail::EnableInit<Init, ReducedBy<A, Op, F, It>>>
ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op, Init init, cudaStream_t stream = nullptr,
                                        Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus,
          class = std::enable_if_t<detail::isCallable<F, typename std::iterator_traits<It>::value_type>>>
ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op = {}, cudaStream_t stream = nullptr,
                                        Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It>>(op), n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op, class Init,
          class = detail::EnableInit<Init, ReducedBy<A, Op, F, It>>>
void transformReduceInto(It in, std::size_t n, ReducedBy<A, Op, F, It>* out, F f, Op op, Init init,
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), out, n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus>
void transformReduceInto(It in, std::size_t n, ReducedBy<A, Op, F, It>* out, F f, Op op = {},
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op), out, n, f, in);
}

/// \param in1,in2,n the elements of two inputs, and the number of each
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op,
          class Init, class = detail::EnableInit<Init, ReducedBy<A, Op, F, It1, It2>>>
ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op, Init init,
                                              cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op, init), n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op = Plus,
          class = std::enable_if_t<detail::isCallable<F, typename std::iterator_traits<It1>::value_type,
                                                      typename std::iterator_traits<It2>::value_type>>>
ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op = {},
                                              cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::transformReduce", stream, workspace},
                                      detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op), n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op,
          class Init, class = detail::EnableInit<Init, ReducedBy<A, Op, F, It1, It2>>>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, ReducedBy<A, Op, F, It1, It2>* out, F f, Op op, Init init,
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op, init), out, n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op = Plus>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, ReducedBy<A, Op, F, It1, It2>* out, F f, Op op = {},
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::transformReduceInto", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It1, It2>>(op), out, n, f, in1, in2);
}

/// \}

/// \name Dot product
/// The sum of a[i] * b[i], multiplied in A: float for two arrays of halves, otherwise the type of the product.
/// \{

/// The dot product of a and b, n elements each, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
DotResult<A, It1, It2> dot(It1 a, It2 b, std::size_t n, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::dot", stream, workspace},
                                      detail::foldOf<DotResult<A, It1, It2>>(Plus{}), n,
                                      detail::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
void dotInto(It1 a, It2 b, std::size_t n, DotResult<A, It1, It2>* out, cudaStream_t stream = nullptr,
             Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::dotInto", stream, workspace}, detail::foldOf<DotResult<A, It1, It2>>(Plus{}),
                                 out, n, detail::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

/// \}

/// \name Extremes
/// The smallest and largest element, as Minimum and Maximum define them, alone, with the sum, or with the index of the
/// first occurrence (for which -0 and +0 are equal). With a NaN among the elements both extremes are NaN, and the index
/// is that of the first NaN. n = 0 gives the neutral elements (for floating point +inf and -inf) and the index
/// ArgResult::none. Elements are arithmetic, __half or __nv_bfloat16 (their values come back as float, or as A). Cost:
/// one read of the input.
/// \{

/// Smallest and largest element, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
MinMax<detail::Extreme<A, It>> minMax(It in, std::size_t n, cudaStream_t stream = nullptr,
                                      Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::minMax", stream, workspace}, detail::MinMaxOf<detail::Extreme<A, It>>{},
                                      n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void minMaxInto(It in, std::size_t n, MinMax<detail::Extreme<A, It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::minMaxInto", stream, workspace}, detail::MinMaxOf<detail::Extreme<A, It>>{},
                                 out, n, Identity{}, in);
}

/// Sum, smallest and largest element in one pass, returned to the host. A is the accumulator of the sum alone: the
/// extremes have the type that minMax gives them by default.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
SumMinMax<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>> sumMinMax(It in, std::size_t n,
                                                                                   cudaStream_t stream = nullptr,
                                                                                   Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>(
      {"gpuopt::sumMinMax", stream, workspace},
      detail::SumMinMaxOf<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>>{}, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void sumMinMaxInto(It in, std::size_t n, SumMinMax<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>>* out,
                   cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::sumMinMaxInto", stream, workspace},
                                 detail::SumMinMaxOf<detail::Extreme<DefaultAccumulator, It>, Reduced<A, Plus, It>>{},
                                 out, n, Identity{}, in);
}

/// The smallest element and the index of its first occurrence, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
ArgResult<detail::Extreme<A, It>> argMin(It in, std::size_t n, cudaStream_t stream = nullptr,
                                         Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMin", stream, workspace},
                                      detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{n}, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void argMinInto(It in, std::size_t n, ArgResult<detail::Extreme<A, It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMinInto", stream, workspace},
                                 detail::ArgExtreme<detail::Extreme<A, It>, Minimum>{n}, out, n, Identity{}, in);
}

/// The largest element and the index of its first occurrence, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
ArgResult<detail::Extreme<A, It>> argMax(It in, std::size_t n, cudaStream_t stream = nullptr,
                                         Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::argMax", stream, workspace},
                                      detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{n}, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void argMaxInto(It in, std::size_t n, ArgResult<detail::Extreme<A, It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::argMaxInto", stream, workspace},
                                 detail::ArgExtreme<detail::Extreme<A, It>, Maximum>{n}, out, n, Identity{}, in);
}

/// \}

/// \name Mean and variance
/// Number, mean and population variance of the elements in one pass. A, float for float and halves and double otherwise
/// unless named, is a floating-point type. Partial results are combined by the formula of Chan, Golub and LeVeque
/// (1979): stable where the difference of the sums of squares is not. n = 0 gives zeros. Cost: one read of the input.
/// \{

/// Number, mean and population variance, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
MeanVariance<detail::Moment<A, It>> meanVariance(It in, std::size_t n, cudaStream_t stream = nullptr,
                                                 Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::meanVariance", stream, workspace},
                                      detail::Moments<detail::Moment<A, It>>{n}, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void meanVarianceInto(It in, std::size_t n, MeanVariance<detail::Moment<A, It>>* out, cudaStream_t stream = nullptr,
                      Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::meanVarianceInto", stream, workspace},
                                 detail::Moments<detail::Moment<A, It>>{n}, out, n, Identity{}, in);
}

/// \}

GPUOPT_NAMESPACE_END
