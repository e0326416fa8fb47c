/// \file
/// The columns of a distributed matrix: each rank reduces its rows, then all combine their partial results.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/device/distributed/reduce.cuh>
#include <gpuopt/device/distributed/symmetric.cuh>
#include <gpuopt/device/reduce/columns.cuh>
#include <gpuopt/device/reduce/matrix_input.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The partial results of all ranks, one for each column; this rank's are made before the ranks agree.
template <class Policy, class Reducer, class It, class Out>
std::unique_ptr<ScratchMemory> reduceOwnRows(const TeamCall& call, const Reducer& reducer, It in,
                                             const MatrixShape& matrix, const Out& out) {
  using Partial = typename Reducer::Partial;
  call.team.requireSuccess(call.function);
  requireTeamDevice(call.team, call.function);
  requireMatrix(in, matrix, out, matrix.cols, call.function);
  if (matrix.cols == 0) return nullptr;
  const std::size_t own = matrix.cols * sizeof(Partial);
  auto gathered = std::make_unique<ScratchMemory>(own * static_cast<unsigned>(call.team.size), call.stream);
  launchColumns<Policy>(ReduceCall{call.function, call.stream, call.workspace}, PartialOf<Reducer>{reducer}, in,
                        Identity{}, matrix, reinterpret_cast<Partial*>(gathered->data() + own * call.team.ownRank()));
  return gathered;
}

// Reduces the columns of the rows of all ranks.
template <class Policy, class Reducer, class It, class Out>
void reduceTeamColumns(const TeamCall& call, const Reducer& reducer, It in, const MatrixShape& matrix,
                       const Out& results) {
  using Partial = typename Reducer::Partial;
  const auto out = boxedOutput(results);
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>()) {
    std::unique_ptr<ScratchMemory> gathered;
    try {
      gathered = reduceOwnRows<Policy>(call, reducer, in, matrix, out);
    } catch (...) {
      call.team.leave(call.stream);
      throw;
    }
    call.team.agree(callWord(callWord(call.function, sizeof(Partial)), matrix.cols), call.function);
    if (matrix.cols == 0) return;
    const std::size_t own = matrix.cols * sizeof(Partial);
    call.team.wait.untilQueued(ncclAllGather(gathered->data() + own * call.team.ownRank(), gathered->data(), own,
                                             ncclUint8, call.team.comm, call.stream),
                               "ncclAllGather", call.function);
    const std::size_t blocks = ceilDivide(matrix.cols, combineColumnsThreads);
    launch(combineColumnsKernel<Reducer, std::decay_t<decltype(out)>>,
           gridConfig(combineColumnsThreads, blocks, call.stream, call.function),
           reinterpret_cast<const Partial*>(gathered->data()), matrix.cols, call.team.size, reducer,
           StoredResult<std::decay_t<decltype(out)>>{out, call.team.failed(), call.team.peers.broken});
  }
}

GPUOPT_DETAIL_END
