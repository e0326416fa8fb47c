/// \file
/// Reductions: of a warp, of a block, of whole arrays, of rows, columns and segments.
///
///     float total = gpuopt::reduce(data, n);                         // waits for the value
///     gpuopt::reduceInto(data, n, out, gpuopt::Maximum{}, stream);   // asynchronous, out on the device
///     double norm2 = gpuopt::transformReduce(data, n, Square{});     // a function on the way
///     float product = gpuopt::dot(a, b, n);
///     auto [value, index] = gpuopt::argMin(data, n);
///     float norm = gpuopt::reduce(vector, gpuopt::Maximum{});        // a thrust::device_vector, a std::span, ...
///     gpuopt::reduceRows(matrix, rows, cols, ld, out);               // one result per row
///     gpuopt::reduceColumns(matrix, rows, cols, ld, out);
///     gpuopt::reduceSegments(data, offsets, segments, out);          // of [offsets[s], offsets[s + 1])
///
/// Device functions for your own kernels are in <gpuopt/warp/reduce.cuh> and <gpuopt/block/reduce.cuh>, included here:
/// `warpReduce`, `warpAllReduce`, `blockReduce<BLOCK>`, `blockAllReduce<BLOCK>`.
///
/// **Common to all host functions.** One kernel launch at every n. The input, `in`, is a device pointer, or any
/// random-access iterator that device code can read; arrays of trivially copyable elements are read 16 bytes at a time,
/// wherever they begin. A container or span, anything with data() and size(), replaces `in` and n. The
/// operation is associative and callable on the device. The functions whose names end in `Into`, and those of rows,
/// columns and segments, are asynchronous on `stream`, never synchronise, and can be captured into a graph; those that
/// return a value wait until the kernel has stored it. `stream` is a StreamRef: a cudaStream_t, or anything that CCCL's
/// cuda::get_stream takes. It may follow the input or `out` directly; nullptr is the default stream. With a `workspace`
/// they allocate nothing; without one, memory is allocated on the first call on a stream and kept. Bad arguments throw
/// std::invalid_argument before anything is launched, errors of the runtime CudaError. n = 0 is no error: the result is
/// `init`, or the operation's neutral element (where neither exists: std::invalid_argument).
///
/// **Template arguments** have one order in all of them, `<A, Policy>`. A is the accumulator, to which elements are
/// converted; DefaultAccumulator leaves the choice to AccumulatorFor. Policy is, for arrays, one of these or a type
/// derived from one; rows, columns and segments have a default of their own:
/// - ReducePolicy, the default: the operation is commutative, too. The same bits on every run and device.
/// - ByLength: the same bits also at every alignment of the input.
/// - InOrder: the operation need not be commutative; operands are combined in the order of the input.
///
/// What NaN, signed zero, order and rounding do: docs/reductions.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/device/reduce/launch.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_segments.cuh>
#include <gpuopt/reduce_statistics.cuh>
#include <gpuopt/reduce_transform.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// op over all elements, each converted to the accumulator, and over `init`; returned to the host, which waits for it.
///
///     float largest = gpuopt::reduce(data, n, gpuopt::Maximum{}, 0.0f);
///
/// Cost: one read of the input. Technique: the classical reduction ladder to its end (docs/reductions.md).
///
/// \param in,n the elements: a device pointer or iterator, and their number
/// \param op the operation, Plus unless given
/// \param init combined once, from the left; op's neutral element unless given. In device memory: deviceValue
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = detail::EnableOperation<Op, Init>>
[[nodiscard]] Reduced<A, Op, It> reduce(It in, std::size_t n, Op op, Init init, StreamRef stream = nullptr,
                                        Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::reduce", stream, workspace},
                                      detail::foldOf<Reduced<A, Op, It>>(op, init), n, Identity{}, in);
}

/// op over all elements, each converted to the accumulator; returned to the host, which waits for it.
///
///     float total = gpuopt::reduce(data, n);
///     double precise = gpuopt::reduce<double>(data, n);
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
[[nodiscard]] Reduced<A, Op, It> reduce(It in, std::size_t n, Op op = {}, const Stream& stream = {},
                                        Workspace* workspace = nullptr) {
  return detail::reduceToHost<Policy>({"gpuopt::reduce", StreamRef(stream), workspace},
                                      detail::foldOf<Reduced<A, Op, It>>(op), n, Identity{}, in);
}

/// The sum of all elements, on a stream; returned to the host, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
[[nodiscard]] Reduced<A, Plus, It> reduce(It in, std::size_t n, StreamRef stream, Workspace* workspace = nullptr) {
  return reduce<A, Policy>(in, n, Plus{}, stream, workspace);
}

/// reduce of a container or span, `reduce(v[, op[, init]][, stream[, workspace]])`: anything with data() and size()
/// whose elements the device can read, such as a thrust::device_vector or a std::span.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto reduce(const Range& in, const Rest&... rest)
    -> decltype(reduce<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...)) {
  return reduce<A, Policy>(detail::dataOf(in), detail::sizeOf(in), rest...);
}

/// reduce of the elements from `first` to before `last`, `reduce(first, last[, op[, init]][, stream[, workspace]])`.
/// Unlike std::reduce and Thrust's, the operation comes before init.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Last, class... Rest,
          class = detail::EnableLast<It, Last>>
[[nodiscard]] auto reduce(It first, Last last, const Rest&... rest)
    -> decltype(reduce<A, Policy>(first, static_cast<std::size_t>(last - first), rest...)) {
  return reduce<A, Policy>(first, static_cast<std::size_t>(last - first), rest...);
}

/// op over all elements, each converted to the accumulator, and over `init`; left in device memory at `out`,
/// asynchronously.
///
///     gpuopt::reduceInto(data, n, out, gpuopt::Maximum{}, 0.0f, stream);
///
/// \param out receives the result: a pointer or iterator that the device can write, or a container of at least one
///     element. Floating-point results are rounded to a narrower type of `out`; for a wider type name the accumulator,
///     as in reduceInto<double>
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class Op, class Init,
          class = detail::EnableOperation<Op, Init>>
void reduceInto(It in, std::size_t n, Out&& out, Op op, Init init, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::reduceInto", stream, workspace},
                                 detail::foldOf<Reduced<A, Op, It>>(op, init), out, n, Identity{}, in);
}

/// op over all elements, each converted to the accumulator; left in device memory at `out`, asynchronously.
///
/// \param out receives the result: a pointer or iterator that the device can write, or a container
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class Op = Plus,
          class Stream = std::nullptr_t, class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void reduceInto(It in, std::size_t n, Out&& out, Op op = {}, const Stream& stream = {},
                Workspace* workspace = nullptr) {
  detail::reduceToDevice<Policy>({"gpuopt::reduceInto", StreamRef(stream), workspace},
                                 detail::foldOf<Reduced<A, Op, It>>(op), out, n, Identity{}, in);
}

/// The sum of all elements, left in device memory at `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void reduceInto(It in, std::size_t n, Out&& out, StreamRef stream, Workspace* workspace = nullptr) {
  reduceInto<A, Policy>(in, n, out, Plus{}, stream, workspace);
}

/// reduceInto of a container or span, `reduceInto(v, out[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = detail::EnableRange<const Range>>
void reduceInto(const Range& in, Out&& out, const Rest&... rest) {
  reduceInto<A, Policy>(detail::dataOf(in), detail::sizeOf(in), out, rest...);
}

/// reduceInto of the elements from `first` to before `last`, `reduceInto(first, last, out[, op[, init]][, stream[,
/// workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Last, class Out, class... Rest,
          class = detail::EnableLast<It, Last>>
void reduceInto(It first, Last last, Out&& out, const Rest&... rest) {
  reduceInto<A, Policy>(first, static_cast<std::size_t>(last - first), out, rest...);
}

/// Says in one line which kernel `reduce` or `reduceInto` launches for this input, with its grid, the bytes to read and
/// write, and why. Nothing is launched. Errors are those of the call. The words may change from version to version.
///
///     gpuopt::explainReduce(data, n);     // "loop over tiles, by vectors, 1848 blocks of 512 threads: ..."
///
/// \param in,n the elements: a device pointer or iterator, and their number
/// \param op the operation, Plus unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
[[nodiscard]] std::string explainReduce(It in, std::size_t n, Op op = {}) {
  return detail::explainArray<Policy>("gpuopt::explainReduce", detail::foldOf<Reduced<A, Op, It>>(op), in, n);
}

/// explainReduce of a container or span, `explainReduce(v[, op])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Op,
          class = detail::EnableRange<const Range>>
[[nodiscard]] std::string explainReduce(const Range& in, const Op&... op) {
  return explainReduce<A, Policy>(detail::dataOf(in), detail::sizeOf(in), op...);
}

GPUOPT_OTHER_CALLS(reduce,
                   "(in, n), (first, last), or a container with data() and size(), then op, init, stream and workspace")
GPUOPT_OTHER_CALLS(reduceInto,
                   "(in, n, out), (first, last, out), or a container with data() and size() and out, then op, init, "
                   "stream and workspace")

GPUOPT_NAMESPACE_END
