/// \file
/// Reductions: of a warp, of a block, of whole arrays, of rows, columns and segments.
///
///     float total = gpuopt::reduce(data, n);                         // waits for the value
///     gpuopt::reduceInto(data, n, out, gpuopt::Maximum{}, stream);   // asynchronous, out on the device
///     double norm2 = gpuopt::transformReduce(data, n, Square{});     // a function on the way
///     float product = gpuopt::dot(a, b, n);
///     auto [value, index] = gpuopt::argMin(data, n);
///     gpuopt::reduceRows(matrix, rows, cols, ld, out);               // one result a row
///     gpuopt::reduceColumns(matrix, rows, cols, ld, out);
///     gpuopt::reduceSegments(data, offsets, segments, out);          // of [offsets[s], offsets[s + 1])
///
/// Device functions for your own kernels are in <gpuopt/warp/reduce.cuh> and <gpuopt/block/reduce.cuh>,
/// included here: `warpReduce`, `warpAllReduce`, `blockReduce<BLOCK>`, `blockAllReduce<BLOCK>`.
///
/// **Common to all host functions.** One kernel launch at every n. The input, `in`, is a device pointer of
/// any element alignment, or any random-access iterator that device code can read; arrays of trivially
/// copyable elements are read 16 bytes at a time. The operation is associative and callable on the device.
/// The functions whose names end in `Into`, and those of rows, columns and segments, are asynchronous on
/// `stream`, never synchronise, and can be captured into a graph; those that return a value wait until the
/// kernel has stored it. With a `workspace` they allocate nothing; without one, memory is allocated on
/// the first call on a stream and kept. Bad arguments throw std::invalid_argument before anything is
/// launched, errors of the runtime CudaError. n = 0 is no error: the result is `init`, or the operation's
/// identity (where neither exists: std::invalid_argument).
///
/// The first template argument names the accumulator A; AccumulatorFor chooses it otherwise. The second is
/// the Policy:
/// - ReducePolicy, the default: the operation is commutative, too. The same bits on every run and device.
/// - ByLength: the same bits also at every alignment of the input.
/// - InOrder: the operation need not be commutative; operands are combined in the order of the input.
///
/// What NaN, signed zero, order and rounding do: docs/reductions.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/array.cuh>
#include <gpuopt/device/reduce/columns.cuh>
#include <gpuopt/device/reduce/rows.cuh>
#include <gpuopt/device/reduce/segments.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// What a fold by Op of the results of a function F, of the elements of one or more inputs, accumulates in,
/// and gives, where the caller asks for A.
///
/// \tparam A the accumulator, or DefaultAccumulator
/// \tparam Op the operation
/// \tparam Its the inputs: pointers or iterators
template <class A, class Op, class F, class... Its>
using ReducedBy = detail::Accumulator<
    A, Op, std::decay_t<detail::CallResult<F, typename std::iterator_traits<Its>::value_type...>>>;

namespace detail {

template <class R, class Op>
Fold<R, Op> foldOf(Op op, const Optional<R>& init, std::size_t n, const char* function) {
  if (n == 0 && !init.valid && !NeutralElement<Op, R>::exists)
    throwInvalid({function, ": n is 0 and the operation has no known identity: pass init"});
  return {op, init};
}

template <class T>
Destination<T> onDevice(T* out, const char* function) {
  if (out == nullptr) throwInvalid({function, ": out is null"});
  return {out, nullptr, 0};
}

// What every entry point comes down to. `function` names it in messages; `f` takes one element of each input.
template <class Policy, class Reducer, class F, class... Its>
void reduceTo(const Destination<typename Reducer::Result>& out, const char* function, const Reducer& reducer,
              cudaStream_t stream, Workspace* workspace, std::size_t n, F f, Its... in) {
  withSource<Policy::BY_LENGTH || Policy::IN_ORDER>(in..., n, f, function, [&](const auto& source) {
    launchReduce<Policy>(source, n, reducer, out, stream, workspace);
  });
}

// The same into a word that the host can see, for which it waits.
template <class Policy, class Reducer, class F, class... Its>
typename Reducer::Result reduceToHost(const char* function, const Reducer& reducer, cudaStream_t stream,
                                      Workspace* workspace, std::size_t n, F f, Its... in) {
  requireNotCapturing(stream, function);
  HostResult<typename Reducer::Result> result;
  reduceTo<Policy>(result.destination(), function, reducer, stream, workspace, n, f, in...);
  return result.wait(stream);
}

}  // namespace detail

/// \name Folds
/// op over all elements, each converted to the accumulator, and over `init` where it is given. The plain form
/// returns the value; `Into` leaves it in device memory at `out`. Cost: one read of the input. Technique: the
/// classical reduction ladder to its end (docs/reductions.md).
/// \{

/// \param in,n the elements: a device pointer or iterator, and how many
/// \param op the operation, Plus unless given
/// \param init takes part once, from the left; op's identity unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
Reduced<A, Op, It> reduce(It in, std::size_t n, Op op, Init init, cudaStream_t stream = nullptr,
                          Workspace* workspace = nullptr) {
  const auto fold = detail::foldOf(op, detail::some<Reduced<A, Op, It>>(init), n, "gpuopt::reduce");
  return detail::reduceToHost<Policy>("gpuopt::reduce", fold, stream, workspace, n, Identity{}, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
Reduced<A, Op, It> reduce(It in, std::size_t n, Op op = {}, cudaStream_t stream = nullptr,
                          Workspace* workspace = nullptr) {
  const auto fold = detail::foldOf(op, detail::nothing<Reduced<A, Op, It>>(), n, "gpuopt::reduce");
  return detail::reduceToHost<Policy>("gpuopt::reduce", fold, stream, workspace, n, Identity{}, in);
}

/// \param out receives the result: device memory, or any that the device can write
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceInto(It in, std::size_t n, Reduced<A, Op, It>* out, Op op, Init init,
                cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold = detail::foldOf(op, detail::some<Reduced<A, Op, It>>(init), n, "gpuopt::reduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::reduceInto"), "gpuopt::reduceInto", fold, stream,
                           workspace, n, Identity{}, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
void reduceInto(It in, std::size_t n, Reduced<A, Op, It>* out, Op op = {}, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  const auto fold = detail::foldOf(op, detail::nothing<Reduced<A, Op, It>>(), n, "gpuopt::reduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::reduceInto"), "gpuopt::reduceInto", fold, stream,
                           workspace, n, Identity{}, in);
}

/// \}

/// \name Folds of a function of the elements
/// op over f(x) for the elements x of one input, or f(x, y) for those of two. f is callable on the device
/// and, for its result type, on the host. Cost: one read of the inputs. Two arrays of different misalignment
/// are read element by element.
/// \{

/// \param in,n the elements, and how many
/// \param f applied to each element, or to each pair of them; op takes its results
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op, class Init,
          class = detail::EnableInit<Init, ReducedBy<A, Op, F, It>>>
ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op, Init init,
                                        cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::some<ReducedBy<A, Op, F, It>>(init), n, "gpuopt::transformReduce");
  return detail::reduceToHost<Policy>("gpuopt::transformReduce", fold, stream, workspace, n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus,
          class = std::enable_if_t<detail::isCallable<F, typename std::iterator_traits<It>::value_type>>>
ReducedBy<A, Op, F, It> transformReduce(It in, std::size_t n, F f, Op op = {}, cudaStream_t stream = nullptr,
                                        Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::nothing<ReducedBy<A, Op, F, It>>(), n, "gpuopt::transformReduce");
  return detail::reduceToHost<Policy>("gpuopt::transformReduce", fold, stream, workspace, n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op, class Init,
          class = detail::EnableInit<Init, ReducedBy<A, Op, F, It>>>
void transformReduceInto(It in, std::size_t n, ReducedBy<A, Op, F, It>* out, F f, Op op, Init init,
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::some<ReducedBy<A, Op, F, It>>(init), n, "gpuopt::transformReduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::transformReduceInto"),
                           "gpuopt::transformReduceInto", fold, stream, workspace, n, f, in);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus>
void transformReduceInto(It in, std::size_t n, ReducedBy<A, Op, F, It>* out, F f, Op op = {},
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::nothing<ReducedBy<A, Op, F, It>>(), n, "gpuopt::transformReduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::transformReduceInto"),
                           "gpuopt::transformReduceInto", fold, stream, workspace, n, f, in);
}

/// \param in1,in2,n the elements of two inputs, and how many each has
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op,
          class Init, class = detail::EnableInit<Init, ReducedBy<A, Op, F, It1, It2>>>
ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op, Init init,
                                              cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::some<ReducedBy<A, Op, F, It1, It2>>(init), n, "gpuopt::transformReduce");
  return detail::reduceToHost<Policy>("gpuopt::transformReduce", fold, stream, workspace, n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F,
          class Op = Plus,
          class = std::enable_if_t<detail::isCallable<F, typename std::iterator_traits<It1>::value_type,
                                                      typename std::iterator_traits<It2>::value_type>>>
ReducedBy<A, Op, F, It1, It2> transformReduce(It1 in1, It2 in2, std::size_t n, F f, Op op = {},
                                              cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::nothing<ReducedBy<A, Op, F, It1, It2>>(), n, "gpuopt::transformReduce");
  return detail::reduceToHost<Policy>("gpuopt::transformReduce", fold, stream, workspace, n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F, class Op,
          class Init, class = detail::EnableInit<Init, ReducedBy<A, Op, F, It1, It2>>>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, ReducedBy<A, Op, F, It1, It2>* out, F f, Op op,
                         Init init, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::some<ReducedBy<A, Op, F, It1, It2>>(init), n, "gpuopt::transformReduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::transformReduceInto"),
                           "gpuopt::transformReduceInto", fold, stream, workspace, n, f, in1, in2);
}

template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class F,
          class Op = Plus>
void transformReduceInto(It1 in1, It2 in2, std::size_t n, ReducedBy<A, Op, F, It1, It2>* out, F f, Op op = {},
                         cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const auto fold =
      detail::foldOf(op, detail::nothing<ReducedBy<A, Op, F, It1, It2>>(), n, "gpuopt::transformReduceInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::transformReduceInto"),
                           "gpuopt::transformReduceInto", fold, stream, workspace, n, f, in1, in2);
}

/// \}

/// \name Dot product
/// The sum of a[i] * b[i], multiplied in A: float for two arrays of halves, otherwise the type of the
/// product.
/// \{

/// The accumulator of a dot product of the elements of two iterators, It1 and It2.
template <class A, class It1, class It2>
using DotResult = detail::Accumulator<
    A, Plus,
    std::common_type_t<detail::Accumulator<A, Plus, typename std::iterator_traits<It1>::value_type>,
                       detail::Accumulator<A, Plus, typename std::iterator_traits<It2>::value_type>>>;

namespace detail {

template <class A>
struct MultiplyAs {
  template <class T, class U>
  __host__ __device__ A operator()(const T& a, const U& b) const {
    return static_cast<A>(a) * static_cast<A>(b);
  }
};

}  // namespace detail

/// The dot product of a and b, n elements each, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
DotResult<A, It1, It2> dot(It1 a, It2 b, std::size_t n, cudaStream_t stream = nullptr,
                           Workspace* workspace = nullptr) {
  using R = DotResult<A, It1, It2>;
  const auto fold = detail::foldOf(Plus{}, detail::nothing<R>(), n, "gpuopt::dot");
  return detail::reduceToHost<Policy>("gpuopt::dot", fold, stream, workspace, n, detail::MultiplyAs<R>{}, a,
                                      b);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
void dotInto(It1 a, It2 b, std::size_t n, DotResult<A, It1, It2>* out, cudaStream_t stream = nullptr,
             Workspace* workspace = nullptr) {
  using R = DotResult<A, It1, It2>;
  const auto fold = detail::foldOf(Plus{}, detail::nothing<R>(), n, "gpuopt::dotInto");
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::dotInto"), "gpuopt::dotInto", fold, stream,
                           workspace, n, detail::MultiplyAs<R>{}, a, b);
}

/// \}

/// \name Extremes
/// The smallest and largest element, as Minimum and Maximum define them, alone, with the sum, or with the
/// index of the first occurrence (for which -0 and +0 are equal). With a NaN among the elements both extremes
/// are NaN, and the index is that of the first NaN. n = 0 gives the identities (for floating point +inf and
/// -inf) and the index ArgResult::none. Elements are arithmetic, __half or __nv_bfloat16 (their values come
/// back as float). Cost: one read of the input.
/// \{

namespace detail {

template <class It>
using Extreme = Accumulator<DefaultAccumulator, Minimum, typename std::iterator_traits<It>::value_type>;

}  // namespace detail

/// Smallest and largest element, returned to the host.
template <class Policy = ReducePolicy, class It>
MinMax<detail::Extreme<It>> minMax(It in, std::size_t n, cudaStream_t stream = nullptr,
                                   Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>("gpuopt::minMax", detail::MinMaxOf<detail::Extreme<It>>{}, stream,
                                      workspace, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class Policy = ReducePolicy, class It>
void minMaxInto(It in, std::size_t n, MinMax<detail::Extreme<It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::minMaxInto"), "gpuopt::minMaxInto",
                           detail::MinMaxOf<detail::Extreme<It>>{}, stream, workspace, n, Identity{}, in);
}

/// Sum, smallest and largest element in one pass, returned to the host. A is what the sum accumulates in.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
SumMinMax<detail::Extreme<It>, Reduced<A, Plus, It>> sumMinMax(It in, std::size_t n,
                                                               cudaStream_t stream = nullptr,
                                                               Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>("gpuopt::sumMinMax",
                                      detail::SumMinMaxOf<detail::Extreme<It>, Reduced<A, Plus, It>>{},
                                      stream, workspace, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void sumMinMaxInto(It in, std::size_t n, SumMinMax<detail::Extreme<It>, Reduced<A, Plus, It>>* out,
                   cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::sumMinMaxInto"), "gpuopt::sumMinMaxInto",
                           detail::SumMinMaxOf<detail::Extreme<It>, Reduced<A, Plus, It>>{}, stream,
                           workspace, n, Identity{}, in);
}

/// The smallest element and the index of its first occurrence, returned to the host.
template <class Policy = ReducePolicy, class It>
ArgResult<detail::Extreme<It>> argMin(It in, std::size_t n, cudaStream_t stream = nullptr,
                                      Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>("gpuopt::argMin", detail::ArgExtreme<detail::Extreme<It>, Minimum>{n},
                                      stream, workspace, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class Policy = ReducePolicy, class It>
void argMinInto(It in, std::size_t n, ArgResult<detail::Extreme<It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::argMinInto"), "gpuopt::argMinInto",
                           detail::ArgExtreme<detail::Extreme<It>, Minimum>{n}, stream, workspace, n,
                           Identity{}, in);
}

/// The largest element and the index of its first occurrence, returned to the host.
template <class Policy = ReducePolicy, class It>
ArgResult<detail::Extreme<It>> argMax(It in, std::size_t n, cudaStream_t stream = nullptr,
                                      Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>("gpuopt::argMax", detail::ArgExtreme<detail::Extreme<It>, Maximum>{n},
                                      stream, workspace, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class Policy = ReducePolicy, class It>
void argMaxInto(It in, std::size_t n, ArgResult<detail::Extreme<It>>* out, cudaStream_t stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::argMaxInto"), "gpuopt::argMaxInto",
                           detail::ArgExtreme<detail::Extreme<It>, Maximum>{n}, stream, workspace, n,
                           Identity{}, in);
}

/// \}

/// \name Mean and variance
/// Number, mean and population variance of the elements in one pass. A, float for float and halves and double
/// otherwise unless named, is a floating-point type. Partial results are joined by the formula of Chan, Golub
/// and LeVeque (1979): stable where the difference of the sums of squares is not. n = 0 gives zeros. Cost:
/// one read of the input.
/// \{

namespace detail {

template <class T>
struct MomentFor {
  using type = std::conditional_t<isHalf<T> || std::is_same_v<T, float>, float, double>;
};

template <class A, class It>
using Moment = std::conditional_t<std::is_same_v<A, DefaultAccumulator>,
                                  typename MomentFor<typename std::iterator_traits<It>::value_type>::type, A>;

}  // namespace detail

/// Number, mean and population variance, returned to the host.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
MeanVariance<detail::Moment<A, It>> meanVariance(It in, std::size_t n, cudaStream_t stream = nullptr,
                                                 Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>("gpuopt::meanVariance", detail::Moments<detail::Moment<A, It>>{n},
                                      stream, workspace, n, Identity{}, in);
}

/// The same, left in device memory at `out`; asynchronous.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
void meanVarianceInto(It in, std::size_t n, MeanVariance<detail::Moment<A, It>>* out,
                      cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  detail::reduceTo<Policy>(detail::onDevice(out, "gpuopt::meanVarianceInto"), "gpuopt::meanVarianceInto",
                           detail::Moments<detail::Moment<A, It>>{n}, stream, workspace, n, Identity{}, in);
}

/// \}

GPUOPT_NAMESPACE_END
