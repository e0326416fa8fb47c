/// \file
/// Reductions of segments: consecutive ranges of an array, given by their offsets.
///
///     gpuopt::reduceSegments(data, offsets, segments, out);   // of [offsets[s], offsets[s + 1])
///
/// **Common to all.** `in` is a device pointer of any element alignment or a random-access iterator, null only if all
/// segments are empty; `offsets` device memory of segments + 1 integers of any type, ascending; `out` device memory, a
/// container there, or a random-access iterator that device code can write, for `segments` results. An empty segment
/// gives `init`, or the neutral element, or where neither exists A{}. No segments: nothing happens. Up to 2^44
/// elements. Asynchronous on `stream`; one launch; uses the Workspace. Throws std::invalid_argument for null pointers.
///
/// **Cost.** One read of elements and offsets, near the speed of a plain sum from 512 floats per segment on, and two
/// thirds of it for short segments of random lengths. A giant segment is no slower: elements and segments are divided
/// evenly among 16384 warps wherever segments begin and end. The order of operations depends on the offsets, the types
/// and the alignment of `in`. Technique: merge-based partition (Merrill and Garland, "Merge-based parallel sparse
/// matrix-vector multiplication", 2016).
///
/// `<A, Policy>`, `stream` and `workspace` are those of all reductions: <gpuopt/reduce.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/matrix_input.cuh>
#include <gpuopt/device/reduce/segments.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

/// out[s] = op over in[i] for offsets[s] <= i < offsets[s + 1], and over `init` where it is given.
///
/// \param in,offsets,segments the elements, where segments begin and end, and the number of segments
/// \param out receives the results, one for each segment. Must not overlap `in` or `offsets`; the length of `in` is
/// unknown, so only `out` equal to `in` is detected
/// \param op the operation, Plus unless given
/// \param init combined once with each result, from the left; op's neutral element unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class Op, class Init, class = detail::EnableIterators<It, Out>, class = detail::EnableOperation<Op, Init>>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, Op op, Init init,
                    StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchSegments<Policy>({"gpuopt::reduceSegments", stream, workspace},
                                 detail::foldOf<Reduced<A, Op, It>>(op, init), in, Identity{}, offsets, segments, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, Op op = {}, const Stream& stream = {},
                    Workspace* workspace = nullptr) {
  detail::launchSegments<Policy>({"gpuopt::reduceSegments", StreamRef(stream), workspace},
                                 detail::foldOf<Reduced<A, Op, It>>(op), in, Identity{}, offsets, segments, out);
}

/// The sums, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class = detail::EnableIterators<It, Out>>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, StreamRef stream,
                    Workspace* workspace = nullptr) {
  reduceSegments<A, Policy>(in, offsets, segments, out, Plus{}, stream, workspace);
}

/// The same with containers for any of `in`, `offsets`, which then also tell the number of segments, and `out`:
/// (in, offsets, out, ...) or (in, offsets, segments, out, ...).
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class In, class Offsets,
          class... Args, class = detail::EnableSegmentForm<In, Offsets, Args...>>
void reduceSegments(const In& in, Offsets&& offsets, Args&&... args) {
  detail::withSegments(
      "gpuopt::reduceSegments", [](const auto&... each) { reduceSegments<A, Policy>(each...); }, in, offsets, args...);
}

/// Says in one line how `reduceSegments` divides these segments, with its grid, the bytes to read and write, and why.
/// Nothing is launched or read. The words may change from version to version.
///
/// \param in,offsets,segments the elements, where segments begin and end, and the number of segments
/// \param op the operation, Plus unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset,
          class Op = Plus>
[[nodiscard]] std::string explainReduceSegments(It in, const Offset* offsets, std::size_t segments, Op op = {}) {
  return detail::explainSegments<Policy>("gpuopt::explainReduceSegments", detail::foldOf<Reduced<A, Op, It>>(op), in,
                                         offsets, segments);
}

/// out[s] = op over f(in[i]) for offsets[s] <= i < offsets[s + 1], and over `init` where it is given.
///
/// \param f applied to each element, on the device; op takes its results
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class F, class Op, class Init, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op, Init>>
void transformReduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, F f, Op op, Init init,
                             StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  detail::launchSegments<Policy>({"gpuopt::transformReduceSegments", stream, workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op, init), in,
                                 detail::deviceFunction<A, It>(f), offsets, segments, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class F, class Op = Plus, class Stream = std::nullptr_t, class = detail::EnableIterators<It, Out>,
          class = detail::EnableOperation<Op>, class = detail::EnableStream<Stream>>
void transformReduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, F f, Op op = {},
                             const Stream& stream = {}, Workspace* workspace = nullptr) {
  detail::launchSegments<Policy>({"gpuopt::transformReduceSegments", StreamRef(stream), workspace},
                                 detail::foldOf<ReducedBy<A, Op, F, It>>(op), in, detail::deviceFunction<A, It>(f),
                                 offsets, segments, out);
}

/// The sums of f of the elements, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class It, class Offset, class Out,
          class F, class = detail::EnableIterators<It, Out>>
void transformReduceSegments(It in, const Offset* offsets, std::size_t segments, Out out, F f, StreamRef stream,
                             Workspace* workspace = nullptr) {
  transformReduceSegments<A, Policy>(in, offsets, segments, out, f, Plus{}, stream, workspace);
}

/// The same with containers for any of `in`, `offsets`, which then also tell the number of segments, and `out`:
/// (in, offsets, out, ...) or (in, offsets, segments, out, ...).
template <class A = DefaultAccumulator, class Policy = detail::ReduceSegmentsPolicy, class In, class Offsets,
          class... Args, class = detail::EnableSegmentForm<In, Offsets, Args...>>
void transformReduceSegments(const In& in, Offsets&& offsets, Args&&... args) {
  detail::withSegments(
      "gpuopt::transformReduceSegments", [](const auto&... each) { transformReduceSegments<A, Policy>(each...); }, in,
      offsets, args...);
}

GPUOPT_NAMESPACE_END
