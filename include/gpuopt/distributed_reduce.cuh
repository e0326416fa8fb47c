/// \file
/// Reductions over the parts of all ranks of a team: reduce, transformReduce, dot.
///
///     float total = gpuopt::distributed::reduce(team, part, n);
///     gpuopt::distributed::reduceInto(team, part, n, out, gpuopt::Maximum{}, stream);
///
/// Each rank passes its own part of the elements, in memory of its device, and every rank gets the result over all
/// parts. The bits are the same on every rank and in every run, since partial results are combined in the order of the
/// ranks. Parts may have different sizes, and be empty. Operation, accumulator, policy, inputs and outputs are those of
/// the functions of the same name in <gpuopt/reduce.cuh>, and have to be the same on all ranks. So does `init`, which
/// is combined once. Arguments of one name mean the same in all functions, and are described once.
///
/// **Cost**: the local reduction, and one small kernel that exchanges the partial results, through peer access without
/// NCCL, otherwise after one ncclAllGather. **Errors**: those of the local functions, before anything is written; the
/// other ranks get a TeamError that names the rank. An operation without a neutral element and without `init` needs at
/// least one element on some rank.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/distributed/reduce.cuh>
#include <gpuopt/distributed_team.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

inline TeamCall teamCall(const char* function, distributed::Team& team, StreamRef stream, Workspace* workspace) {
  return {function, TeamAccess::of(team), stream, workspace};
}

}  // namespace detail

namespace distributed {

/// op over the elements of all ranks, each converted to the accumulator, and over `init`; returned to the host of every
/// rank, which waits for it.
///
/// \param team the ranks
/// \param in,n this rank's elements: a device pointer or iterator, and their number
/// \param op the operation, Plus unless given
/// \param init combined once, from the left; op's neutral element unless given. In device memory: deviceValue
/// \param stream the launches are queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op, class Init,
          class = gpuopt::detail::EnableOperation<Op, Init>>
Reduced<A, Op, It> reduce(Team& team, It in, std::size_t n, Op op, Init init, StreamRef stream = nullptr,
                          Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::reduce", team, stream, workspace),
                                       own::foldOf<Reduced<A, Op, It>>(op, init), n, Identity{}, in);
}

/// op over the elements of all ranks; returned to the host of every rank, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus,
          class Stream = std::nullptr_t, class = gpuopt::detail::EnableOperation<Op>,
          class = gpuopt::detail::EnableStream<Stream>>
Reduced<A, Op, It> reduce(Team& team, It in, std::size_t n, Op op = {}, const Stream& stream = {},
                          Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::reduce", team, stream, workspace),
                                       own::foldOf<Reduced<A, Op, It>>(op), n, Identity{}, in);
}

/// The sum of the elements of all ranks, on a stream; returned to the host of every rank, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
Reduced<A, Plus, It> reduce(Team& team, It in, std::size_t n, StreamRef stream, Workspace* workspace = nullptr) {
  return distributed::reduce<A, Policy>(team, in, n, Plus{}, stream, workspace);
}

/// reduce of a container or span, `reduce(team, v[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = gpuopt::detail::EnableRange<const Range>>
auto reduce(Team& team, const Range& in, const Rest&... rest)
    -> decltype(distributed::reduce<A, Policy>(team, gpuopt::detail::dataOf(in), gpuopt::detail::sizeOf(in), rest...)) {
  return distributed::reduce<A, Policy>(team, gpuopt::detail::dataOf(in), gpuopt::detail::sizeOf(in), rest...);
}

/// Says in one line which kernel reduces this rank's elements in `reduce` and `reduceInto`, and how the ranks exchange
/// their partial results. Nothing is launched, and one rank alone may ask. Errors: those of the arrays. The words may
/// change from version to version.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Op = Plus>
[[nodiscard]] std::string explainReduce(Team& team, It in, std::size_t n, Op op = {}) {
  namespace own = gpuopt::detail;
  return own::explainTeamReduce<Policy>(own::teamCall("gpuopt::distributed::explainReduce", team, nullptr, nullptr),
                                        own::foldOf<Reduced<A, Op, It>>(op), in, n);
}

/// explainReduce of a container or span, `explainReduce(team, v[, op])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Op,
          class = gpuopt::detail::EnableRange<const Range>>
[[nodiscard]] std::string explainReduce(Team& team, const Range& in, const Op&... op) {
  return distributed::explainReduce<A, Policy>(team, gpuopt::detail::dataOf(in), gpuopt::detail::sizeOf(in), op...);
}

/// op over the elements of all ranks, and over `init`; left in device memory of every rank at its `out`,
/// asynchronously.
///
/// \param out receives the result, as for gpuopt::reduceInto
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class Op, class Init,
          class = gpuopt::detail::EnableOperation<Op, Init>>
void reduceInto(Team& team, It in, std::size_t n, Out&& out, Op op, Init init, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::reduceInto", team, stream, workspace),
                                  own::foldOf<Reduced<A, Op, It>>(op, init), out, n, Identity{}, in);
}

/// op over the elements of all ranks; left in device memory of every rank at its `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class Op = Plus,
          class Stream = std::nullptr_t, class = gpuopt::detail::EnableOperation<Op>,
          class = gpuopt::detail::EnableStream<Stream>>
void reduceInto(Team& team, It in, std::size_t n, Out&& out, Op op = {}, const Stream& stream = {},
                Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::reduceInto", team, stream, workspace),
                                  own::foldOf<Reduced<A, Op, It>>(op), out, n, Identity{}, in);
}

/// The sum of the elements of all ranks, left in device memory of every rank at its `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void reduceInto(Team& team, It in, std::size_t n, Out&& out, StreamRef stream, Workspace* workspace = nullptr) {
  distributed::reduceInto<A, Policy>(team, in, n, out, Plus{}, stream, workspace);
}

/// reduceInto of a container or span, `reduceInto(team, v, out[, op[, init]][, stream[, workspace]])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class Out, class... Rest,
          class = gpuopt::detail::EnableRange<const Range>>
void reduceInto(Team& team, const Range& in, Out&& out, const Rest&... rest) {
  distributed::reduceInto<A, Policy>(team, gpuopt::detail::dataOf(in), gpuopt::detail::sizeOf(in), out, rest...);
}

/// op over f(x) for the elements x of all ranks; returned to the host of every rank, which waits for it.
///
/// \param f applied to each element on the device; op takes its results. A __device__ lambda says its return type
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class F, class Op = Plus,
          class Stream = std::nullptr_t, class = gpuopt::detail::EnableOperation<F, Op>,
          class = gpuopt::detail::EnableStream<Stream>>
ReducedBy<A, Op, F, It> transformReduce(Team& team, It in, std::size_t n, F f, Op op = {}, const Stream& stream = {},
                                        Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::transformReduce", team, stream, workspace),
                                       own::foldOf<ReducedBy<A, Op, F, It>>(op), n, own::deviceFunction<A, It>(f), in);
}

/// op over f(x) for the elements x of all ranks; left in device memory of every rank at its `out`, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out, class F, class Op = Plus,
          class Stream = std::nullptr_t, class = gpuopt::detail::EnableOperation<F, Op>,
          class = gpuopt::detail::EnableStream<Stream>>
void transformReduceInto(Team& team, It in, std::size_t n, Out&& out, F f, Op op = {}, const Stream& stream = {},
                         Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::transformReduceInto", team, stream, workspace),
                                  own::foldOf<ReducedBy<A, Op, F, It>>(op), out, n, own::deviceFunction<A, It>(f), in);
}

/// The sum of a[i] * b[i] over the elements of all ranks; returned to the host of every rank, which waits for it.
///
/// \param a,b,n this rank's elements of two inputs, pointers or iterators, and the number of each
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2>
DotResult<A, It1, It2> dot(Team& team, It1 a, It2 b, std::size_t n, StreamRef stream = nullptr,
                           Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::dot", team, stream, workspace),
                                       own::foldOf<DotResult<A, It1, It2>>(Plus{}), n,
                                       own::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

/// The sum of a[i] * b[i] over the elements of all ranks, left in device memory of every rank at its `out`,
/// asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It1, class It2, class Out>
void dotInto(Team& team, It1 a, It2 b, std::size_t n, Out&& out, StreamRef stream = nullptr,
             Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::dotInto", team, stream, workspace),
                                  own::foldOf<DotResult<A, It1, It2>>(Plus{}), out, n,
                                  own::MultiplyAs<DotResult<A, It1, It2>>{}, a, b);
}

}  // namespace distributed
GPUOPT_NAMESPACE_END
