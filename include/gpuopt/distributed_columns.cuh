/// \file
/// Reductions of the columns of a matrix whose rows are divided among the ranks of a team: reduceColumns.
///
///     gpuopt::distributed::reduceColumns(team, in, ownRows, cols, sums);
///
/// Each rank passes its own rows, and every rank gets the results of all columns. The bits are the same on every rank
/// and in every run, since partial results are combined in the order of the ranks. Ranks may have different numbers of
/// rows, or none. Operation, accumulator, policy and the forms of the matrix and of `out` are those of
/// <gpuopt/reduce_columns.cuh>. They have to be the same on all ranks; so do the number of columns, and `init`, which
/// is combined once.
///
/// **Cost**: the local reduction, an ncclAllGather of a partial result for each column and rank, and a kernel that
/// combines them. Before the ncclAllGather, the ranks' host threads wait for each other, though not for their streams;
/// without peer access they also wait until NCCL has finished its earlier work.
/// **Errors**: those of the local function, before anything is written to `out`; TeamError on the other ranks, at once.
/// Then all further calls of the team throw on all ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/columns.cuh>
#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_team.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// out[c] = op over column c of the rows of all ranks, and over `init`; asynchronous.
///
/// \param team the ranks
/// \param in,rows,cols,ld this rank's rows: a device pointer or iterator, their number, the columns of the matrix, and
/// elements from one row to the next
/// \param out receives the results, one for each column, on every rank
/// \param op the operation, Plus unless given
/// \param init combined once with each result, from the left; op's neutral element unless given
/// \param stream the launches are queued there
/// \param workspace scratch memory; the library's own for this stream unless given
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out, class Op,
          class Init, class = gpuopt::detail::EnableIterators<It, Out>,
          class = gpuopt::detail::EnableOperation<Op, Init>>
void reduceColumns(Team& team, It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op, Init init,
                   StreamRef stream = nullptr, Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamColumns<Policy>(own::teamCall("gpuopt::distributed::reduceColumns", team, stream, workspace),
                                 own::foldOf<Reduced<A, Op, It>>(op, init), in, {rows, cols, ld}, out);
}

/// The same without `init`.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class Op = Plus, class Stream = std::nullptr_t, class = gpuopt::detail::EnableIterators<It, Out>,
          class = gpuopt::detail::EnableOperation<Op>, class = gpuopt::detail::EnableStream<Stream>>
void reduceColumns(Team& team, It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, Op op = {},
                   const Stream& stream = {}, Workspace* workspace = nullptr) {
  namespace own = gpuopt::detail;
  own::reduceTeamColumns<Policy>(
      own::teamCall("gpuopt::distributed::reduceColumns", team, StreamRef(stream), workspace),
      own::foldOf<Reduced<A, Op, It>>(op), in, {rows, cols, ld}, out);
}

/// The sums, on a stream.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class It, class Out,
          class = gpuopt::detail::EnableIterators<It, Out>>
void reduceColumns(Team& team, It in, std::size_t rows, std::size_t cols, std::size_t ld, Out out, StreamRef stream,
                   Workspace* workspace = nullptr) {
  distributed::reduceColumns<A, Policy>(team, in, rows, cols, ld, out, Plus{}, stream, workspace);
}

/// Says in one line which kernel reduces the columns of this rank's rows, and how the ranks exchange their partial
/// results. Nothing is launched, and one rank alone may ask. Errors: those of the matrix. The words may change from
/// version to version. Forms: `distributed::explainReduceColumns(team, in, rows, cols[, ld][, op])`,
/// `distributed::explainReduceColumns(team, view[, op])`.
///
/// \param team the ranks
/// \param in this rank's rows of the matrix in any form
/// \param args the rest of that form, then the operation, Plus unless given
/// \tparam Policy the library's own
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args>
[[nodiscard]] std::string explainReduceColumns(Team& team, const In& in, const Args&... args) {
  namespace own = gpuopt::detail;
  constexpr const char* FUNCTION = "gpuopt::distributed::explainReduceColumns";
  const auto explain = [&team](auto data, const own::MatrixShape& shape, auto op) {
    using Value = Reduced<A, decltype(op), decltype(data)>;
    return own::explainTeamColumns<Policy>(own::teamCall(FUNCTION, team, nullptr, nullptr), own::foldOf<Value>(op),
                                           data, shape);
  };
  return own::explainMatrix<false>(FUNCTION, explain, in, args...);
}

/// The same for the other forms of a matrix, such as a MatrixView, or a pointer without ld.
template <class A = DefaultAccumulator, class Policy = detail::ReduceColumnsPolicy, class In, class... Args,
          class = gpuopt::detail::EnableMatrixForm<In, Args...>>
void reduceColumns(Team& team, In&& in, Args&&... args) {
  namespace own = gpuopt::detail;
  try {
    own::withMatrix<false>(
        "gpuopt::distributed::reduceColumns",
        [&team](const auto&... each) { distributed::reduceColumns<A, Policy>(team, each...); }, in, args...);
  } catch (...) {
    own::TeamAccess::of(team).leave(nullptr);
    throw;
  }
}

}  // namespace distributed
GPUOPT_NAMESPACE_END
