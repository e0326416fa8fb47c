/// \file
/// Statistics over the parts of all ranks of a team: extremes, also with their index, mean and variance.
///
///     auto [value, index] = gpuopt::distributed::argMin(team, part, n);   // counts from rank 0's first element
///     auto statistics = gpuopt::distributed::meanVariance(team, part, n);
///
/// <gpuopt/distributed_reduce.cuh> says what the calls of a team have in common, <gpuopt/reduce_statistics.cuh> what
/// extremes and moments are, <gpuopt/reduce.cuh> what a `Policy` decides. Arguments of one name mean the same in all
/// functions, and are described once.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/distributed/reduce.cuh>
#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_team.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// The smallest and the largest element of all ranks; returned to the host of every rank, which waits for it.
///
/// \param team the ranks
/// \param in,n this rank's elements: a device pointer or iterator, and their number
/// \param stream the launches are queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
MinMax<gpuopt::detail::Extreme<A, It>> minMax(Team& team, It in, std::size_t n, StreamRef stream = nullptr,
                                              Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::minMax", team, stream, workspace),
                                       own::MinMaxOf<own::Extreme<A, It>>{}, n, Identity{}, in);
}

/// What minMax returns, a MinMax, left in device memory at `out` of every rank, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void minMaxInto(Team& team, It in, std::size_t n, Out&& out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::minMaxInto", team, stream, workspace),
                                  own::MinMaxOf<own::Extreme<A, It>>{}, out, n, Identity{}, in);
}

/// The smallest element of all ranks, and the index of its first occurrence in the sequence of all parts in the order
/// of the ranks; returned to the host of every rank, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
ArgResult<gpuopt::detail::Extreme<A, It>> argMin(Team& team, It in, std::size_t n, StreamRef stream = nullptr,
                                                 Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::argMin", team, stream, workspace),
                                       own::ArgExtreme<own::Extreme<A, It>, Minimum>{n}, n, Identity{}, in);
}

/// What argMin returns, an ArgResult, left in device memory at `out` of every rank, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void argMinInto(Team& team, It in, std::size_t n, Out&& out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::argMinInto", team, stream, workspace),
                                  own::ArgExtreme<own::Extreme<A, It>, Minimum>{n}, out, n, Identity{}, in);
}

/// The largest element of all ranks, and the index of its first occurrence in the sequence of all parts in the order of
/// the ranks; returned to the host of every rank, which waits for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
ArgResult<gpuopt::detail::Extreme<A, It>> argMax(Team& team, It in, std::size_t n, StreamRef stream = nullptr,
                                                 Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::argMax", team, stream, workspace),
                                       own::ArgExtreme<own::Extreme<A, It>, Maximum>{n}, n, Identity{}, in);
}

/// What argMax returns, an ArgResult, left in device memory at `out` of every rank, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void argMaxInto(Team& team, It in, std::size_t n, Out&& out, StreamRef stream = nullptr,
                Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::argMaxInto", team, stream, workspace),
                                  own::ArgExtreme<own::Extreme<A, It>, Maximum>{n}, out, n, Identity{}, in);
}

/// Number, mean and population variance of the elements of all ranks; returned to the host of every rank, which waits
/// for it.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It>
MeanVariance<gpuopt::detail::Moment<A, It>> meanVariance(Team& team, It in, std::size_t n, StreamRef stream = nullptr,
                                                         Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  return own::reduceTeamToHost<Policy>(own::teamCall("gpuopt::distributed::meanVariance", team, stream, workspace),
                                       own::Moments<own::Moment<A, It>>{n}, n, Identity{}, in);
}

/// What meanVariance returns, a MeanVariance, left in device memory at `out` of every rank, asynchronously.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class It, class Out>
void meanVarianceInto(Team& team, It in, std::size_t n, Out&& out, StreamRef stream = nullptr,
                      Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamToDevice<Policy>(own::teamCall("gpuopt::distributed::meanVarianceInto", team, stream, workspace),
                                  own::Moments<own::Moment<A, It>>{n}, out, n, Identity{}, in);
}

}  // namespace distributed
GPUOPT_NAMESPACE_END
